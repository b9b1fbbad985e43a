"""`modelsel ui`: MLflow's own pages over the embedded store."""

from collections.abc import Sequence

from modelsel.cli.arguments import Arguments


def main(words: Sequence[str]) -> int:
    """Run `modelsel ui`: serve MLflow's pages until it is interrupted."""
    parser = Arguments("ui")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--host", default="127.0.0.1", help="127.0.0.1: this machine alone")
    args = parser.parse_args(words)
    from modelsel.api.commands.ui import ui

    return ui(args.port, args.host)
