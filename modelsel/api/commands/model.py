"""`modelsel.predict` and `export`: the final model on new rows and in other systems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from modelsel.api.commands.runs import outcome_of, place
from modelsel.api.outcome import Outcome
from modelsel.api.results.exporting import exported_model
from modelsel.record.folder import RunFolder
from modelsel.reporting.text.terminal import progress


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

    outcome = outcome_of(run)
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
    return exported_model(place(run), to, path, table)


def _answers(outcome: Outcome, data: Any, explain: bool, sets: float | None) -> Any:
    """The `Predicted` that the command writes, of a file or of rows in memory."""
    from modelsel.cli.predict import Predicted, in_sets, paths, predicted
    from modelsel.record.refit import ready

    folder = RunFolder.open(outcome.folder)
    if isinstance(data, str | Path):
        return predicted(folder, Path(data), explain, sets)
    table, scores = (known := outcome.model._known(data)), outcome.model.final_.scores(known)
    names = dict(zip(outcome.classes.tolist(), outcome.task["classes"], strict=True))
    more = {"path": paths(ready(folder, progress().say), table)} if explain else {}
    if sets is not None:
        more["set"] = in_sets(folder, table, sets)
    words = [names[label] for label in outcome.model.predict(data).tolist()]
    return Predicted(outcome.task["classes"], words, scores.tolist(), {}, more)
