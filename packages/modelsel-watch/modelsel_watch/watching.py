"""`modelsel.watch` and `modelsel.watching`: sealed rows in a script of one's own; and the hook of a virtual environment."""

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelsel.core.errors import ConfigurationError, Problem, RefusedError, StoreError
from modelsel_watch.startup import WATCHING

if TYPE_CHECKING:  # a start of a process loads them when there is something to watch
    from modelsel.core.types import Task
    from modelsel_watch.session import Watch


def watch(X_test: object, y_test: object = None, *, name: str = "test rows", strict: bool = False) -> tuple[Any, Any]:
    """Remember rows as sealed, and give both back unchanged.

    The ledger keeps keyed hashes of the rows, and nothing of a label. What code does with these rows is seen where it is
    watched, in this process or a later one: `with modelsel.watching():`, or `modelsel watch install`. In this process the
    labels are kept in memory, to tell whether it is they that predictions are compared with.

    Parameters
    ----------
    X_test : array-like or str or Path of shape (n_rows, n_features)
        The test rows: a frame of pandas, Polars or Arrow, an array, or a file (CSV, ARFF, Parquet).
    y_test : array-like of shape (n_rows,) or str, optional
        Their labels, which are handed back and nowhere written; of a file the name of the target's column.
    name : str
        How audits call these rows.
    strict : bool
        Whether an outside look at these rows raises before its number is returned, wherever code is watched.

    Returns
    -------
    tuple
        `X_test` and `y_test`, the same objects.

    Raises
    ------
    ConfigurationError
        For what is not a table, or where there are not as many labels as rows.
    LedgerError
        Where the ledger cannot be trusted (exit code 5).
    StoreError
        Where it cannot be written (exit code 6).

    Examples
    --------
    >>> import numpy as np
    >>> X_test, y_test = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
    >>> X_test, y_test = modelsel.watch(X_test, y_test, name="loans")
    >>> with modelsel.watching() as seen:
    ...     pass  # fit on other rows, cross-validate, predict
    >>> seen.looks
    0
    """
    from modelsel.core.spec import make
    from modelsel.core.types import positions, seal
    from modelsel.guard.face import Gate, TestSetDeclaration
    from modelsel.record.folder import PROJECT
    from modelsel_watch.evidence import array_of

    task = _without_labels(X_test, y_test)
    sealing = TestSetDeclaration(
        seal(task), task.take(positions(task)[:0]), make("measure", "error"), name, str(Path(sys.argv[0]).name), f"watch {name}"
    )
    gate = Gate(make("guard", "strict" if strict else "warn"), PROJECT)
    gate.remember(sealing)
    labels = array_of(task.target if isinstance(X_test, str | Path) else y_test)
    if labels is not None:
        WATCHING.labels[gate.subject(sealing).digest] = labels.copy()
    if WATCHING.watch is not None:
        WATCHING.watch.refresh()
    return X_test, y_test


def _without_labels(rows: Any, labels: Any) -> "Task":
    """The rows as a task whose classes are made up."""
    import numpy as np

    from modelsel.dataset.read_table import read_table

    if isinstance(rows, str | Path):
        if not isinstance(labels, str):
            fix = 'name it, as in modelsel.watch("test.csv", "target")'
            raise ConfigurationError(Problem("MSEL-842", "of a file the target's column is needed", "y_test", fix))
        return read_table(rows, labels)
    n = len(rows)
    if labels is not None and len(labels) != n:
        raise ConfigurationError(
            Problem("MSEL-842", f"{len(labels)} labels, and {n} rows", "y_test", "give the labels of these very rows")
        )
    return read_table((rows, np.arange(n) % 2))


@contextmanager
def watching(strict: bool = False) -> Iterator["Watch"]:
    """See what code within the block does with rows that the ledger knows as sealed.

    A metric of scikit-learn on predictions for sealed rows is an outside look: it is put on record before its number is
    returned, `audit` lists it, and nothing at these rows is certified afterwards. Fitting on sealed rows, alone or among
    others, is a finding. A prediction alone is neither.

    Parameters
    ----------
    strict : bool
        Whether an outside look, or a fit on sealed rows, raises instead of warning.

    Yields
    ------
    Watch
        What was seen so far: `looks` (how many outside looks) and `findings`.

    Raises
    ------
    RefusedError
        Where it is strict, at the line that would have returned the number (exit code 4).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X_test, y_test = modelsel.watch(X[::3], y[::3], name="wine")
    >>> with modelsel.watching() as seen:
    ...     model = DecisionTreeClassifier().fit(X[1::3], y[1::3])
    ...     predicted = model.predict(X_test)  # information
    >>> seen.looks
    0
    """
    watch = WATCHING.begin(strict)
    try:
        yield watch
    finally:
        WATCHING.end()


# The hook of a virtual environment: a file that Python reads at the start of each process of it.

NAME = "modelsel_watch.pth"
LINE = (
    "import importlib.util as u; u.find_spec('modelsel_watch') and __import__('modelsel_watch.startup', fromlist=['begin'])"
    ".begin({strict})\n"
)


def _place() -> Path:
    """Where the hook stands; ConfigurationError outside a virtual environment."""
    if sys.prefix == sys.base_prefix:
        fix = "make one (python -m venv .venv) and install modelsel there; or use `with modelsel.watching():`"
        raise RefusedError(
            Problem("MSEL-843", "this Python is not a virtual environment: all programs would be watched", sys.prefix, fix)
        )
    return Path(sysconfig.get_path("purelib")) / NAME


def install(strict: bool = False) -> Path:
    """Watch every process of this virtual environment from its start, workers included."""
    place = _place()
    try:
        place.write_text(LINE.format(strict=strict), "utf-8")
    except OSError as error:
        what, fix = f"cannot be written ({error.strerror})", "make the environment writable"
        raise StoreError(Problem("MSEL-844", what, str(place), fix)) from error
    return place


def uninstall() -> Path | None:
    """Watch no further process; None where none was watched."""
    place = _place()
    if not place.exists():
        return None
    place.unlink()
    return place


def installed_hook() -> Path | None:
    """The hook of this environment, where there is one."""
    place = Path(sysconfig.get_path("purelib")) / NAME
    return place if place.exists() else None
