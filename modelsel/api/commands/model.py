"""`modelsel.predict` and `export`: the final model on new rows and in other systems."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelsel.api.commands.runs import outcome_of, place
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Table, positions
from modelsel.record.folder import RunFolder
from modelsel.reporting.terminal import Lines, progress

if TYPE_CHECKING:  # commands start without them
    import pandas as pd

    from modelsel.api.outcome import Outcome

INHERITED = (
    "delimiter",
    "decimal",
    "encoding",
    "missing",
    "thousands",
    "header",
    "skip_lines",
)  # a new file is read as the study's own was


@dataclass(frozen=True)
class Beside:
    """Answers asked for beside predictions: paths down a tree, classes or an interval that cover a share, quantiles."""

    explain: bool = False
    sets: float | None = None
    interval: float | None = None
    quantiles: tuple[float, ...] = ()


NOTHING = Beside()


def predict(
    run: object, data: object, explain: bool = False, sets: float | None = None, threshold: float | None = None,
    interval: float | None = None, quantiles: Sequence[float] = (),
) -> "pd.DataFrame":  # fmt: skip
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
    interval : float, optional
        Of numbers, columns `low` and `high` more: intervals that cover this share of rows, in (0, 1); the study must have kept
        its folds' models (`explanations.sets=true`).
    quantiles : sequence of float
        Of a forest of numbers that keeps its rows (`leaf.statistic=median` or `quantile`), a column more for each of these
        quantiles, in (0, 1).

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
    import pandas as pd

    outcome = outcome_of(run)
    found = _predictions(outcome, data, Beside(explain, sets, interval, tuple(quantiles)))
    if threshold is not None:
        found = at_threshold(found, threshold)
    labels: Sequence[object] = list(outcome.classes)
    if not found.classes:
        return pd.DataFrame({"prediction": found.labels, **found.more})
    frame = pd.DataFrame(found.scores, columns=[f"score_{label}" for label in labels])
    place: dict[object, object] = dict(zip(outcome.task.classes, labels, strict=True))
    frame.insert(0, "prediction", [place[name] for name in found.labels])
    return frame.assign(**found.more)


def export(run: object, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
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
    from modelsel.api.results.exporting import export_model

    return export_model(place(run), to, path, table)


def _predictions(outcome: "Outcome", data: object, beside: Beside) -> "Predictions":
    """Predict the rows of a file, or rows in memory."""
    from modelsel.record.refit import ready

    folder = RunFolder.open(outcome.folder)
    if isinstance(data, str | Path):
        return predict_file(folder, Path(data), beside)
    if not outcome.classes.size:
        table = outcome.model._table_of(data)
        columns = _ends(folder, table, beside.interval)
        if beside.quantiles:
            columns |= forest_quantiles(ready(folder, progress().say), table, beside.quantiles)
        return _of_numbers(outcome.model.predict(data), {}, beside, columns)
    _refuse_what_numbers_have(beside)
    table, scores = (known := outcome.model._table_of(data)), outcome.model.final_.scores(known)
    names = dict(zip(outcome.classes, outcome.task.classes, strict=True))
    more = {"path": tree_paths(ready(folder, progress().say), table)} if beside.explain else {}
    if beside.sets is not None:
        more["set"] = prediction_sets(folder, table, beside.sets)
    words = [names[label] for label in outcome.model.predict(data)]
    return Predictions(outcome.task.classes, words, scores.tolist(), {}, more)


@dataclass(frozen=True)
class Predictions:
    """A label and class scores (in the order of `classes`) per row of a file."""

    classes: Sequence[str]
    labels: Sequence[object]  # classes by name, or numbers
    scores: Sequence[Sequence[float]]
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what identifies the rows, where the file has it
    more: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # columns asked for, by name


def predict_file(folder: RunFolder, path: Path, beside: Beside = NOTHING) -> Predictions:
    """Predictions of a run's final model for the rows of a file; what is noticed about them is said on stderr."""
    from modelsel.dataset.base import as_names
    from modelsel.dataset.read_table import holds_parquet, read_like
    from modelsel.record.refit import ask_model, ready

    if not path.is_file() and not holds_parquet(path):
        raise ConfigurationError(
            Problem("MSEL-254", f"there is no file {str(path)!r}", "FILE", "give a CSV, ARFF or Parquet file")
        )
    say = Lines(sys.stderr).say
    predictor = ready(folder, say)
    dataset = folder.config()["dataset"]
    rows = read_like(path, predictor.read_as, ids=as_names(dataset.get("id")), **inherited_settings(path, dataset))
    for finding in rows.findings:
        say(f"{finding.code}: {finding.message}; {finding.do}")
    _remember(folder, rows.table)
    if not predictor.classes:
        said = ask_model(folder, predictor, rows.table, scores=False)
        quantiles = forest_quantiles(predictor, rows.table, beside.quantiles) if beside.quantiles else {}
        return _of_numbers(said.predicted[0], rows.ids, beside, _ends(folder, rows.table, beside.interval) | quantiles)
    _refuse_what_numbers_have(beside)
    more = {"path": tree_paths(predictor, rows.table)} if beside.explain else {}
    if beside.sets is not None:
        more["set"] = prediction_sets(folder, rows.table, beside.sets)
    said = ask_model(folder, predictor, rows.table, scores=True)
    assert said.scores is not None, "they were asked for"
    labels = [predictor.classes[place] for place in said.predicted[0].tolist()]
    return Predictions(predictor.classes, labels, said.scores[0].tolist(), rows.ids, more)


