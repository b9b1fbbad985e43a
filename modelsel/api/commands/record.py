"""`modelsel.report`, `dossier`, `compare` and `sync`: what is on record, shown, compared and handed on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.api.commands.runs import outcome_of, place
from modelsel.api.results.comparison import Comparison, compare_runs
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.folder import OUTCOME, RunFolder, runs_folder

if TYPE_CHECKING:  # what it needs is imported when it is written
    from modelsel.record.mlflow.sync import Synced
    from modelsel.reporting.dossier import Dossier


def report(run: object = "latest") -> Path:
    """Write report.html again from the record.

    Nothing is fitted and no test row is opened.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.

    Returns
    -------
    Path
        Where it lies.

    Raises
    ------
    ConfigurationError
        Where there is no such run.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.report(outcome).name
    'report.html'
    """
    return outcome_of(run).report()


def dossier(run: object = "latest", checklist: str = "reforms") -> "Dossier":
    """Fill a reporting checklist from the record.

    What the record does not say is left to the author; nothing is fitted and no test row is opened.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    checklist : str
        `reforms`, `tripod-ai` or `model-card`.

    Returns
    -------
    Dossier
        Its `items`, and `markdown()` and `html()`.

    Raises
    ------
    ConfigurationError
        Where there is no such run or checklist.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> made = modelsel.dossier(outcome, "reforms")
    >>> len(made.items), made.items[10].number, made.items[10].state
    (32, '3c', 'ask the author')
    """
    from modelsel.reporting.checklists import CHECKLISTS
    from modelsel.reporting.dossier import dossier as filled

    if checklist not in CHECKLISTS:
        fix = f"use one of {', '.join(CHECKLISTS)}"
        raise ConfigurationError(Problem("MSEL-823", f"{checklist!r} is not a checklist", "--as", fix))
    return filled(RunFolder.open(place(run)), CHECKLISTS[checklist])


def compare(runs: Iterable[object], rope: float = 0.01) -> Comparison:
    """Compare learners on the same folds, or over several data sets.

    Runs on one data set are compared by corrected resampled tests, runs on several by ranks and by the signed-rank test.

    Parameters
    ----------
    runs : iterable of str, Path or Outcome
        Two or more runs.
    rope : float
        The difference in score up to which two learners are practically equal, in units of the measure.

    Returns
    -------
    Comparison
        Tables, a verdict and a critical-difference diagram.

    Raises
    ------
    ConfigurationError
        Where a run does not exist, or the runs were judged by different measures or folds.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> type(modelsel.compare([outcome])).__name__
    'Comparison'
    """
    return compare_runs([place(run) for run in runs], rope)


def sync(run: object = None, uri: str | None = None, writer: str = "auto") -> list[object]:
    """Write what MLflow is missing of a run, or of every run under `runs/`.

    What is there already is not written twice.

    Parameters
    ----------
    run : str, Path or Outcome, optional
        One run; all of them without it.
    uri : str, optional
        The address of MLflow's store; the one of the study without it.
    writer : str
        Who writes: `auto`, or one of those that `conf/tracking` lists.

    Returns
    -------
    list
        Per run what was written, and what was there.

    Raises
    ------
    TrackingError
        Where the store cannot be reached.

    Examples
    --------
    >>> modelsel.sync("latest")  # doctest: +SKIP
    """
    return [done for _, done in sync_each(None if run is None else place(run), uri, writer)]


def sync_each(run: str | None, uri: str | None = None, writer: str = "auto") -> Iterator[tuple[str, "Synced"]]:
    """Yield each run whose record was written to MLflow, and what was written."""
    from modelsel.record.mlflow.sync import store_of
    from modelsel.record.mlflow.sync import sync as write

    runs = [run] if run is not None else sorted(str(path.parent) for path in runs_folder().glob(f"*/*/{OUTCOME}"))
    for one in runs:
        folder = RunFolder.open(one)
        yield one, write(folder, store_of(folder, uri), writer)
