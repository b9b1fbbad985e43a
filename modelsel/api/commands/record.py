"""`modelsel.report`, `compare`, `sync` and `ui`: what is on record, shown, compared and handed on."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modelsel.api.commands.runs import outcome_of, place
from modelsel.api.results.comparison import Comparison, compared
from modelsel.record.folder import OUTCOME, ROOT, RunFolder


def report(run: Any = "latest") -> Path:
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


def compare(runs: Iterable[Any], rope: float = 0.01) -> Comparison:
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
    return compared([place(run) for run in runs], rope)


def sync(run: Any = None, uri: str | None = None, writer: str = "auto") -> list[Any]:
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
    from modelsel.record.mlflow.sync import store_of
    from modelsel.record.mlflow.sync import sync as synced

    runs = [place(run)] if run is not None else sorted(path.parent for path in ROOT.glob(f"*/*/{OUTCOME}"))
    folders = [RunFolder.open(one) for one in runs]
    return [synced(folder, store_of(folder, uri), writer) for folder in folders]


def ui(port: int = 5000, host: str = "127.0.0.1") -> int:
    """Serve MLflow's pages over the embedded store until interrupted.

    It is MLflow's own server.

    Parameters
    ----------
    port : int
        The port it listens to.
    host : str
        The address it listens to; only this machine unless said.

    Returns
    -------
    int
        The exit code of the server.

    Examples
    --------
    >>> modelsel.ui(port=5001)  # doctest: +SKIP
    0
    """
    from modelsel.cli.ui import main

    return main(["--port", str(port), "--host", host])
