"""The twins of the commands: `modelsel test RUN` is `modelsel.test(run)`, and so on. What a command prints, its twin returns.

`run` is a folder, `latest`, a study's name, an MLflow run id, or an `Outcome`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from modelsel.api.outcome import Outcome
from modelsel.api.results.comparison import Comparison, compared
from modelsel.api.results.exporting import exported_model
from modelsel.api.run import open_run
from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.record.folder import OUTCOME, ROOT, RunFolder
from modelsel.reporting.text.terminal import progress

LEVELS = ("info", "low", "medium", "high", "critical")


def test(run: Any, category: str = "", text: str = "") -> Outcome:  # noqa: PT028  a command's twin, no test
    """Open the sealed test set of a study that left it closed.

    The look is on record before its score is shown. A look that the guard refuses is no error: `outcome.test.refused` says why.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    category : str
        Why a further look is needed: one of the categories that `docs/guard` lists. Needed under `guard=strict` alone.
    text : str
        The reason in words, kept in the ledger.

    Returns
    -------
    Outcome
        The outcome with its test: score, price and interval.

    Raises
    ------
    ConfigurationError
        Where there is no such run, or it has no sealed rows.
    LedgerError
        Where the ledger cannot be written: then nothing is opened.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it, its test rows still sealed:

    >>> modelsel.test(outcome).test.look
    1
    """
    return _outcome(run).open_test(category, text)


test.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name


@dataclass(frozen=True, eq=False)
class Audit(Mapping[str, Any]):
    """The shape of `modelsel audit --json`, with its tables beside it; printed, it is what the command prints."""

    report: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def __iter__(self) -> Any:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    @property
    def findings(self) -> pd.DataFrame:
        """code, severity, message, do."""
        return pd.DataFrame(list(self["flags"]), columns=["code", "severity", "message", "do"])

    @property
    def looks(self) -> pd.DataFrame:
        """A row per look, with the test set it was at."""
        return pd.DataFrame([{"test_set": one["id"], **look} for one in self["test_sets"] for look in one["looks"]])

    def __str__(self) -> str:
        from modelsel.guard.reporting.page import markdown

        return markdown(self.report)

    def __repr__(self) -> str:
        return f"<Audit: {len(self['test_sets'])} test sets, {len(self['flags'])} findings>"

    def _repr_html_(self) -> str:
        from modelsel.guard.reporting.page import html

        return html(self.report)


def audit(
    run: Any = None, ledger: str = "user", merge: str | None = None, vouch: str | None = None, void: Sequence[str] = ()
) -> Audit:
    """Tell what touched the test rows of a run, what it cost, and whether the ledger is whole.

    Before it looks, other entries can be taken over or judged, as the options of `modelsel audit` do.

    Parameters
    ----------
    run : str, Path or Outcome, optional
        A run's folder, `latest`, a study's name, an MLflow run id, or an outcome; all that the ledger knows, without one.
    ledger : str
        The address of another ledger (a file or PostgreSQL); `user` is the one of the home.
    merge : str, optional
        Another ledger (a file or address) whose entries are taken over first.
    vouch : str, optional
        Another public key that is said to be one's own.
    void : sequence of str
        Places of bad entries that the ledger's owner rules void.

    Returns
    -------
    Audit
        The shape of `modelsel audit --json` as a mapping, with `findings` and `looks` as data frames.

    Raises
    ------
    ConfigurationError
        Where there is no such run or ledger.
    LedgerError
        Where a ledger cannot be read at all.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.audit(outcome)["ledger"]["intact"]
    True
    """
    from modelsel.cli.audit import audited, statement

    return Audit(audited(None if run is None else _place(run), ledger, merge, statement(vouch, void)))


def check(run: Any, fail_on: str = "high") -> Audit:
    """Audit a run for a test suite or a pipeline, and raise where `modelsel audit --fail-on LEVEL` would fail.

    The errors carry the exit code of the command.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    fail_on : str
        The severity from which on it fails: `info`, `low`, `medium`, `high` or `critical`.

    Returns
    -------
    Audit
        What `audit` returns, where nothing is that grave.

    Raises
    ------
    RefusedError
        Names the findings from that severity on (exit code 4).
    LedgerError
        The ledger is not whole (exit code 5).

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.check(outcome, fail_on="critical")["ledger"]["intact"]
    True
    """
    from modelsel.core.errors import LedgerError

    if fail_on not in LEVELS:
        raise ConfigurationError(
            Problem("MSEL-810", f"{fail_on!r} is no severity", "fail_on", f"use one of {', '.join(LEVELS)}")
        )
    found = audit(run)
    grave = [flag for flag in found["flags"] if LEVELS.index(flag["severity"]) >= LEVELS.index(fail_on)]
    problems = [Problem("MSEL-811", f"{one['code']} ({one['severity']}): {one['message']}", "", one["do"]) for one in grave]
    if found["ledger"]["intact"] is False:
        fix = "`modelsel audit` says where"
        raise LedgerError(Problem("MSEL-812", "the ledger is not whole", str(found["ledger"]["url"]), fix), *problems)
    RefusedError.raise_if(problems)
    return found


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
    return _outcome(run).report()


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
    return compared([_place(run) for run in runs], rope)


def predict(
    run: Any, data: Any, explain: bool = False, sets: float | None = None, threshold: float | None = None
) -> pd.DataFrame:  # fmt: skip
    """Predict new rows with a study's final model.

    Columns are found by name; levels that were never seen are treated as the model says.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    data : table, array, str or Path
        New rows: a pandas, Polars or PyArrow table, an array of rows × features, or a file.
    explain : bool
        A column `path` more: the way of each row down the tree.
    sets : float, optional
        A column `set` more: classes that cover this share of rows, in (0, 1); the study must have kept its folds' models.
    threshold : float, optional
        Predict the second of two classes from this score on, in [0, 1], instead of the model's own operating point.

    Returns
    -------
    DataFrame
        A row per row: `prediction`, and `score_<class>` in [0, 1] per class.

    Raises
    ------
    DataError
        Where columns are missing, or values do not fit.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it on `frame`:

    >>> modelsel.predict(outcome, frame).columns.tolist()
    ['prediction', 'score_No', 'score_Yes']
    """
    from modelsel.cli.predict import decided

    outcome = _outcome(run)
    found = _answers(outcome, data, explain, sets)
    if threshold is not None:
        found = decided(found, threshold)
    labels: Sequence[Any] = outcome.classes.tolist()
    frame = pd.DataFrame(found.scores, columns=[f"score_{label}" for label in labels])
    place = dict(zip(outcome.task["classes"], labels, strict=True))
    frame.insert(0, "prediction", [place[name] for name in found.labels])
    return frame.assign(**found.more)


def export(run: Any, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """Write the final model for another system, or the tables of the run.

    What cannot be expressed there is refused, naming the setting.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    to : str
        `onnx`, `sql`, `rules`, `json` or `dot`: the model. `csv` or `parquet`: the tables, a file each.
    path : str or Path, optional
        Where it is written; without it the content is returned. The folder of the tables.
    table : str
        The table that the SQL reads from.

    Returns
    -------
    str, bytes or Path
        The content, or where it was written.

    Raises
    ------
    ConfigurationError
        Where the model has no such form.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.export(outcome, "json")[:1]
    '{'
    """
    return exported_model(_place(run), to, path, table)


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

    runs = [_place(run)] if run is not None else sorted(path.parent for path in ROOT.glob(f"*/*/{OUTCOME}"))
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
    from modelsel.cli.setup.ui import main

    return main(["--port", str(port), "--host", host])


def doctor(warm: bool = False) -> pd.DataFrame:
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
    from modelsel.cli.setup.doctor import lines

    return pd.DataFrame([(what, found, code == 0) for what, found, code in lines(warm)], columns=["what", "found", "well"])


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
    from modelsel.cli.setup.init import started

    started(Path(directory))
    return Path(directory)


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
    from modelsel.cli.setup.explain import explained

    return explained(word)


def completion(shell: str) -> str:
    """Return what a shell has to read for completion.

    The same text as `modelsel completion SHELL` prints.

    Parameters
    ----------
    shell : str
        `bash`, `zsh` or `fish`.

    Returns
    -------
    str
        A script.

    Raises
    ------
    ConfigurationError
        For another shell.

    Examples
    --------
    >>> "modelsel" in modelsel.completion("bash")
    True
    """
    from modelsel.cli.setup.completion import script

    return script(shell)


def _place(run: Any) -> str:
    return str(run.folder if isinstance(run, Outcome) else run)


def _outcome(run: Any) -> Outcome:
    return run if isinstance(run, Outcome) else open_run(run)


def _answers(outcome: Outcome, data: Any, explain: bool, sets: float | None) -> Any:
    """The `Predicted` that the command writes, of a file or of rows in memory."""
    from modelsel.cli.predict import Predicted, in_sets, paths, predicted
    from modelsel.record.refit import ready

    folder = RunFolder.open(outcome.folder)
    if isinstance(data, str | Path):
        return predicted(folder, Path(data), explain, sets)
    table, scores = outcome.model._known(data), outcome.model.predict_proba(data)
    names = dict(zip(outcome.classes.tolist(), outcome.task["classes"], strict=True))
    more = {"path": paths(ready(folder, progress().say), table)} if explain else {}
    if sets is not None:
        more["set"] = in_sets(folder, table, sets)
    words = [names[label] for label in outcome.model.predict(data).tolist()]
    return Predicted(outcome.task["classes"], words, scores.tolist(), {}, more)
