"""The candidates of a recorded study: their tables, and each of them built again from its text in candidates.csv."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.api.results.model import StudyClassifier
from modelsel.config.build import BuildContext, LearnerAndSteps, build, reopen
from modelsel.config.merge import nest
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Candidate, Integers, TaskKind
from modelsel.record.candidates import OPTIONAL_PARTS, Row, varied_parameters
from modelsel.record.folder import RunFolder
from modelsel.record.tables import TABLES, fold_lines
from modelsel.record.tables import tables as table_rows

# A candidate built again; its id says whether it was read back right.


WORDS = {"none": None, "true": True, "false": False}


def candidate(row: Row, folder: RunFolder) -> Candidate:
    """A candidate of a run; ConfigurationError where what is built is not what was recorded (another version, a plugin)."""
    plugins = tuple(folder.config().get("plugins") or ())
    made = Candidate(*_learner_and_steps(row, _context_of(folder), plugins), entry=row.entry)
    if made.id != row.id:
        fix = "run the study again with this version"
        raise ConfigurationError(Problem("MSEL-805", "its parameters mean something else here", f"candidate {row.id}", fix))
    return made


def _context_of(folder: RunFolder) -> BuildContext:
    """What a run's candidates were built for."""
    config = folder.config()
    parts = reopen(config, "measure", "scheme")
    kind: TaskKind = "numbers" if folder.outcome().task.of_numbers else "classes"
    return BuildContext.of(parts.measure, parts.scheme, int(config.get("seed") or 0), kind)


def _learner_and_steps(row: Row, context: BuildContext, plugins: Sequence[str]) -> LearnerAndSteps:
    """Learner and steps; `none` is no value, and where a value is needed the word."""
    try:
        return build(specification(row), None, context, plugins)
    except ConfigurationError as error:
        wanted = {problem.where.removeprefix("learner.") for problem in error.problems}
        words = frozenset(name for name in wanted if row.parameters.get(name) == "none")
        if not words:
            raise
        return build(specification(row, words), None, context, plugins)


def specification(row: Row, words: Collection[str] = ()) -> dict[str, Any]:
    """Learner, settings and preparation steps as `conf/learner/` writes them; `words` are settings whose text is a word."""
    given = {name: text for name, text in row.parameters.items() if name.partition(".")[0] != "preparer"}
    own = {name: text if name in words else value(text) for name, text in given.items()}
    steps = _steps(row.parameters)
    return {"kind": row.learner, **nest(own), **({"preparer": steps} if steps else {})}


def value(text: str) -> Any:
    """Parse a value of candidates.csv.

    >>> [value(text) for text in ("none", "0.5", "gini", "[1, 2]")]
    [None, 0.5, 'gini', [1, 2]]
    """
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _steps(parameters: Mapping[str, str]) -> list[dict[str, object]]:
    """Rebuild the settings of the preparation steps from a candidate's texts."""
    kinds = [kind for kind in parameters.get("preparer", "").split(", ") if kind]
    steps = []
    for index, kind in enumerate(kinds):
        again = kinds[: index + 1].count(kind)
        prefix = f"preparer.{kind}{f'_{again}' if again > 1 else ''}."
        own = {name.removeprefix(prefix): value(text) for name, text in parameters.items() if name.startswith(prefix)}
        steps.append({"kind": kind, **nest(own)})
    return steps


# Tables of all candidates, as data frames.


DTYPES = {"text": "string", "whole": "Int64", "number": "Float64", "truth": "boolean"}
FIXED = ("rank", "id", "entry", "learner")


