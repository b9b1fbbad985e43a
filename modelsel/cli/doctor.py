"""`modelsel doctor`: versions, stores, stale runs, ledger and anchors, permissions; `--warm` compiles the kernels ahead."""

import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK, UNTRUSTED_LEDGER, UNWRITABLE, ModelselError, worst

PACKAGES = (
    "modelsel", "hydra-core", "omegaconf", "numpy", "scipy", "numba", "pandas", "pyarrow", "joblib", "scikit-learn",
    "sqlalchemy", "mlflow", "dask", "psycopg",
)  # fmt: skip
Line = tuple[str, str, int]  # what, how it is, the exit code that it asks for


def main(words: Sequence[str]) -> int:
    """Run `modelsel doctor`: print a line for each check and return the worst exit code."""
    parser = Arguments("doctor")
    parser.add_argument("--warm", action="store_true", help="compile the kernels now, so that no study waits for it")
    args = parser.parse_args(words)
    codes = []
    for what, found, code in lines(args.warm):
        print(f"{'  ' if code == OK else '! '}{what:<14} {found}", flush=True)
        codes.append(code)
    return worst(codes)


def lines(warmed: bool = False) -> Iterator[Line]:
    """Yield the checks in order: what was looked at, what was found, an exit code."""
    return chain(versions(), stores(), outbox(), runs(), ledger(), warm() if warmed else ())


def versions() -> Iterator[Line]:
    """Python, the machine, and every package that an answer may depend on."""
    yield "python", f"{platform.python_version()} on {platform.platform()}, {os.cpu_count()} cores", OK
    for name in PACKAGES:
        try:
            yield name, version(name), OK
        except PackageNotFoundError:
            yield name, "not installed", OK


def stores() -> Iterator[Line]:
    """Folders that are written to."""
    from modelsel.kernels.compiler import folder
    from modelsel.ledger.home import Home
    from modelsel.record.folder import ROOT
    from modelsel.record.mlflow.store import embedded

    for what, path in (("runs", ROOT), ("home", Home.find().folder), ("kernel cache", folder())):
        yield (what, *writable(path))
    sqlite = embedded(ROOT).sqlite
    there = sqlite is not None and sqlite.exists()
    yield "mlflow", f"{sqlite} ({sqlite.stat().st_size / 1e6:.1f} MB)" if sqlite and there else "no embedded store yet", OK
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        from modelsel.cli.errors import clean

        yield "mlflow", f"MLFLOW_TRACKING_URI={clean(uri)} wins over it", OK


def writable(path: Path | None) -> tuple[str, int]:
    """Check whether a file can be made in a folder, or in the nearest one above that exists."""
    if path is None:
        return "nowhere to write: kernels are compiled anew by every process", OK
    there = next((folder for folder in (path, *path.absolute().parents) if folder.is_dir()), Path("/"))
    try:
        with tempfile.TemporaryFile(dir=there):
            return f"{path.absolute()}{'' if there == path else ' (not made yet)'}", OK
    except OSError as error:
        return f"{path.absolute()} cannot be written: {error.strerror}", UNWRITABLE


def outbox() -> Iterator[Line]:
    """Runs that are not in their tracking store yet."""
    from modelsel.record.folder import ROOT
    from modelsel.record.mlflow.pending import waiting

    for left in waiting(ROOT):
        yield "outbox", f"{left.said}; `modelsel sync {left.folder.name}` writes it, and so does the next study", OK


def runs() -> Iterator[Line]:
    """Studies that did not finish."""
    from modelsel.record.folder import OUTCOME, ROOT

    folders = [journal.parent for journal in ROOT.glob("*/*/journal") if not journal.parent.parent.is_symlink()]
    stale = [folder for folder in folders if not (folder / OUTCOME).exists()]
    yield "studies", f"{len(folders) - len(stale)} finished, {len(stale)} not", OK
    for folder in stale:
        yield "unfinished", f"{folder}: the same command again uses its cells; remove it when they are not wanted", OK


def ledger() -> Iterator[Line]:
    """The person's ledger and its anchors, as the audit sees them."""
    from modelsel.cli.audit import audited
    from modelsel.guard.findings.catalogue import losses
    from modelsel.ledger.home import Home

    try:
        report = audited(None)
    except ModelselError as error:
        yield "ledger", str(error), error.exit_code
        return
    found = report["ledger"]
    lost = sorted({flag["code"] for flag in report["flags"]} & set(losses()))
    whole = "the chains hold, but the record is not whole" if lost else "intact"
    state = whole if found["intact"] else "NOT intact: `modelsel audit` says where"
    yield "ledger", f"{found['url']}: {found['entries']} entries, {state}", OK if found["intact"] else UNTRUSTED_LEDGER
    if found.get("freed_of_labels") or found.get("digests_of_labels"):
        freed = f"{found['freed_of_labels']} row sets of an earlier version were freed of hashes that depended on labels"
        kept = f"{found['digests_of_labels']} entries of that time hold digests of labels: keep it as you keep the labels"
        yield "labels", f"{freed}; {kept}", OK
    yield "signs as", Home.find().signer().public, OK
    yield "anchors", ", ".join(found.get("anchors", ())) or "none", OK


def warm() -> Iterator[Line]:
    """Compile every kernel."""
    from modelsel.cli.compile_kernels import compiled

    for name, done in compiled():
        yield "kernel", f"{name}: {'compiled' if done else 'its slower twin is used'}", OK