def _of_numbers(
    said: Any, ids: Mapping[str, Sequence[str]], beside: Beside, more: Mapping[str, Sequence[object]]
) -> Predictions:
    """Predicted numbers; ConfigurationError for what is told of classes alone."""
    if beside.explain or beside.sets is not None:
        what = "paths and prediction sets are those of classes, and this model predicts numbers"
        fix = "leave it out" if beside.explain else "take --interval"
        raise ConfigurationError(Problem("MSEL-293", what, "--explain" if beside.explain else "--sets", fix))
    return Predictions((), said.tolist(), [[] for _ in said], ids, more)


def _refuse_what_numbers_have(beside: Beside) -> None:
    """Raise ConfigurationError where intervals or quantiles are asked of a model of classes."""
    if beside.interval is not None or beside.quantiles:
        what = "intervals and quantiles are those of numbers, and this model predicts classes"
        raise ConfigurationError(Problem("MSEL-293", what, "--quantiles" if beside.quantiles else "--interval", "take --sets"))


def _ends(folder: RunFolder, table: Table, interval: float | None) -> dict[str, list[float]]:
    """Ends of the intervals of rows, where they are asked for; what they promise is said on stderr."""
    if interval is None:
        return {}
    from modelsel.explanation.prediction_sets import intervals_of, is_nested, kept_folds, words

    kept = kept_folds(folder)
    low, high = intervals_of(kept, table, interval)
    Lines(sys.stderr).say(words(kept, interval, is_nested(folder)))
    return {"low": low.tolist(), "high": high.tolist()}


def _remember(folder: RunFolder, table: Table) -> None:
    """Put it on record that these rows were predicted; what is noticed about that is said on stderr."""
    from modelsel.config.build import reopen
    from modelsel.guard.gate import Gate

    config = folder.config()
    gate = Gate(reopen(config, "guard").guard, folder.project(config))
    gate.record_prediction(table, str(folder.path))
    for finding in gate.findings:
        Lines(sys.stderr).say(f"{finding.code}: {finding.message}; {finding.do}")


def at_threshold(found: Predictions, threshold: float) -> Predictions:
    """Labels by another threshold of the second class's score. Raises ConfigurationError for one that cannot be."""
    ranks = any(not 0 <= score <= 1 for scores in found.scores for score in scores)  # decision values, no probabilities
    if len(found.classes) != 2 or not (ranks or 0 <= threshold <= 1):
        what = f"a threshold of {threshold:g} for {len(found.classes)} classes"
        raise ConfigurationError(Problem("MSEL-264", what, "--threshold", "it is between 0 and 1, and for two classes"))
    first, second = found.classes
    return replace(found, labels=[second if scores[1] >= threshold else first for scores in found.scores])


def prediction_sets(folder: RunFolder, table: Table, share: float) -> list[str]:
    """The prediction set of each row: its classes, joined by a bar; what they promise is said on stderr."""
    from modelsel.explanation.prediction_sets import is_nested, kept_folds, promise, sets_of

    kept = kept_folds(folder)
    inside = sets_of(kept, table, share)
    Lines(sys.stderr).say(promise(kept, share, is_nested(folder)))
    return ["|".join(name for name, held in zip(kept[0][0].classes, row) if held) for row in inside.tolist()]


def tree_paths(predictor: Any, table: Table) -> list[str]:
    """The path of each row down the model's tree, in words. Raises ConfigurationError for another model."""
    told = getattr(predictor.model, "paths", None)
    if told is None:
        fix = "the report's importance and dependence (explanations.importance=true) tell of any model"
        raise ConfigurationError(Problem("MSEL-259", "rows have paths in a tree, and the model is not one", "--explain", fix))
    return list(told(predictor.prepared(table)))


def forest_quantiles(predictor: Any, table: Any, asked: Sequence[float]) -> dict[str, list[float]]:
    """A column per quantile, of a forest that keeps its rows. Raises ConfigurationError for another model."""
    from modelsel.explanation.prediction_sets import check_coverage

    for q in asked:
        check_coverage(q, "--quantiles")
    told = getattr(predictor.model, "quantiles", None)
    if told is None:
        what = "quantiles need a forest of numbers that keeps its rows, and the model is not one"
        fix = "run the study with learner.leaf.statistic=median (or quantile) of a forest, without target.transform"
        raise ConfigurationError(Problem("MSEL-293", what, "--quantiles", fix))
    prepared = predictor.prepared(table)
    found = told(prepared, positions(prepared), asked)
    return {f"q{q:g}": own.tolist() for q, own in zip(asked, found.T, strict=True)}


def inherited_settings(path: Path, dataset: Mapping[str, object]) -> dict[str, object]:
    """Settings of the study's own file that hold for a new one of the same format.

    >>> inherited_settings(Path("new.csv"), {"kind": "csv", "delimiter": ";", "target": "y"})
    {'delimiter': ';'}
    """
    if Path(str(dataset.get("path"))).suffix.lower() != path.suffix.lower() and dataset.get("kind") != path.suffix[1:].lower():
        return {}
    return {name: dataset[name] for name in INHERITED if name in dataset}
