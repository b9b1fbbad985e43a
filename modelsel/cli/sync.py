"""`modelsel sync [RUN]`: what MLflow is missing is written from the record; what is there stays as it is."""

import sys
from collections.abc import Sequence

from modelsel.cli._arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    parser = Arguments("sync")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP}; default: every run here")
    parser.add_argument("--uri", help="another store than the embedded one (default: MLFLOW_TRACKING_URI, else runs/mlflow.db)")
    parser.add_argument("--writer", choices=("auto", "bulk", "client"), default="auto")
    args = parser.parse_args(words)
    from modelsel.config.settings import Tracking
    from modelsel.record.folder import OUTCOME, ROOT, RunFolder
    from modelsel.record.mlflow_store import locate
    from modelsel.record.sync import sync

    runs = [args.run] if args.run else sorted(path.parent for path in ROOT.glob(f"*/*/{OUTCOME}"))
    store = locate(Tracking("sqlite", uri=args.uri), ROOT)
    assert store is not None, "tracking is not off here"
    for run in runs:
        done = sync(RunFolder.open(run), store, args.writer)
        print(f"{run}: {done.written} candidates written, {done.found} found there ({done.writer}), {done.uri}")
    if not runs:
        print("nothing has been run here yet", file=sys.stderr)
    return OK