def leaderboard(folder: RunFolder) -> pd.DataFrame:
    """A row per candidate, best first, those without a valid score last.

    Columns: rank, id, entry, learner, one per parameter that tells candidates of an entry apart, mean, se, `difference_se`
    (standard error of the mean less the winner's), the other measures (NaN where they were not computed), `fold_00` ...,
    complexity, unit, status, `tied` (cannot be told from the winner; the winner itself counts).
    """
    outcome, rows = folder.outcome(), folder.candidates()
    tied = {outcome.winner.id, *outcome.winner.indistinguishable}
    telling = varied_parameters(rows)
    names = list(dict.fromkeys(name for row in rows for name in telling[row.id]))
    lines = [_line(row, telling[row.id], names, row.id in tied) for row in sorted(rows, key=_order)]
    frame = pd.DataFrame(lines)
    return frame.astype({"rank": "Int64"})


def folds(folder: RunFolder) -> pd.DataFrame:
    """Tidy: a row per candidate and fold with its score; `repeat` and the rows of either side beside it."""
    rows = sorted(folder.candidates(), key=_order)
    learners = {row.id: row.learner for row in rows}
    lines = ({"id": line["id"], "learner": learners[line["id"]], **line} for line in fold_lines(folder, rows))
    return pd.DataFrame(lines)


def predictions(folder: RunFolder, labels: NDArray[np.generic], candidate: str | None = None) -> pd.DataFrame:
    """Out-of-fold predictions of the winner, or of another candidate whose predictions are kept: row, truth, predicted, scores.

    `row` counts the rows of the source from 0; rows that no fold assessed are left out. Raises KeyError for a candidate whose
    predictions are not on record.
    """
    found = folder.assessed()
    wanted = folder.outcome().winner.id if candidate is None else candidate
    if wanted not in found.ids:
        raise KeyError(f"predictions are kept of {', '.join(found.ids)}; candidate(id).fit() gives the others' estimators")
    at = found.ids.index(wanted)
    known = found.assessed_by(at)
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
    """Development rows (by their number in the source) × candidates; no columns where the measure is not a mean over rows."""
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
    """The value of a parameter: `none` means no value, except where it names a part."""
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


# One candidate, by `outcome.candidate(id)`.


@dataclass(frozen=True, eq=False)
class StudyCandidate:
    """A candidate of a study, by `outcome.candidate(id)`.

    Examples
    --------
    >>> outcome.candidate().scores.shape
    (10,)
    """

    row: Row
    folder: RunFolder
    labels: Callable[[], NDArray[np.generic]]
    fitted: Callable[[Candidate], StudyClassifier]

    @property
    def id(self) -> str:
        """The candidate's id: a digest of its specification.

        Examples
        --------
        >>> len(outcome.candidate().id)
        16
        """
        return self.row.id

    @property
    def learner(self) -> str:
        """The kind of its learner.

        Examples
        --------
        >>> outcome.candidate().learner
        'tree'
        """
        return self.row.learner

    @property
    def specification(self) -> dict[str, Any]:
        """The learner with every setting fixed, as `conf/learner/` writes it.

        Examples
        --------
        >>> outcome.candidate().specification["max_depth"]
        1
        """
        return dict(candidate(self.row, self.folder).spec)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score on each fold.

        Examples
        --------
        >>> outcome.candidate().scores.shape
        (10,)
        """
        return np.array(self.row.folds)

    @property
    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions, where they are on record; KeyError otherwise.

        Examples
        --------
        >>> outcome.candidate().predictions["predicted"].head(2).tolist()
        ['No', 'No']
        """
        return predictions(self.folder, self.labels(), self.id)

    def fit(self) -> StudyClassifier:
        """Fit the candidate on all development rows of the study.

        Returns
        -------
        StudyClassifier
            A scikit-learn estimator that reads tables as the study did.

        Raises
        ------
        ConfigurationError
            Where the study's table was in memory and was not handed over again.

        Examples
        --------
        >>> outcome.candidate().fit().predict(frame.head(2)).tolist()
        ['No', 'No']
        """
        return self.fitted(candidate(self.row, self.folder))

    def __repr__(self) -> str:
        return f"<Candidate {self.id}: {self.row.label}, mean {self.row.mean:.4g}>"
