"""`modelsel ui`: MLflow's own pages over the embedded store."""

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
    from modelsel.record.folder import ROOT
    from modelsel.record.mlflow_store import embedded

    store = embedded(ROOT)
    if store.sqlite is None or not store.sqlite.exists():
        raise ConfigurationError(Problem("MSEL-252", "there is no store yet", str(store.sqlite), "`modelsel run` makes one"))
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "ui",
        "--backend-store-uri",
        store.uri,
        "--port",
        str(args.port),
        "--host",
        args.host,
    ]
    print(f"http://{args.host}:{args.port}  (Ctrl-C ends it)", file=sys.stderr)
    try:
        return subprocess.run(command, check=False).returncode  # noqa: S603, it is this interpreter's own MLflow
    except KeyboardInterrupt:
        return INTERRUPTED
