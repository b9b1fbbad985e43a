"""Data frames made from the files of a run's folder."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.api.results.specification import value
from modelsel.core.types import Integers
from modelsel.record.candidates import OPTIONAL_PARTS, Row, varied_parameters
from modelsel.record.folder import RunFolder
from modelsel.record.tables import TABLES
from modelsel.record.tables import tables as table_rows

DTYPES = {"text": "string", "whole": "Int64", "number": "Float64", "truth": "boolean"}
FIXED = ("rank", "id", "entry", "learner")


def leaderboard(folder: RunFolder) -> pd.DataFrame:
    """A row per candidate, best first, those without a valid score last.

    Columns: rank, id, entry, learner, one per parameter that tells candidates of an entry apart, mean, se, `difference_se`
    (standard error of the mean less the winner's), the other measures (NaN where they were not computed), `fold_00` ...,
    complexity, unit, status, `tied` (cannot be told from the winner; the winner itself counts).
    """
    outcome, rows = folder.outcome(), folder.candidates()
    tied = {outcome.winner["id"], *outcome.winner.get("indistinguishable", ())}
    telling = varied_parameters(rows)
    names = list(dict.fromkeys(name for row in rows for name in telling[row.id]))
    lines = [_line(row, telling[row.id], names, row.id in tied) for row in sorted(rows, key=_order)]
    frame = pd.DataFrame(lines)
    return frame.astype({"rank": "Int64"})


def folds(folder: RunFolder) -> pd.DataFrame:
    """Tidy: a row per candidate and fold with its score; `repeat` and the rows of either side beside it."""
    facts = folder.details()["folds"]
    return pd.DataFrame([
        {"id": row.id, "learner": row.learner, "fold": fold, "repeat": facts["repeat"][fold],
         "analysis": facts["analysis"][fold], "assessment": facts["assessment"][fold], "score": score}
        for row in sorted(folder.candidates(), key=_order) for fold, score in enumerate(row.folds)
    ])  # fmt: skip


def predictions(folder: RunFolder, labels: NDArray[np.generic], candidate: str | None = None) -> pd.DataFrame:
    """Out of fold, of the winner (or of another candidate whose predictions are kept): row, truth, predicted, scores.

    `row` counts the rows of the source from 0; rows that no fold assessed are left out. Raises KeyError for a candidate whose
    predictions are not on record.
    """
    found = folder.assessed()
    wanted = folder.outcome().winner["id"] if candidate is None else candidate
    if wanted not in found.ids:
        raise KeyError(f"predictions are kept of {', '.join(found.ids)}; candidate(id).fit() gives the others' estimators")
    at = found.ids.index(wanted)
    known = found.known(at)
    truth, said = found.truth[known], found.predicted[at][known]
    frame = pd.DataFrame({
        "row": _source_rows(folder)[known], "fold": folder.fold()[known, 0],
        "truth": truth if found.numbers else labels[truth], "predicted": said if found.numbers else labels[said],
    })  # fmt: skip
    if found.scores is not None:
        for index, label in enumerate(labels.tolist()):
            frame[f"score_{label}"] = found.scores[at][known][:, index]
    return frame


def losses(folder: RunFolder) -> pd.DataFrame:
    """Development rows (by their number in the source) × candidates; no columns where the measure is no mean over rows."""
    kept = folder.losses()
    matrix = np.empty((len(kept.row), 0), np.float32) if kept.matrix is None else np.asarray(kept.matrix)
    columns = list(kept.ids) if kept.matrix is not None else []
    return pd.DataFrame(matrix, index=pd.Index(kept.row, name="row"), columns=columns)


def tables(folder: RunFolder) -> dict[str, pd.DataFrame]:
    """Every tidy table of the run by name, with the types that `modelsel.record.tables` declares."""
    return {
        name: pd.DataFrame({
            column: pd.array(values, dtype=DTYPES[TABLES[name].columns[column].type])  # type: ignore[call-overload]
            for column, values in made.items()
        })
        for name, made in table_rows(folder).items()
    }  # fmt: skip


def _source_rows(folder: RunFolder) -> Integers:
    rows: Integers = folder.losses().row
    return rows


def _parameter_value(name: str, text: str) -> object:
    """`none` is no value, but of a part it is a name."""
    return text if name in OPTIONAL_PARTS else value(text)


def _order(row: Row) -> tuple[bool, int]:
    return row.rank == 0, row.rank


def _line(row: Row, telling: dict[str, str], names: list[str], tied: bool) -> dict[str, object]:
    """Make a candidate's row of the leaderboard."""
    return {
        "rank": row.rank or None, "id": row.id, "entry": row.label, "learner": row.learner,
        **{name: _parameter_value(name, telling[name]) if name in telling else None for name in names},
        "mean": row.mean, "se": row.se, "difference_se": row.difference_se, **row.measures,
        **{f"fold_{i:02d}": score for i, score in enumerate(row.folds)},
        "complexity": row.complexity, "unit": row.unit, "status": row.status, "tied": tied,
    }  # fmt: skip
