"""`modelsel ui`: MLflow's own pages over the embedded store."""

import os
import subprocess
import sys
from collections.abc import Sequence

from modelsel.cli._arguments import Arguments
from modelsel.core.errors import INTERRUPTED, ConfigurationError, Problem


def main(words: Sequence[str]) -> int:
    parser = Arguments("ui")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--host", default="127.0.0.1", help="127.0.0.1: this machine alone")
    args = parser.parse_args(words)
    from modelsel.record import mlflow_store
    from modelsel.record.folder import ROOT

    store = mlflow_store.embedded(ROOT)
    if store.sqlite is None or not store.sqlite.exists():
        raise ConfigurationError(Problem("MSEL-252", "there is no store yet", str(store.sqlite), "`modelsel run` makes one"))
    options = {"--backend-store-uri": store.uri, "--host": args.host, "--port": str(args.port)}
    command = [sys.executable, "-m", "mlflow", "ui", *(word for option in options.items() for word in option)]
    print(f"http://{args.host}:{args.port}  (Ctrl-C ends it)", file=sys.stderr)
    try:
        return subprocess.run(command, env={**os.environ, **mlflow_store.QUIET}, check=False).returncode  # noqa: S603, our own MLflow
    except KeyboardInterrupt:
        return INTERRUPTED
