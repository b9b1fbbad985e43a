"""`modelsel.SelectionCV`: in the place of scikit-learn's GridSearchCV, with one fit for all candidates that one fit can answer.

Nothing is written to disk and no ledger is opened (`record=True` makes it a study, with a folder under runs/).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from modelsel.api.search.cells import CandidateScores, answered
from modelsel.api.search.scoring import Scoring, scoring_of
from modelsel.config.build import Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.types import Candidate, ClassTask, Fold, Resampling, Task
from modelsel.dataset.tables.frame import moments_of
from modelsel.estimator import Classifier, task_of
from modelsel.measure.answerable import unanswerable
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import named, unbounded
from modelsel.planning.make import make
from modelsel.record.candidates import differing
from modelsel.rule.base import among, nearest
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import fit
from modelsel.scheme.stratified_kfold import StratifiedKfold


def _best_has(method: str) -> Callable[["SelectionCV"], bool]:
    """Whether the best estimator has a method; before `fit` nothing is known, and it is assumed of probabilities alone."""

    def found(search: "SelectionCV") -> bool:
        _refitted(search)
        best = vars(search).get("best_estimator_")
        return method == "predict_proba" if best is None else bool(getattr(best, method))

    return found


def _refitted(search: "SelectionCV") -> bool:
    """AttributeError where no final estimator was wanted."""
    if not search.refit:
        raise AttributeError("this SelectionCV was made with refit=False: there is no best_estimator_ to ask")
    return True


class SelectionCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose among the candidates of a space by cross-validation, and fit the winner on all rows.

    Parameters
    ----------
    space : str, list or dict
        Names of spaces or learners, or entries (`{"mine": {"learner": "cart", "sweep": {"max_depth": [1, 2, 4]}}}`).
    cv : int, splitter or iterable, optional
        Folds as in scikit-learn: an int (stratified, not shuffled), a splitter, or pairs of indices; five folds unless said.
    scheme : str or dict, optional
        Or a scheme of modelsel (`"repeated_kfold"`, `{"kind": "stratified_kfold", "folds": 10}`), on the `groups` of `fit`.
    scoring : str or callable, optional
        A name of scikit-learn's (higher is better) or a callable; accuracy unless said.
    measure : str or dict, optional
        Or a measure of modelsel (`"log_loss"`): scores have scikit-learn's sign, so that higher is better.
    rule : str or dict
        Who wins: `"best"` (ties: the simpler, then the one declared first), `"one_standard_error"`, ...; among those that keep
        bounds on other measures with `{"kind": "best", "subject_to": {"recall": ">= 0.9"}}`.
    refit : bool
        Fit the winner on all rows as `best_estimator_`.
    n_jobs : int, optional
        Threads; the answer does not depend on it.
    seed : int
        Of learners that draw.
    record : bool or dict
        Make it a study (`outcome_`): a run's folder, tracking, a ledger. What is reported is what the study computed. A mapping
        has settings of the study: `{"name": "mine", "tracking": "off"}`.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, n_splits_, refit_time_, classes_
        As in GridSearchCV. `std_test_score` is over folds. One fit answers many candidates: its time is divided among them.
    corrected_score_
        `best_score_` without the optimism of having picked the best (BBC-CV), as (score, low, high); None for folds that
        overlap or leave rows out, for scores that are no mean over rows, and for a rule with bounds (`record=True` has it).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> space = {"cart": {"learner": "cart", "sweep": {"max_depth": [1, 3]}}}
    >>> found = SelectionCV(space, cv=5).fit(*load_iris(return_X_y=True))
    >>> found.best_params_["max_depth"]
    3
    """

    __metadata_request__fit = {"sample_weight": None, "groups": None, "times": None, "unit": None}

    def __init__(
        self, space: Any = "trees", *, cv: Any = None, scheme: Any = None, scoring: Any = None, measure: Any = None,
        rule: Any = "best", refit: bool = True, n_jobs: int | None = None, seed: int = 0,
        record: bool | Mapping[str, Any] = False,
    ) -> None:  # fmt: skip
        """Keep the settings as they are given, as scikit-learn's `clone` requires."""
        self.space = space
        self.cv = cv
        self.scheme = scheme
        self.scoring = scoring
        self.measure = measure
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.seed = seed
        self.record = record

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Select among the candidates on rows × features, and fit the winner.

        Parameters
        ----------
        X : table or array
            Rows × features.
        y : array-like
            A class per row.
        **params
            `sample_weight` counts in fits and scores, `groups` go to the splitter or scheme, `times` (numbers or dates) to a
            scheme in the order of time; rows of one `unit` are not independent: they share a fold, and intervals count
            units. An entry per row each.

        Returns
        -------
        SelectionCV
            Itself, fitted.

        Raises
        ------
        ConfigurationError
            With every problem of space, scheme, measure and rule.
        ValueError
            For unusable rows, and where no candidate finished every fold.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).best_score_
        1.0
        """
        groups, weights, times, unit = (params.pop(name, None) for name in ("groups", "sample_weight", "times", "unit"))
        if params:
            raise TypeError(f"SelectionCV.fit() takes sample_weight, groups, times and unit, not {', '.join(params)}")
        groups = _one_of(groups, unit)
        task, self.classes_ = task_of(self, X, y, weights)
        task = self._told(task, groups, times, unit)
        scoring, rule, candidates = self._parts(task)
        scoring = scoring.on_rows(self, X, y, weights)
        resampling = _whole(self._resampling(task, groups), task)
        if wrong := [*rule.problems(resampling, scoring.measure.over_rows)]:
            raise ValueError("; ".join(wrong))
        bounds = getattr(rule, "bounds", ())
        if wrong := [*unbounded(scoring.measure, bounds, task, resampling)]:
            raise ValueError("; ".join(wrong))
        beside = named(scoring.measure, bounds)
        ConfigurationError.raise_if(
            Problem("MSEL-816", reason, f"space.{entry}")
            for entry, reason in unanswerable((scoring.measure, *beside.values()), candidates)
        )
        found = self._answered(task, resampling, scoring, candidates, beside)
        if not found.board.eligible.any():
            raise ValueError(f"no candidate finished every fold: {next(filter(None, found.reasons), '')}")
        self.n_splits_ = len(resampling.folds)
        if not among(found.board, bounds).eligible.any():
            near = nearest(found.board, bounds)
            said = ", ".join(f"{bound.name} {found.board.beside[bound.name][near]:.4g}" for bound in bounds)
            raise ValueError(f"nobody has {' and '.join(map(str, bounds))}: the nearest, {near}, has {said}")
        self.best_index_ = int(rule.choose(found.board))
        self._tell(found, scoring, candidates)
        self.corrected_score_ = found.corrected(rule, self.best_index_, scoring.sign, scoring.offset)
        if self.refit:
            self._refit(candidates[self.best_index_], task)
        return self

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels by the best estimator.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            Labels, one per row.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).predict([[0.5], [9.0]]).tolist()
        ['a', 'b']
        """
        check_is_fitted(self)
        labels: NDArray[Any] = self.best_estimator_.predict(X)
        return labels

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute class scores by the best estimator.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            Scores in [0, 1], rows × classes in the order of `classes_`.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).predict_proba([[0.5]]).tolist()
        [[1.0, 0.0]]
        """
        check_is_fitted(self)
        scores: NDArray[np.float64] = self.best_estimator_.predict_proba(X)
        return scores

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute decision values by the best estimator, where it has them.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            A value per row of two classes, else rows × classes in the order of `classes_`.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> (SelectionCV({"svm": "svm"}, cv=3).fit(X, y).decision_function([[0.5], [3.0]]) > 0).tolist()
        [False, True]
        """
        check_is_fitted(self)
        found: NDArray[np.float64] = self.best_estimator_.decision_function(X)
        return found

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the best estimator by `scoring`, higher is better.

        Parameters
        ----------
        X : table or array
            Rows × features.
        y : array-like
            A class per row.
        sample_weight : array-like, optional
            A weight per row.

        Returns
        -------
        float
            The score; accuracy unless `scoring` or `measure` says otherwise.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).score(X, y)
        1.0
        """
        check_is_fitted(self)
        return float(scoring_of(self.scoring, self.measure).scorer(self.best_estimator_, X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing and nominal values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _told(self, task: Task, groups: Any, times: Any, unit: Any) -> Task:
        """The task with the units of its rows, and with the groups and times where a scheme asks for them."""
        code = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        task = task if unit is None else replace(task, groups=code, units=code, unit="unit")
        if self.scheme is None:
            return task
        return replace(
            task, groups=code,
            times=None if times is None else moments_of(times, len(task)),
        )  # fmt: skip

    def _parts(self, task: Task) -> tuple[Scoring, Any, tuple[Candidate, ...]]:
        """Measure, rule and candidates; raises ConfigurationError with every problem."""
        builder = Builder(Folders.of())
        rule = builder.part("rule", _named(self.rule), "rule")
        scoring = scoring_of(self.scoring, self.measure, builder)
        space = expand(_entries(self.space), builder, self.seed)
        ConfigurationError.raise_if(builder.problems)
        return scoring, rule, resolve(space.candidates, task, self.seed)

    def _resampling(self, task: Task, groups: Any) -> Resampling:
        """Make the folds of a scikit-learn splitter, or of a scheme by name."""
        if self.scheme is None:
            if task.units is not None and (self.cv is None or isinstance(self.cv, int)):
                return _by_units(task, 5 if self.cv is None else self.cv, self.seed)
            splitter = check_cv(self.cv, task.target, classifier=True)
            return given(task, list(splitter.split(np.zeros(len(task)), self.classes_[task.target], groups)))
        builder = Builder(Folders.of())
        scheme = builder.part("scheme", _named(self.scheme), "scheme")
        ConfigurationError.raise_if(builder.problems)
        if reasons := list(scheme.problems(task)):
            here = (re.sub(r"set dataset\.(group|time)s?=.*", r"give fit(X, y, \1s=...)", reason) for reason in reasons)
            raise ValueError("; ".join(here))
        resampling: Resampling = scheme.instantiate(task, self.seed)
        return resampling

    def _tell(self, found: CandidateScores, scoring: Scoring, candidates: Sequence[Candidate]) -> None:
        """Set `cv_results_`, `best_score_` and `best_params_`."""
        scores = scoring.sign * found.board.folds + scoring.offset
        self.cv_results_ = results(found, scores, parameters(candidates))
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _refit(self, candidate: Candidate, task: Task) -> None:
        """Fit the winner on all rows that have weight, and time it."""

        from time import perf_counter

        began = perf_counter()
        best = Classifier(dict(candidate.spec), None, self.seed)
        try:
            best.final_ = fit(candidate, task, self.seed, np.flatnonzero(task.row_weights > 0))
        except DataError as error:
            raise ValueError(str(error)) from error
        best.classes_, best.n_features_in_ = self.classes_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            best.feature_names_in_ = self.feature_names_in_
        self.best_estimator_, self.refit_time_ = best, perf_counter() - began

    def _answered(
        self, task: Task, resampling: Resampling, scoring: Scoring, candidates: tuple[Candidate, ...],
        bounded: Mapping[str, BaseMeasure],
    ) -> CandidateScores:  # fmt: skip
        """Compute the scores of all candidates on all folds: in memory, or by a study that is kept as `outcome_`."""
        if not self.record:
            plan, workers = make(candidates, task, resampling), self.n_jobs or 1
            return answered(plan, task, resampling, scoring.measure, self.seed, workers, bounded)
        from modelsel.api.search import recorded

        ConfigurationError.raise_if(self._unrecorded())
        if isinstance(task, ClassTask):
            task = replace(task, classes=recorded.classes_of(self.classes_))
        scheme: Any = _named(self.scheme)
        if self.scheme is None:
            (task, resampling), scheme = recorded.with_folds(task, resampling), "predefined"
        settings = {
            "space": _entries(self.space), "rule": self.rule, "seed": self.seed, "scheme": scheme,
            "measure": self.measure or "error", "pool": {"kind": "auto", "n_jobs": self.n_jobs or 1},
            **({} if self.record is True else self.record),
        }  # fmt: skip
        self.outcome_, found = recorded.studied(task, resampling, candidates, self.classes_, scoring.measure, settings)
        return found

    def _unrecorded(self) -> Iterator[Problem]:
        """A study is judged by a measure of modelsel's."""
        if self.scoring not in (None, "accuracy"):
            fix = 'give measure= ("auc", "log_loss", "brier", "balanced_error", ...), or record=False'
            yield Problem("MSEL-814", "a study has no scorer of scikit-learn's", "record=True, scoring=", fix)


