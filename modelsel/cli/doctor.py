"""`modelsel doctor`: versions, stores, stale runs, ledger and anchors, permissions; `--warm` compiles the kernels ahead."""

from collections.abc import Sequence

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK, worst


def main(words: Sequence[str]) -> int:
    """Run `modelsel doctor`: print a line for each check and return the worst exit code."""
    parser = Arguments("doctor")
    parser.add_argument("--warm", action="store_true", help="compile the kernels now, so that no study waits for it")
    args = parser.parse_args(words)
    from modelsel.api.commands.setup import checks

    codes = []
    for what, found, code in checks(args.warm):
        print(f"{'  ' if code == OK else '! '}{what:<14} {found}", flush=True)
        codes.append(code)
    return worst(codes)
