"""`modelsel.doctor`, `init` and `explain`: this machine, a project's files, the manual.

Standard library only until a function is called: building a wheel compiles the kernels by it, where little else is installed.
"""

import json
import os
import platform
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.core.errors import OK, UNTRUSTED_LEDGER, UNWRITABLE, ConfigurationError, ModelselError, Problem
from modelsel.core.system.disk import writing

if TYPE_CHECKING:  # commands start without it
    import pandas as pd

PACKAGES = (
    "modelsel", "hydra-core", "omegaconf", "numpy", "scipy", "numba", "pandas", "pyarrow", "joblib", "scikit-learn",
    "sqlalchemy", "mlflow", "dask", "psycopg",
)  # fmt: skip
Line = tuple[str, str, int]  # what, how it is, the exit code that it asks for
SCHEMAS = ".schema"  # the folder of what editors check files by; a name with a dot is no group
STARTER = {
    "dataset/mine.yaml": """\
# yaml-language-server: $schema=../.schema/dataset.json
# Your data: a CSV file with a header. `dataset=mine` takes this file; `modelsel plan` shows what it makes of the columns.
kind: csv
path: data/mine.csv      # relative to where the command is typed
target: class            # the column to predict
features: {}             # name: numeric | nominal | ordered | ignore; what is not named is inferred, and said
missing: ["", "?"]       # cells that count as missing; NA is a level unless it is listed
""",
    "space/mine.yaml": """\
# yaml-language-server: $schema=../.schema/space.json
# What may be chosen. `space=mine` takes this file. An entry is a learner (a name of conf/learner) and what to vary:
# choice(a, b), range(start, stop), or a YAML list; no limit is written none. A list of mappings is their union.
tree:
  learner: cart
  sweep:
    - {criterion: "choice(gini, entropy)", pruner: unpruned, max_depth: "choice(2, 4, 8, none)"}
    - {pruner: reduced_error, pruner.share: "choice(0.2, 0.3)"}
knn:
  learner: knn
  sweep: {k: "range(1, 22, 2)", vote: "choice(uniform, inverse)"}
naive_bayes:
  learner: naive_bayes
""",
    "experiment/first.yaml": """\
# @package _global_
# yaml-language-server: $schema=../.schema/experiment.json
# A frozen study: `experiment=first` sets all of this at once; what is typed after it still wins.
defaults:
  - override /dataset: mine
  - override /scheme: stratified_kfold
space: mine
scheme:
  folds: 10
split:
  test: 0.3              # sealed until the winner is chosen; the seed of the study does not move it
""",
}


def doctor(warm: bool = False) -> "pd.DataFrame":
    """Look whether versions, stores, ledger and anchors are well.

    It changes nothing but what `warm` asks for.

    Parameters
    ----------
    warm : bool
        Compile the kernels now, so that the first study need not.

    Returns
    -------
    DataFrame
        A row per thing: `what`, `found`, and whether it is `well`.

    Examples
    --------
    >>> modelsel.doctor().columns.tolist()
    ['what', 'found', 'well']
    """
    import pandas as pd

    return pd.DataFrame([(what, found, code == OK) for what, found, code in checks(warm)], columns=["what", "found", "well"])


def checks(warmed: bool = False) -> Iterator[Line]:
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
    from modelsel.record.folder import runs_folder
    from modelsel.record.mlflow.store import embedded_store

    for what, path in (("runs", runs_folder()), ("home", Home.find().folder), ("kernel cache", folder())):
        yield (what, *writable(path))
    sqlite = embedded_store(runs_folder()).sqlite
    there = sqlite is not None and sqlite.exists()
    yield "mlflow", f"{sqlite} ({sqlite.stat().st_size / 1e6:.1f} MB)" if sqlite and there else "no embedded store yet", OK
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        from modelsel.record.redact import without_secrets

        yield "mlflow", f"MLFLOW_TRACKING_URI={without_secrets(uri)} wins over it", OK


def writable(path: Path | None) -> tuple[str, int]:
    """Check whether a file can be made in a folder, or in the nearest one above that exists."""
    if path is None:
        return "nowhere to write: kernels are compiled anew by every process", OK
    try:
        there = next((folder for folder in (path, *path.absolute().parents) if folder.is_dir()), Path("/"))
        with tempfile.TemporaryFile(dir=there):
            return f"{path.absolute()}{'' if there == path else ' (not made yet)'}", OK
    except OSError as error:
        return f"{path.absolute()} cannot be written: {error.strerror}", UNWRITABLE


def outbox() -> Iterator[Line]:
    """Runs that are not in their tracking store yet."""
    from modelsel.record.folder import runs_folder
    from modelsel.record.mlflow.sync import waiting

    for left in waiting(runs_folder()):
        yield "outbox", f"{left.said}; `modelsel sync {left.folder.name}` writes it, and so does the next study", OK


def runs() -> Iterator[Line]:
    """Studies that did not finish."""
    from modelsel.record.folder import OUTCOME, runs_folder

    folders = [journal.parent for journal in runs_folder().glob("*/*/journal") if not journal.parent.parent.is_symlink()]
    stale = [folder for folder in folders if not (folder / OUTCOME).exists()]
    yield "studies", f"{len(folders) - len(stale)} finished, {len(stale)} not", OK
    for folder in stale:
        yield "unfinished", f"{folder}: the same command again uses its cells; remove it when they are not wanted", OK