def _one_of(groups: Any, unit: Any) -> Any:
    """The units as groups; ValueError for units that miss, are one, or are not the groups that are given too."""
    if unit is None:
        return groups
    code = np.unique(found := np.asarray(unit, object).astype(str), return_inverse=True)[1]
    absent = sum(one is None or one != one for one in np.asarray(unit, object).ravel())
    if found.ndim != 1 or absent:
        raise ValueError(f"unit needs one entry per row{f', and {absent} miss' if absent else ''}")
    if len(found) > 1 and code.max() == 0:
        raise ValueError("all rows are one unit: nothing can be learnt of other units")
    if groups is not None and len(groups) == len(code):
        theirs = np.unique(np.asarray(groups), return_inverse=True)[1]
        if not code.max() == theirs.max() == len(np.unique(np.column_stack([code, theirs]), axis=0)) - 1:
            raise ValueError("unit and groups do not hold the same rows together: give one of them")
    return code


def _by_units(task: Task, folds: int, seed: int) -> Resampling:
    """Stratified folds that keep units whole; ValueError where there are fewer units."""
    scheme = StratifiedKfold(folds=folds)
    if reasons := list(scheme.problems(task)):
        raise ValueError("; ".join(reasons))
    return scheme.instantiate(task, seed)


def _whole(resampling: Resampling, task: Task) -> Resampling:
    """The resampling; ValueError where a declared unit is on both sides of a fold."""
    if task.units is not None:
        torn = sum(bool(np.isin(task.units[fold.assessment], task.units[fold.analysis]).any()) for fold in resampling.folds)
        if torn:
            raise ValueError(
                f"units are on both sides of {torn} of {len(resampling.folds)} folds: give cv as a number of folds"
            )
    return resampling


