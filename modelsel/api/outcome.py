"""The result of a study, to be looked at, asked and used: the fields of study.json, and all of the run's folder."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd
from numpy.typing import NDArray

from modelsel.api import content
from modelsel.api.results import candidates as tables
from modelsel.api.results.candidates import StudyCandidate, candidate, specification
from modelsel.api.results.exporting import export_model
from modelsel.api.results.methods import methods
from modelsel.api.results.model import StudyClassifier, StudyRegressor, fitted_estimator
from modelsel.api.results.plots import Plots
from modelsel.core import outcome as core
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Candidate, ClassTask, Task
from modelsel.dataset.labels import labels
from modelsel.dataset.untyped import UntypedTable
from modelsel.explanation.alternatives import Alternatives, alternatives, check_search
from modelsel.record.candidates import Row
from modelsel.record.folder import RunFolder
from modelsel.reporting.terminal import progress
from modelsel.reporting.verdict import verdict


class Outcome(core.StudySummary):
    """The fields of study.json as attributes (`winner`, `test`, `findings`, ...), data frames, the final model, pictures.

    Everything is read from the run's folder when it is first asked for; `open_test` returns the outcome with its test.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> len(outcome.leaderboard), len(outcome.folds)
    (3, 30)
    """

    _table: UntypedTable | None = None  # keeps a table in memory known, so that the study's rows can be had again

    @classmethod
    def at(cls, folder: RunFolder, table: UntypedTable | None = None) -> Self:
        """Open the outcome of a recorded run.

        Parameters
        ----------
        folder : RunFolder
            The run's folder.
        table : UntypedTable, optional
            The table of a study on data in memory, by which its rows can be had again.

        Returns
        -------
        Outcome
            The outcome, read from study.json.

        Examples
        --------
        With `outcome` as `modelsel.run` returned it:

        >>> from modelsel.record.folder import RunFolder
        >>> modelsel.Outcome.at(RunFolder.open(outcome.folder)).winner == outcome.winner
        True
        """
        made = folder.summary(cls, folder=str(folder.path))
        object.__setattr__(made, "_table", table)
        return made

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """A row per candidate, best first: rank, id, learner, varied parameters, mean, se, fold scores, complexity, `tied`.

        `difference_se` is the standard error of the mean less the winner's.

        Examples
        --------
        >>> outcome.leaderboard["entry"].tolist()
        ['cart', 'majority', 'cart']
        """
        return tables.leaderboard(self._folder)

    @cached_property
    def folds(self) -> pd.DataFrame:
        """A row per candidate and fold, with the fold's score and its numbers of rows.

        Examples
        --------
        >>> outcome.folds.columns.tolist()
        ['id', 'learner', 'fold', 'repeat', 'analysis', 'assessment', 'score']
        """
        return tables.folds(self._folder)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions of the winner: row of the source, fold, truth, predicted, class scores where they are kept.

        Examples
        --------
        >>> outcome.predictions.columns.tolist()
        ['row', 'fold', 'truth', 'predicted', 'score_No', 'score_Yes']
        """
        return tables.predictions(self._folder, self.classes)

    @cached_property
    def losses(self) -> pd.DataFrame:
        """Out-of-fold losses, development rows × candidates; without columns where the measure is not a mean over rows.

        Examples
        --------
        >>> outcome.losses.shape
        (10, 3)
        """
        return tables.losses(self._folder)

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
        return tables.tables(self._folder)

    @cached_property
    def explanation(self) -> Mapping[str, Any]:
        """Reasons and weak spots as explanation.json has them: slices, importance, dependence, learning curve; or empty.

        Examples
        --------
        >>> isinstance(outcome.explanation, dict)
        True
        """
        return self._folder.explanation().written()

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes as the target's column held them; of a file of texts, texts.

        Examples
        --------
        >>> outcome.classes.tolist()
        ['No', 'Yes']
        """
        return labels(self.task.classes, content.target(self._folder))

    @cached_property
    def model(self) -> StudyClassifier | StudyRegressor:
        """The winner fitted on all development rows, as a scikit-learn estimator; a model kept as a recipe is fitted again.

        Examples
        --------
        >>> outcome.model.predict(frame.head(2)).tolist()
        ['No', 'No']
        """
        from modelsel.record.refit import ready
        from modelsel.runner.final_fit import Final

        predictor = ready(self._folder, progress().say)
        won = self._row(self.winner.id)
        kinds = [step["kind"] for step in specification(won).get("preparer", ())] if predictor.steps else []
        steps = tuple(zip(kinds, predictor.steps, strict=True))
        kind = getattr(predictor.model, "made_by", won.learner)  # a learner around that of the row
        final = Final(predictor.features, predictor.classes, steps, kind, predictor.model, predictor.read_as)
        return self._estimator(final, candidate(won, self._folder).spec)

    @property
    def plot(self) -> Plots:
        """Pictures of the study: candidates' scores, the final tree, curves, importance (`dir` lists them).

        Examples
        --------
        >>> outcome.plot.leaderboard()
        <picture: fold scores of the best candidates>
        """
        return Plots(self._folder)

    def candidate(self, id: str | None = None) -> StudyCandidate:
        """Return one candidate of the study.

        Parameters
        ----------
        id : str, optional
            Its id, or the beginning of it; the winner without it.

        Returns
        -------
        StudyCandidate
            Its specification, scores and predictions; `.fit()` gives its estimator.

        Raises
        ------
        ConfigurationError
            Where no candidate, or more than one, begins like this.

        Examples
        --------
        >>> outcome.candidate().learner
        'tree'
        """
        return StudyCandidate(self._row(id or self.winner.id), self._folder, lambda: self.classes, self._fit_candidate)

    def open_test(self, category: str = "", text: str = "") -> "Outcome":
        """Look once at the sealed test rows, under the study's policy.

        Parameters
        ----------
        category : str
            The kind of reason for a further look: one of those that `docs/guard` lists.
        text : str
            The reason in words, kept in the ledger.

        Returns
        -------
        Outcome
            The outcome with its `test`; `test.refused` says why the guard refused, where it did.

        Raises
        ------
        ConfigurationError
            Where the study has no sealed rows.
        LedgerError
            Where the ledger cannot be written: then nothing is opened.

        Examples
        --------
        >>> outcome.open_test().test.look
        1
        """
        from modelsel.api.final_test import open_test

        open_test(self.folder, category, text, root=self._folder.root)
        return Outcome.at(self._folder, self._table)

    def audit(self) -> Mapping[str, Any]:
        """Report what touched the test rows, what it cost, and whether the ledger is whole.

        Returns
        -------
        Mapping
            The shape of `modelsel audit --json`.

        Examples
        --------
        >>> outcome.audit()["ledger"]["intact"]
        True
        """
        from modelsel.api.results.audit import audit_report

        return audit_report(self.folder).written()

    def methods(self) -> str:
        """Describe the study in a paragraph for a paper: rows, candidates, scheme, rule, correction, looks, interval.

        Returns
        -------
        str
            Sentences to paste.

        Examples
        --------
        >>> outcome.methods()[:60]
        'Of the 14 rows (4 features, 2 classes), 10 were used to choo'
        """
        return methods(self._folder)

    def predict_interval(self, data: object, coverage: float = 0.9) -> pd.DataFrame:
        """Predict numbers with intervals that cover a share of new rows, also after a choice among many.

        Parameters
        ----------
        data : table or array
            New rows.
        coverage : float
            The share, in (0, 1).

        Returns
        -------
        DataFrame
            A row per row: `prediction`, `low` and `high`, in the unit of the target.

        Raises
        ------
        ConfigurationError
            Where the study kept no models of its folds (`explanations.sets=true`), or predicts classes.

        Examples
        --------
        Of an outcome whose target is a number, run with `explanations.sets=true`:

        >>> homes.predict_interval(new).columns.tolist()  # doctest: +SKIP
        ['prediction', 'low', 'high']
        """
        from modelsel.explanation.prediction_sets import intervals_of, kept_folds

        if self.classes.size:
            what = "intervals are those of numbers, and this model predicts classes"
            raise ConfigurationError(Problem("MSEL-293", what, "predict_interval", "take predict(..., sets=0.9)"))
        low, high = intervals_of(kept_folds(self._folder), self.model._table_of(data), coverage)
        return pd.DataFrame({"prediction": self.model.predict(data), "low": low, "high": high})

    def alternatives(
        self, within: float = 0.01, min_leaf: float = 5, limit: int | None = 20_000, depth: int = 2
    ) -> Alternatives:
        """Tell what all good trees of two levels (or three) share: columns that each needs, and columns that none uses.

        Parameters
        ----------
        within : float
            Share of the weight by which a good tree may have more training errors than the best.
        min_leaf : float
            Weight of every leaf, at least.
        limit : int, optional
            Millions of steps of the search; None: to its end.
        depth : int
            Levels of tests: 2, or 3, which takes far longer and may not end.

        Returns
        -------
        Alternatives
            Skeletons of columns that have a good tree; as text what `modelsel explain RUN --alternatives` prints.

        Raises
        ------
        ConfigurationError
            Where the target is a number, `within` is no share, or `depth` is neither 2 nor 3.
        DataError
            Where the development rows are not at hand.

        Examples
        --------
        >>> outcome.alternatives(within=0.1, min_leaf=1).needed
        ('Outlook',)
        """
        from modelsel.record.refit import development_rows

        if not self.classes.size:
            what = "good trees are counted by errors of classes, and this target is a number"
            raise ConfigurationError(Problem("MSEL-293", what, "--alternatives", "leave it out"))
        check_search(within, depth)
        task = development_rows(self._folder, "good trees are searched among the development rows, which are not at hand")
        assert isinstance(task, ClassTask)
        return alternatives(task, within, min_leaf, limit, depth)

    def export(self, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
        """Write the final model for another system, or the tables of the run.

        Parameters
        ----------
        to : str
            `onnx`, `sql`, `rules`, `json` or `dot` for the model; `csv` or `parquet` for the tables, a file each.
        path : str or Path, optional
            The file to write, of tables the folder; without it the model's content is returned.
        table : str
            The table that the SQL reads from.

        Returns
        -------
        str, bytes or Path
            The content, or the file.

        Raises
        ------
        ConfigurationError
            Where the model has no such form.

        Examples
        --------
        >>> print(outcome.export("rules"))
        if Outlook = Overcast then Yes   [covers 4 (40.0 %), right 100.0 %]
        if Outlook != Overcast then No   [covers 6 (60.0 %), right 66.7 %]
        a missing value is decided by surrogate tests on other columns; `sql` and `json` name them
        """
        return export_model(self.folder, to, path, table)

    def to_mlflow(self, registered_name: str | None = None, uri: str | None = None) -> str:
        """Write what MLflow is missing of this study, and register its model where a name is given.

        Parameters
        ----------
        registered_name : str, optional
            The registered model that gets the final model as its next version.
        uri : str, optional
            The address of MLflow's store; the one of the study without it.

        Returns
        -------
        str
            The id of the study's run in MLflow.

        Raises
        ------
        TrackingError
            Where the store cannot be reached.

        Examples
        --------
        >>> outcome.to_mlflow(registered_name="play_tennis")  # doctest: +SKIP
        """
        from modelsel.api.results.mlflow_models import to_mlflow

        return to_mlflow(self._folder, registered_name, uri)

    def report(self) -> Path:
        """Write report.html again.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> outcome.report().name
        'report.html'
        """
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
        """Find the one candidate whose id begins so."""
        found = [row for row in self._folder.candidates() if row.id.startswith(id)]
        if len(found) != 1:
            what = f"{len(found)} candidates begin with {id!r}" if found else f"there is no candidate {id!r}"
            raise ConfigurationError(Problem("MSEL-807", what, self.folder, "leaderboard lists their ids"))
        return found[0]

    def _fit_candidate(self, candidate: Candidate) -> StudyClassifier | StudyRegressor:
        """Fit a candidate on all development rows of the study."""
        from modelsel.runner.final_fit import fit

        return self._estimator(fit(candidate, self._development, self.seed), candidate.spec)

    def _estimator(self, final: Any, spec: Mapping[str, object]) -> StudyClassifier | StudyRegressor:
        return fitted_estimator(final, spec, self.seed, self.classes, content.by_estimator(self._folder))

    def __str__(self) -> str:
        return verdict(self._folder)

    def __repr__(self) -> str:
        won = self.winner
        name = f"{won.name} {won.id[:8]}"
        return f"<Outcome {self.study}: {name}, {self.measure} {won.cv.mean:.4g}>"

    def _repr_html_(self) -> str:
        from modelsel.reporting.picture import card

        return card(self._folder)