def ledger() -> Iterator[Line]:
    """The person's ledger and its anchors, as the audit sees them."""
    from modelsel.api.results.audit import integrity
    from modelsel.guard.findings.base import losses
    from modelsel.ledger.home import Home

    forgets = Home.find().short_memory  # as it was before the audit made a home
    try:
        report = integrity()
    except ModelselError as error:
        yield "ledger", str(error), error.exit_code
        return
    found = report.ledger
    lost = sorted({flag.code for flag in report.flags} & set(losses()))
    whole = "the chains hold, but the record is not whole" if lost else "intact"
    state = whole if found.intact else "NOT intact: `modelsel audit` says where"
    yield "ledger", f"{found.url}: {found.entries} entries, {state}", OK if found.intact else UNTRUSTED_LEDGER
    if found.freed_of_labels or found.digests_of_labels:
        freed = f"{found.freed_of_labels} row sets of an earlier version were freed of hashes that depended on labels"
        kept = f"{found.digests_of_labels} entries of that time hold digests of labels: keep it as you keep the labels"
        yield "labels", f"{freed}; {kept}", OK
    yield "signs as", Home.find().signer().public, OK
    yield "remembers since", Home.find().since, OK
    if forgets:
        yield "memory", forgets, OK
    yield "anchors", ", ".join(found.anchors) or "none", OK


def warm() -> Iterator[Line]:
    """Compile every kernel."""
    for name, done in compile_kernels():
        yield "kernel", f"{name}: {'compiled' if done else 'interpreted, which is slow'}", OK


def compile_kernels() -> Iterator[tuple[str, bool]]:
    """Compile every kernel and every criterion's own function; each name is followed by whether it has machine code."""
    import modelsel.kernels
    from modelsel.core.spec import kinds_of, make
    from modelsel.kernels.ahead import compile_ahead
    from modelsel.kernels.compiler import has_own_code, load_compiled, sources

    names = [path.stem for path in filter(has_own_code, sources(Path(modelsel.kernels.__path__[0])))]
    compile_ahead(names, os.cpu_count() or 1)
    for name in names:
        yield name, load_compiled(name) is not None
    if load_compiled("grow") is None:
        return
    for kind in kinds_of("criterion"):
        if "classes" in make("criterion", kind).reads:  # those of numbers are compiled with what grows by them
            yield f"criterion {kind}", _compile_criterion(kind)


def _compile_criterion(kind: str) -> bool:
    """A criterion's goodness and what features compete with, where they have a compiled form."""
    from modelsel.core.spec import make
    from modelsel.kernels import types
    from modelsel.kernels.compiler import function_of

    criterion = make("criterion", kind)
    if criterion.loop is None:
        return False
    function_of(criterion.loop, types.goodness.signature)
    function_of(criterion.worth_loop, types.worth.signature)
    return True


def init(directory: str | Path = "conf") -> Path:
    """Write a starter `conf/` for a project of one's own.

    Files that are there already stay as they are.

    Parameters
    ----------
    directory : str or Path
        The folder to write to.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ConfigurationError
        Where the folder has files of that name.

    Examples
    --------
    >>> modelsel.init("conf_of_mine").name
    'conf_of_mine'
    """
    write_starter(Path(directory))
    return Path(directory)


def write_starter(folder: Path) -> list[Path]:
    """Write the starter, and return its files. Raises ConfigurationError where some are there already."""
    if there := [name for name in STARTER if (folder / name).exists()]:
        raise ConfigurationError(
            Problem("MSEL-253", f"{', '.join(there)} is there already", str(folder), "nothing was written; name another folder")
        )
    with writing(folder):
        for name, text in STARTER.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        _schemas(folder / SCHEMAS)
    return [folder / name for name in STARTER]


def _schemas(folder: Path) -> None:
    """Write a JSON schema per group, by which editors complete and check the files of `conf/`."""
    from modelsel.manual.schemas import of_files

    folder.mkdir(exist_ok=True)
    for name, schema in of_files().items():
        (folder / f"{name}.json").write_text(json.dumps(schema, indent=1) + "\n", "utf-8")


def explain(word: str) -> str:
    """Say what a code, a setting, a group or a name of its files means.

    The same text as `modelsel explain` prints.

    Parameters
    ----------
    word : str
        A code (`MSEL-809`, `G021`), a setting (`learner.k`), a group (`scheme`), or a kind (`softener=hard`).

    Returns
    -------
    str
        Its page, as plain text.

    Raises
    ------
    ConfigurationError
        For an unknown word, with the nearest known one.

    Examples
    --------
    >>> print(explain("softener=hard"))
    softener=hard
      No softening: a row goes whole to one side of a threshold.
      kind: hard
    """
    from modelsel.config.suggest import near
    from modelsel.manual.explain import page, words

    if found := page(word):
        return found
    raise ConfigurationError(Problem("MSEL-258", f"{word!r} is in no page", "modelsel explain", near(word, words())))


def schema(group: str) -> dict[str, object]:
    """The JSON schema of a group's files, or of an output; ConfigurationError for an unknown name."""
    from modelsel.config.suggest import near
    from modelsel.manual import schemas

    known = {**schemas.of_files(), **schemas.of_outputs()}
    if group not in known:
        what, where = f"{group!r} is neither a group nor an output", "`modelsel explain --schema`"
        raise ConfigurationError(Problem("MSEL-251", what, where, near(group, known)))
    return known[group]
