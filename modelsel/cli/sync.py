"""`modelsel sync [RUN]`: what MLflow is missing is written from the record; what is there stays as it is."""

import sys
from collections.abc import Sequence

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel sync`: write to MLflow what it lacks of one run, or of all."""
    parser = Arguments("sync")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP}; default: every run here")
    parser.add_argument(
        "--uri", help="another store than the run's own (its tracking.uri, MLFLOW_TRACKING_URI or runs/mlflow.db)"
    )
    parser.add_argument("--writer", choices=("auto", "bulk", "client"), default="auto")
    args = parser.parse_args(words)
    from modelsel.api.commands.record import sync_each

    count = 0
    for run, done in sync_each(args.run, args.uri, args.writer):
        print(f"{run}: {done.written} candidates written, {done.found} found there ({done.writer}), {done.uri}")
        count += 1
    if not count:
        print("nothing has been run here yet", file=sys.stderr)
    return OK