def _named(part: Any) -> Any:
    return {"kind": part} if isinstance(part, str) else dict(part) if isinstance(part, Mapping) else part


def _entries(space: Any) -> Any:
    from modelsel.config.keywords import plain

    return plain(space, "space")


# `cv_results_` of a search, with scikit-learn's keys.


def parameters(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """List the parameters in which each candidate differs from the others of its entry, with the learner's name."""
    by_entry: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_entry.setdefault(candidate.entry, []).append(candidate)
    telling = {entry: differing([one.parameters for one in own]) for entry, own in by_entry.items()}
    return [
        {"learner": one.entry, **{name: value for name, value in one.parameters.items() if name in telling[one.entry]}}
        for one in candidates
    ]


def results(found: CandidateScores, scores: NDArray[np.float64], params: list[dict[str, Any]]) -> dict[str, Any]:
    """`cv_results_` with scikit-learn's keys; candidates that failed have NaN and the last rank."""
    mean = np.where(found.board.eligible, scores.mean(axis=1), np.nan)
    ranked = np.where(np.isnan(mean), -np.inf, np.round(mean, 12))
    order = (ranked[None, :] > ranked[:, None]).sum(axis=1) + 1
    names = dict.fromkeys(name for one in params for name in one)
    return {
        "mean_fit_time": found.seconds.mean(axis=1), "std_fit_time": found.seconds.std(axis=1),
        "mean_score_time": np.zeros(len(params)), "std_score_time": np.zeros(len(params)),
        **{f"param_{name}": _masked([one.get(name, np.ma.masked) for one in params]) for name in names},
        "params": params,
        **{f"split{index}_test_score": scores[:, index] for index in range(scores.shape[1])},
        "mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": order.astype(np.int32),
    }  # fmt: skip


def _masked(values: list[Any]) -> Any:
    """Make a masked array of objects; masked where a parameter does not apply."""
    made = np.ma.MaskedArray(np.empty(len(values), object), mask=True)
    for index, value in enumerate(values):
        if value is not np.ma.masked:
            made[index] = value
    return made


# Folds of a scikit-learn splitter as a resampling.

GIVEN = "given"  # the scheme's name of folds that a splitter made


def given(task: Task, splits: Sequence[tuple[Any, Any]]) -> Resampling:
    """Folds of a splitter; rows of weight 0 take no part. A row that is assessed again belongs to a further repeat."""
    times, counts = np.zeros(len(task), np.int64), task.row_weights > 0
    if not counts.any():
        raise ValueError("All sample weights are zero: no row is left to fit on.")
    folds: list[Fold] = []
    for analysis, assessment in splits:
        rows, others = (np.arange(len(task))[part] for part in (assessment, analysis))
        rows, others = rows[counts[rows]], others[counts[others]]
        if len(rows) and len(others):
            folds.append(Fold(len(folds), int(times[rows].max()), others, rows))
            times[rows] += 1
    return Resampling(GIVEN, task.fingerprint, tuple(folds))
