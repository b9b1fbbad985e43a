"""The result of a study, to be looked at, asked and used: the fields of study.json, and all of the run's folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.api import content
from modelsel.api.results import frames
from modelsel.api.results.exporting import exported_model
from modelsel.api.results.methods import methods
from modelsel.api.results.model import StudyClassifier, fitted, labels
from modelsel.api.results.plots import Plots
from modelsel.api.results.specification import candidate, specification
from modelsel.core import outcome as core
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Task
from modelsel.dataset.tables.untyped import UntypedTable
from modelsel.record.content.candidates import Row
from modelsel.record.folder import OUTCOME, RunFolder
from modelsel.reporting.text.terminal import progress
from modelsel.reporting.text.verdict import verdict


class Outcome(core.StudySummary):
    """The fields of study.json as attributes (`winner`, `test`, `findings`, ...), data frames, the final model, pictures.

    Everything is read from the run's folder when it is first asked for; `open_test` returns the outcome with its test.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> len(outcome.leaderboard), len(outcome.folds)
    (2, 20)
    """

    _table: UntypedTable | None = None  # keeps a table in memory known, so that the study's rows can be had again

    @classmethod
    def at(cls, folder: RunFolder, table: UntypedTable | None = None) -> Self:
        """The outcome of a recorded run."""
        made = cls.from_dict({**folder.read_json(OUTCOME), "folder": str(folder.path)})
        assert isinstance(made, cls)
        object.__setattr__(made, "_table", table)
        return made

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """A row per candidate, best first: rank, id, learner, varied parameters, mean, se, fold scores, complexity, `tied`.

        `difference_se` is the standard error of the mean less the winner's.
        """
        return frames.leaderboard(self._folder)

    @cached_property
    def folds(self) -> pd.DataFrame:
        """A row per candidate and fold."""
        return frames.folds(self._folder)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions of the winner: row of the source, truth, predicted, scores where the measure asked."""
        return frames.predictions(self._folder, self.classes)

    @cached_property
    def losses(self) -> pd.DataFrame:
        """Out-of-fold losses: development rows × candidates."""
        return frames.losses(self._folder)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Everything that was computed as tidy data frames.

        A row says one thing: a candidate, a candidate on a fold, a prediction, a comparison, a slice, a point of the learning
        curve. What the study did not compute has no rows. `export("parquet", folder)` writes the same.

        Returns
        -------
        dict of str to DataFrame
            By name; columns and types are those of `docs/tables_of_a_run.md`.

        Examples
        --------
        With `outcome` as `modelsel.run` returned it:

        >>> outcome.tables()["comparisons"].columns[:3].tolist()
        ['first', 'second', 'difference']
        """
        return frames.tables(self._folder)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes as the target's column held them: bool, int, float or text."""
        return labels(self.task["classes"], content.target_type(self._folder))

    @cached_property
    def model(self) -> StudyClassifier:
        """The winner fitted on all development rows, as a scikit-learn estimator. What was kept as a recipe is fitted again."""
        from modelsel.record.refit import ready
        from modelsel.runner.final_fit import Final

        predictor = ready(self._folder, progress().say)
        won = self._row(self.winner["id"])
        kinds = [step["kind"] for step in specification(won).get("preparer", ())] if predictor.steps else []
        steps = tuple(zip(kinds, predictor.steps, strict=True))
        kind = getattr(predictor.model, "made_by", won.learner)  # a learner around that of the row
        final = Final(predictor.features, predictor.classes, steps, kind, predictor.model)
        return self._estimator(final, candidate(won).spec)

    @property
    def plot(self) -> Plots:
        """Pictures: leaderboard, curve, path, tree, roc, calibration, critical_difference."""
        return Plots(self._folder)

    def candidate(self, id: str | None = None) -> "StudyCandidate":
        """A candidate by its id, or the beginning of it; the winner unless said. `.fit()` gives its estimator."""
        return StudyCandidate(self, self._row(id or self.winner["id"]))

    def open_test(self, category: str = "", text: str = "") -> "Outcome":
        """Look once at the sealed test rows, under the study's policy; `category` and `text` justify a further look."""
        from modelsel.final_test import open_test

        open_test(self.folder, category, text, root=self._folder.root)
        return Outcome.at(self._folder, self._table)

    def audit(self) -> Mapping[str, Any]:
        """Report what touched the test rows, what it cost, and whether the ledger is whole."""
        from modelsel.cli.audit import audited

        return audited(self.folder)

    def methods(self) -> str:
        """A paragraph for a paper: rows, candidates, scheme, rule, correction, looks, interval."""
        return methods(self._folder)

    def export(self, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
        """The final model as onnx, sql, rules, json or dot: written to `path`, or returned without one.

        `csv` and `parquet` are the tables of the run, a file each in the folder `path`.
        """
        return exported_model(self.folder, to, path, table)

    def to_mlflow(self, registered_name: str | None = None, uri: str | None = None) -> str:
        """Write what MLflow is missing of this study, and register its model under a name; the run's id."""
        from modelsel.api.results.mlflow_models import to_mlflow

        return to_mlflow(self._folder, registered_name, uri)

    def report(self) -> Path:
        """Write report.html again, and return where it lies."""
        from modelsel.reporting import page

        return page.write(self._folder)

    @property
    def _folder(self) -> RunFolder:
        return RunFolder.open(self.folder)

    @cached_property
    def _development(self) -> Task:
        from modelsel.record.refit import development_rows

        return development_rows(self._folder)

    def _row(self, id: str) -> Row:
        found = [row for row in self._folder.candidates() if row.id.startswith(id)]
        if len(found) != 1:
            what = f"{len(found)} candidates begin with {id!r}" if found else f"there is no candidate {id!r}"
            raise ConfigurationError(Problem("MSEL-807", what, self.folder, "leaderboard lists their ids"))
        return found[0]

    def _estimator(self, final: Any, spec: Mapping[str, Any]) -> StudyClassifier:
        missing = self._folder.config()["dataset"].get("missing", ())
        return fitted(final, spec, self.seed, self.classes, missing, content.by_estimator(self._folder))

    def __str__(self) -> str:
        return verdict(self._folder)

    def __repr__(self) -> str:
        won = self.winner
        name = f"{won.get('entry') or won['learner']} {won['id'][:8]}"
        return f"<Outcome {self.study}: {name}, {self.measure} {won['cv']['mean']:.4g}>"

    def _repr_html_(self) -> str:
        from modelsel.reporting.card import card

        return card(self._folder)


@dataclass(frozen=True, eq=False)
class StudyCandidate:
    """One candidate of a study."""

    outcome: Outcome
    row: Row

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def learner(self) -> str:
        return self.row.learner

    @property
    def specification(self) -> dict[str, Any]:
        """The learner with every setting fixed, as `conf/learner/` writes it."""
        return dict(candidate(self.row).spec)

    @property
    def scores(self) -> NDArray[np.float64]:
        """One per fold."""
        return np.array(self.row.folds)

    @property
    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions, where they are on record; KeyError otherwise."""
        return frames.predictions(self.outcome._folder, self.outcome.classes, self.id)

    def fit(self) -> StudyClassifier:
        """Its estimator, fitted on all development rows of the study."""
        from modelsel.runner.final_fit import fit

        made = candidate(self.row)
        return self.outcome._estimator(fit(made, self.outcome._development, self.outcome.seed), made.spec)

    def __repr__(self) -> str:
        return f"<Candidate {self.id}: {self.row.label}, mean {self.row.mean:.4g}>"
