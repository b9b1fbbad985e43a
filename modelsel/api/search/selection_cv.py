"""`modelsel.SelectionCV`: in the place of scikit-learn's GridSearchCV, with one fit for all candidates that one fit can answer.

Nothing is written to disk and no ledger is opened (`record=True` makes it a study, with a folder under runs/).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from time import perf_counter
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from modelsel.api.search.reading import as_given, in_words_of_fit, is_arrow, looks_like_numbers, warn_of_dates
from modelsel.api.search.scores import CandidateScores, SearchLines, Training, beside, compute_cells, parameters, results
from modelsel.api.search.scoring import Asked, Scorings, judge_themselves, measure_of, own_score, scorings_of
from modelsel.config.build import BuildContext, Builder
from modelsel.config.expand import SPACE, expand
from modelsel.config.folders import Folders
from modelsel.config.keywords import plain
from modelsel.config.settings import SearchSettings
from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.source import Source
from modelsel.core.spec import kind_of
from modelsel.core.types import CLASS_TASKS, NUMBER_TASKS, Candidate, ClassTask, Fold, Integers, Resampling, Task
from modelsel.dataset.frame import has_cells, moments_of
from modelsel.dataset.in_memory import is_sparse
from modelsel.dataset.labels import own_type
from modelsel.dataset.refused import explain_refusals
from modelsel.dataset.targets import AUTO, CLASSIFY, REGRESS, check_squares
from modelsel.estimator import Classifier, Regressor, count_rows, numbers_of, task_of
from modelsel.foreign.libraries import is_pairwise, kinds_read, takes_categorical, takes_nan
from modelsel.foreign.written import as_space, is_pipeline, of_objects
from modelsel.learner.object import Object
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import bound_problems, bounding_measures, unanswerable
from modelsel.measure.r2 import R2
from modelsel.planning.make import make
from modelsel.rule.base import BaseRule, among, nearest
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import fit, objections
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.predefined import Predefined
from modelsel.scheme.stratified_kfold import StratifiedKfold

OBJECT = "object"  # the learner that an estimator object is
FITTED = ("n_features_in_", "feature_names_in_")  # of an object, once it is fitted


def _best_has(method: str) -> Callable[["SelectionCV"], bool]:
    """Whether the best estimator has a method; before `fit` an estimator alone is asked, else probabilities are assumed."""

    def found(search: "SelectionCV") -> bool:
        _require_refit(method)(search)
        best = vars(search).get("best_estimator_", _single_estimator(search.space))
        if best is None:
            return method == "predict_proba" and not search._predicts_numbers
        return bool(getattr(best, method))

    return found


def _require_refit(method: str) -> Callable[["SelectionCV"], bool]:
    """AttributeError where no final estimator was wanted."""

    def found(search: "SelectionCV") -> bool:
        if not search.refit:
            raise AttributeError(
                f"This {type(search).__name__} instance was initialized with `refit=False`. {method} is available only after "
                "refitting on the best parameters: there is no best_estimator_ to ask."
            )
        return True

    return found


class SelectionCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose among the candidates of a space by cross-validation, and fit the winner on all rows.

    Parameters
    ----------
    space : str, list, dict, tuple or estimator
        Names of spaces or learners, or entries (`{"mine": {"learner": "cart", "sweep": {"max_depth": [1, 2, 4]}}}`). Anything
        that scikit-learn can clone stands for itself, alone or with its grid: `(pipeline, {"svc__C": [1, 10]})`, `{"mine":
        (pipeline, grid), "cart": "cart"}`.
    cv : int, splitter or iterable, optional
        Folds as in scikit-learn: an int (stratified, not shuffled), a splitter, or pairs of indices; five folds unless said.
    scheme : str or dict, optional
        Or a scheme of modelsel (`"repeated_kfold"`, `{"kind": "stratified_kfold", "folds": 10}`), on the `groups` of `fit`.
    scoring : str, callable, list or dict, optional
        A name of scikit-learn's (higher is better) or a callable; several by a list of names or a mapping, of which `refit`
        names the one that chooses. Accuracy unless said, R² of numbers, or an object's own `score` where it has one.
    measure : str or dict, optional
        Or a measure of modelsel (`"log_loss"`): scores have scikit-learn's sign, so that higher is better.
    rule : str or dict
        Who wins: `"best"` (ties: the simpler, then the one declared first), `"one_standard_error"`, ...; among those that keep
        bounds on other measures with `{"kind": "best", "subject_to": {"recall": ">= 0.9"}}`.
    refit : bool, str or callable
        Fit the winner on all rows as `best_estimator_`; the name of the score that chooses among several; or a function of
        `cv_results_` that returns the index of the winner, in the place of the rule.
    n_jobs : int, optional
        Threads; the answer does not depend on it.
    seed : int
        Of learners that draw, and of every `random_state` that is None in an object.
    record : bool or dict
        Make it a study (`outcome_`): a run's folder, tracking, a ledger. What is reported is what the study computed. A mapping
        has settings of the study: `{"name": "mine", "tracking": "off"}`.
    return_train_score : bool
        Score every fit on its own rows too. Learners of this package are fitted once more for it, objects are not.
    error_score : "raise" or number
        The score of a fit that failed: NaN, so that the candidate cannot win; a number; or raise its error.
    verbose : int
        1: print how many fits there are; 2: every one as it ends; 3: with its score.
    search : str or dict, optional
        `"random"` or `{"kind": "random", "trials": 60, "seed": 1}` draws so many trials of each entry, as RandomizedSearchCV
        does; entries with a distribution (`scipy.stats.loguniform(1, 9)`, `"log_uniform(1, 9)"`, `"integers(1, 20)"`) are drawn
        from in any case. The same seed gives the same trials, and more of them begin with the same.
    task : {"auto", "classification", "regression"}
        What the target is. Regressors of scikit-learn's predict numbers; where the space leaves it open, fractions are
        numbers, as are more than twenty different whole numbers of which one has a single row; others are classes.
    seconds : float, optional
        By which the fit should end, with the best that can be had: what candidates cost is tried on few rows, the cheap come
        first, and who would not end in time has no score (NaN).
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study: whole numbers as repeated rows, all others relative to
        their mean, unless it is said.

    Attributes
    ----------
    best_estimator_
        The winner fitted on all rows: of an object the object's own class (`named_steps`, `feature_importances_`), else a
        `Classifier` or a `Regressor`.
    best_params_
        Of an object by the names of its grid. Where the space has more than one entry, `learner` is the entry.
    best_score_, best_index_, cv_results_, n_splits_, refit_time_, classes_, scorer_, multimetric_
        As in GridSearchCV; no `classes_` of numbers. `std_test_score` is over folds. One fit answers many candidates: its time
        is divided among them.
    corrected_score_
        `best_score_` without the optimism of having picked the best (BBC-CV), as (score, low, high); None for folds that
        overlap or leave rows out, for scores that are no mean over rows (R²; `"neg_mean_squared_error"` is one), for a rule
        with bounds (`record=True` has it), and where `refit` is a function.

    Notes
    -----
    An estimator alone, on columns that it cannot read (texts, categories, or missing values that its tags do not allow), is
    given modelsel's encoding of them, as in `modelsel.run`; `best_estimator_` is a `Classifier` then. Everything else is
    fitted as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> space = {"cart": {"learner": "cart", "sweep": {"max_depth": [1, 3]}}}
    >>> found = SelectionCV(space, cv=5).fit(*load_iris(return_X_y=True))
    >>> found.best_params_["max_depth"]
    3
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> found = SelectionCV((KNeighborsClassifier(), {"n_neighbors": [1, 15]}), cv=5).fit(*load_iris(return_X_y=True))
    >>> found.best_params_, found.best_estimator_
    ({'n_neighbors': 15}, KNeighborsClassifier(n_neighbors=15))
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> numbers = SelectionCV((Ridge(), {"alpha": [0.1, 10.0]}), cv=5, scoring="neg_mean_squared_error")
    >>> numbers.fit(*load_diabetes(return_X_y=True)).best_params_
    {'alpha': 0.1}
    """

    __metadata_request__fit = {"sample_weight": None, "groups": None, "times": None, "unit": None}

    def __init__(
        self, space: object = "trees", *, cv: object = None, scheme: object = None, scoring: object = None,
        measure: object = None,
        rule: object = "best", refit: object = True, n_jobs: int | None = None, seed: int = 0,
        record: bool | Mapping[str, object] = False, return_train_score: bool = False, error_score: float | str = np.nan,
        verbose: int = 0, search: object = None, task: str = AUTO, seconds: float | None = None,
        weights_are: str = AUTO,
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
        self.return_train_score = return_train_score
        self.error_score = error_score
        self.verbose = verbose
        self.search = search
        self.task = task
        self.seconds = seconds
        self.weights_are = weights_are

    def fit(self, X: object, y: object = None, **params: object) -> Self:
        """Select among the candidates on rows × features, and fit the winner.

        Parameters
        ----------
        X : table or array
            Rows × features.
        y : array-like
            A class or a number per row.
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
        with explain_refusals(y, count_rows(X), numbers=False):
            numbers = looks_like_numbers(y) if self._declared is None else self._declared
        task, entries = self._read_task(X, y, weights, numbers)
        task = self._with_roles(task, groups, times, unit)
        scorings, rule, scheme, candidates = self._parts(task, entries)
        warn_of_dates(task, candidates)
        weights = None if weights is None else task.row_weights
        scorings = scorings.on_rows(self, X, y, weights)
        scoring = scorings.chooses
        resampling = _whole(self._resampling(task, groups, scheme), task)
        if any(map(_reads_given_folds, candidates)):
            from modelsel.api.search.recorded import with_folds

            task, resampling = with_folds(task, resampling, "cv")
        if not resampling.folds:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        undefined = _why_undefined(scoring.measure, task, resampling) if numbers else ()
        if wrong := [*undefined, *rule.problems(resampling, scoring.measure.over_rows)]:
            raise ValueError("; ".join(wrong))
        bounds = getattr(rule, "bounds", ())
        if wrong := [*bound_problems(scoring.measure, bounds, task, resampling)]:
            raise ValueError("; ".join(wrong))
        others = {beside(name): one.measure for name, one in scorings.beside.items() if name != scorings.name}
        shown = {**bounding_measures(scoring.measure, bounds), **others}
        ConfigurationError.raise_if(
            Problem("MSEL-816", reason, f"space.{entry}")
            for entry, reason in unanswerable((scoring.measure, *shown.values()), candidates)
        )
        if any(True for one in candidates for _ in objections(one, task)):
            from modelsel.runner.study_data import refuse  # brings the guard along, which no other selection needs

            refuse(candidates, task, candidates)
        training = Training(self, scorings, X, y, weights) if self.return_train_score else None
        found = self._compute_scores(task, resampling, scorings, candidates, shown, entries, training)
        found = self._apply_error_score(found, scorings)
        self.n_splits_ = len(resampling.folds)
        self._set_results(found, scorings, candidates)
        self._choose(found, rule, bounds, scorings)
        if self.refit:
            self._refit(candidates[self.best_index_], task)
        return self

    @available_if(_require_refit("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: object) -> NDArray[Any]:
        """Predict labels or numbers by the best estimator.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            Labels or numbers, one per row.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).predict([[0.5], [9.0]]).tolist()
        ['a', 'b']
        """
        check_is_fitted(self)
        said: NDArray[np.generic] = self.best_estimator_.predict(X)
        return said

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> NDArray[np.float64]:
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
    def decision_function(self, X: object) -> NDArray[np.float64]:
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

    @available_if(_best_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """Compute the logarithms of class scores by the best estimator, where it has them.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            Rows × classes in the order of `classes_`.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV(GaussianNB(), cv=3).fit(X, y).predict_log_proba([[0.5]]).shape
        (1, 2)
        """
        check_is_fitted(self)
        found: NDArray[np.float64] = self.best_estimator_.predict_log_proba(X)
        return found

    @available_if(_best_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: object) -> Any:
        """Transform rows by the best estimator, where it has a `transform`.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        Any
            What the estimator makes of them.

        Examples
        --------
        >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV(LinearDiscriminantAnalysis(), cv=3).fit(X, y).transform([[0.5]]).shape
        (1, 1)
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(_best_has("inverse_transform"))  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: object) -> Any:
        """Undo `transform` by the best estimator, where it can.

        Parameters
        ----------
        X : array
            Transformed rows.

        Returns
        -------
        Any
            Rows × features.

        Examples
        --------
        >>> hasattr(SelectionCV("trees"), "inverse_transform")
        False
        """
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(X)

    @available_if(_best_has("score_samples"))  # type: ignore[untyped-decorator]
    def score_samples(self, X: object) -> NDArray[np.float64]:
        """Score rows by the best estimator, where it has a `score_samples`.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            A score per row.

        Examples
        --------
        >>> hasattr(SelectionCV("trees"), "score_samples")
        False
        """
        check_is_fitted(self)
        found: NDArray[np.float64] = self.best_estimator_.score_samples(X)
        return found

    @available_if(_require_refit("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the best estimator by `scoring`, higher is better.

        Parameters
        ----------
        X : table or array
            Rows × features.
        y : array-like
            A class or a number per row.
        sample_weight : array-like, optional
            A weight per row.

        Returns
        -------
        float
            The score; accuracy, or R² of numbers, unless `scoring` or `measure` says otherwise.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
        >>> SelectionCV({"cart": "cart"}, cv=3).fit(X, y).score(X, y)
        1.0
        """
        check_is_fitted(self)
        return float(self._scorer(self.best_estimator_, X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing and nominal values are taken."""
        tags = super().__sklearn_tags__()
        alone, numbers = _single_estimator(self.space), self._predicts_numbers
        tags.estimator_type = "regressor" if numbers else "classifier"
        tags.classifier_tags = None if numbers else ClassifierTags()
        tags.regressor_tags = RegressorTags() if numbers else None
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True if alone is None else takes_nan(alone)
        tags.input_tags.categorical = alone is None or takes_categorical(alone)
        tags.input_tags.pairwise = alone is not None and is_pairwise(alone)
        return tags

    @property
    def _declared(self) -> bool | None:
        """Whether numbers are predicted, by `task` or by the objects of the space; None where the target decides."""
        if self.task in (CLASSIFY, REGRESS):
            return bool(self.task == REGRESS)
        kinds = _kinds(self.space)
        return kinds == {NUMBER_TASKS} if kinds else None

    @property
    def _predicts_numbers(self) -> bool:
        """Say whether numbers are predicted, as far as it is known: as declared, or as it was fitted."""
        declared = self._declared
        return bool(vars(self).get("_numbers")) if declared is None else declared

    def _with_roles(self, task: Task, groups: object, times: object, unit: object) -> Task:
        """The task with the units of its rows, and with the groups and times where a scheme or splitter asks for them."""
        code = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        task = task if unit is None else replace(task, groups=code, units=code, unit="unit")
        if self.scheme is None:
            return replace(task, groups=code) if self._splits_groups else task
        return replace(
            task, groups=code,
            times=None if times is None else moments_of(times, len(task)),
        )  # fmt: skip

    @property
    def _splits_groups(self) -> bool:
        """Say whether the splitter keeps groups together: then inner folds do so too."""
        return "Group" in type(self.cv).__name__

    def _read_task(self, X: Any, y: object, weights: object, numbers: bool) -> tuple[Task, object]:
        """The rows as a task, and the entries of the space; objects are fitted as they are wherever they can read the rows."""
        space = as_space(self.space)
        alone = of_objects(space)
        task, labels = as_given(X, y, weights, numbers, self.weights_are) if alone else self._task(X, y, weights, numbers)
        nominal = has_cells(X) and any(feature.has_levels or feature.dates for feature in task.features)
        missing = bool(np.isnan(task.values).any())
        entries = plain(space, SPACE, lambda one: not nominal and not (missing and _wants_numbers(one)))
        own = list(entries.values()) if isinstance(entries, Mapping) else []
        if alone and not all(map(_is_object, own)):
            task, labels = self._task(X, y, weights, numbers)
        if any(map(_is_object, own)):
            y = labels[task.target] if not numbers and (own_type(y) or is_arrow(y)) else y
            task = replace(task, source=Source(X.tocsr() if is_sparse(X) else X, None if numbers else labels, y))
        if numbers:
            check_squares(np.asarray(task.target, np.float64))
        self._numbers, self._labels = numbers, labels
        return task, entries

    def _task(self, X: object, y: object, weights: object, numbers: bool) -> tuple[Task, NDArray[np.generic]]:
        """The rows as the estimators of this package read them, and the labels of classes."""
        if numbers:
            return numbers_of(self, X, y, weights), np.zeros(0)
        return task_of(self, X, y, weights)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the classes; AttributeError where the target is a number, and where no final estimator was wanted.

        Examples
        --------
        >>> hasattr(SelectionCV("trees"), "classes_")
        False
        """
        if "best_estimator_" not in vars(self) or self._numbers:
            raise AttributeError(f"this {type(self).__name__} has no classes_: it is not fitted, or predicts numbers")
        return self._labels

    def _parts(self, task: Task, entries: object) -> tuple[Scorings, Any, BaseScheme | None, tuple[Candidate, ...]]:
        """Measures, rule, scheme and candidates; raises ConfigurationError with every problem."""
        folders = Folders.of()
        builder = Builder(folders if isinstance(task, ClassTask) else folders.for_numbers())
        if self.task not in (AUTO, CLASSIFY, REGRESS):
            fix = f"one of {AUTO}, {CLASSIFY}, {REGRESS}"
            builder.problems.append(Problem("MSEL-815", f"{self.task!r} is not a kind of target", "task", fix))
        rule = builder.part("rule", _as_mapping(self.rule), "rule")
        search = builder.record(SearchSettings, _as_mapping(self.search) or {}, "search") or SearchSettings()
        scorings = scorings_of(self.scoring, self.measure, self.refit, builder, task.kind)
        if not self.record:
            builder.problems.extend(search.by_the_clock())
        scheme = None if self.scheme is None else builder.part("scheme", _as_mapping(self.scheme), "scheme")
        around = Predefined() if self.scheme is None else scheme  # what a study makes of the folds of a splitter
        builder.context = BuildContext.of(scorings.chooses.measure, around, self.seed, task.kind)
        space = expand(entries, builder, search=search)
        builder.problems.extend(search.by_scores(bool(space.adaptive)))
        if self.scoring is None and self.measure is None and not builder.problems and judge_themselves(space.candidates):
            scorings = scorings_of(own_score, None, self.refit, builder, task.kind)
        builder.problems.extend(_misjudging(scorings, task))
        ConfigurationError.raise_if(builder.problems)
        reads = any(one.measure.needs_scores for one in scorings.each.values())
        return scorings, rule, scheme, resolve(_one_by_one(space.candidates), task, self.seed, scores=reads)

    def _resampling(self, task: Task, groups: object, scheme: BaseScheme | None) -> Resampling:
        """Make the folds of a scikit-learn splitter, or of a scheme."""
        if scheme is None:
            if task.units is not None and (self.cv is None or isinstance(self.cv, int)):
                return _by_units(task, 5 if self.cv is None else self.cv, self.seed)
            classes = isinstance(task, ClassTask)
            splitter, y = check_cv(self.cv, task.target, classifier=classes), task.target
            said = self._labels[y] if classes and not own_type(self._labels) else y
            with explain_refusals(said, len(task), numbers=not classes):
                return splitter_folds(task, list(splitter.split(np.zeros(len(task)), said, groups)))
        if reasons := list(scheme.problems(task)):
            raise ValueError("; ".join(map(in_words_of_fit, reasons)))
        counts = np.flatnonzero(task.row_weights > 0)
        return _among(scheme.instantiate(task.take(counts), self.seed), counts, task)

    def _apply_error_score(self, found: CandidateScores, scorings: Scorings) -> CandidateScores:
        """What becomes of fits that failed: `error_score`; ValueError where all did."""
        failed = np.isnan(found.board.folds)
        if not failed.any():
            return found
        reason = next(filter(None, found.reasons), "")
        if self.error_score == "raise" or (failed.any(axis=1).all() and np.isnan(self.error_score)) or failed.all():
            said = f"All the {failed.size} fits failed" if failed.all() else "no candidate finished every fold"
            raise ValueError(f"{said}: {reason}")
        warn(
            f"\n{failed.sum()} fits failed out of a total of {failed.size}.\nThe score on these train-test partitions for "
            f"these parameters will be set to {self.error_score}; error_score='raise' raises instead.\n\n"
            f"{failed.sum()} fits failed with the following error:\n{reason}", FitFailedWarning, stacklevel=3,
        )  # fmt: skip
        return (
            found if np.isnan(self.error_score) else found.fill_failed(float(self.error_score), scorings.chooses, scorings.each)
        )

    def _set_results(self, found: CandidateScores, scorings: Scorings, candidates: Sequence[Candidate]) -> None:
        """Set `cv_results_` and what the scores were."""
        self._scorer, self.multimetric_ = scorings.chooses.scorer, scorings.several
        self.scorer_ = (
            {name: one.scorer for name, one in scorings.each.items()} if scorings.several else scorings.chooses.scorer
        )
        self.cv_results_ = results(found, scorings, parameters(candidates))

    def _choose(self, found: CandidateScores, rule: BaseRule, bounds: Sequence[Any], scorings: Scorings) -> None:
        """Set the winner: by the rule, or by the function that was given; none where no one of several scores chooses."""
        if callable(self.refit):
            index = self.refit(self.cv_results_)
            if not isinstance(index, int | np.integer):
                raise TypeError(f"best_index_ returned is not an integer: refit returned {index!r}")
            if not 0 <= index < len(self.cv_results_["params"]):
                raise IndexError(f"best_index_ index out of range: refit returned {index}")
            self.best_index_, self.corrected_score_ = int(index), None
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            return
        if scorings.several and self.refit is False:
            return
        if not among(found.board, bounds).eligible.any():
            near = nearest(found.board, bounds)
            said = ", ".join(f"{bound.name} {found.board.beside[bound.name][near]:.4g}" for bound in bounds)
            raise ValueError(f"no candidate has {' and '.join(map(str, bounds))}: the nearest, {near}, has {said}")
        self.best_index_ = int(rule.choose(found.board))
        name = scorings.name or "score"
        self.best_score_ = float(self.cv_results_[f"mean_test_{name}"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.corrected_score_ = found.corrected_score(rule, self.best_index_, scorings.chooses.sign, scorings.chooses.offset)

    def _refit(self, candidate: Candidate, task: Task) -> None:
        """Fit the winner on all rows that have weight, and time it."""
        began = perf_counter()
        try:
            final = fit(candidate, task, self.seed, np.flatnonzero(task.row_weights > 0))
        except DataError as error:
            raise ValueError(str(error)) from error
        if isinstance(candidate.learner, Object):
            model: Any = final.model
            self.best_estimator_ = model.estimator
            for name in FITTED:
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        else:
            self.best_estimator_ = self._own(candidate, final)
        self.refit_time_ = perf_counter() - began

    def _own(self, candidate: Candidate, final: Any) -> Classifier | Regressor:
        """A learner of this package in the form of a classifier or regressor."""
        best = (Regressor if self._numbers else Classifier)(dict(candidate.spec), None, self.seed, self.weights_are)
        best.final_, best.n_features_in_ = final, self.n_features_in_
        if isinstance(best, Classifier):
            best.classes_ = self._labels
        if hasattr(self, "feature_names_in_"):
            best.feature_names_in_ = self.feature_names_in_
        return best

    def _compute_scores(
        self, task: Task, resampling: Resampling, scorings: Scorings, candidates: tuple[Candidate, ...],
        shown: Mapping[str, BaseMeasure], entries: object, training: Training | None,
    ) -> CandidateScores:  # fmt: skip
        """Compute the scores of all candidates on all folds: in memory, or by a study that is kept as `outcome_`."""
        measure = scorings.chooses.measure
        if not self.record:
            plan, workers = make(candidates, task, resampling), self.n_jobs or 1
            shows = SearchLines(self.verbose, candidates, len(resampling.folds), scorings.chooses)
            shows.begin()
            return compute_cells(plan, task, resampling, measure, self.seed, workers, shown, training, shows.cell, self.seconds)
        from modelsel.api.search import recorded

        ConfigurationError.raise_if(self._list_unrecordable(scorings))
        if isinstance(task, ClassTask):
            task = replace(task, classes=recorded.classes_of(task, self._labels))
        scheme: object = _as_mapping(self.scheme)
        of_kind = CLASSIFY if isinstance(task, ClassTask) else REGRESS
        if self.scheme is None:
            (task, resampling), scheme = recorded.with_folds(task, resampling), "predefined"
        settings = {
            "space": entries, "rule": self.rule, "seed": self.seed, "scheme": scheme,
            "search": _as_mapping(self.search) or {}, "task": of_kind,
            "measure": measure_of(self.scoring, self.measure, task.kind),
            "pool": {"kind": "auto", "n_jobs": self.n_jobs or 1}, "ensemble": {"kind": "off"},
            **({} if self.seconds is None else {"deadline": self.seconds}), **({} if self.record is True else self.record),
        }  # fmt: skip
        self.outcome_, found = recorded.study_of(task, resampling, candidates, self._labels, measure, settings)
        return found

    def _list_unrecordable(self, scorings: Scorings) -> Iterator[Problem]:
        """A study is judged by one measure of modelsel's, and keeps no scores of the rows that were fitted on."""
        if scorings.several or isinstance(scorings.chooses.measure, Asked):
            own = "mse, mae, r2" if self._numbers else "auc, log_loss, brier, balanced_error"
            fix = f"give measure= ({own}, ...), or record=False"
            yield Problem("MSEL-814", "a study has no scorer of scikit-learn's", "record=True, scoring=", fix)
        if self.return_train_score:
            yield Problem("MSEL-814", "a study keeps no scores on training rows", "record=True", "leave return_train_score out")


def _one_of(groups: Any, unit: object) -> object:
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


def _kinds(space: object) -> set[tuple[str, ...]]:
    """The kinds of target that the estimator objects of a space read, but for objects that say nothing of it."""
    entries = as_space(space)
    each = list(entries.values()) if isinstance(entries, Mapping) else []
    found = [one[0] if isinstance(one, tuple) and one else one for one in each]
    return {kinds for one in found if hasattr(one, "get_params") and not isclass(one) and (kinds := kinds_read(one))}


def _why_undefined(measure: BaseMeasure, task: Task, resampling: Resampling) -> Iterable[str]:
    """Why a measure of numbers is not defined; R² of rows of one value is what scikit-learn says, 1 or 0."""
    return measure.why_undefined(resampling) if isinstance(measure, R2) else measure.problems(task, resampling)


def _misjudging(scorings: Scorings, task: Task) -> Iterator[Problem]:
    """Yield the scores that do not judge the kind of target that there is."""
    for name, one in scorings.each.items():
        if task.kind not in getattr(one.measure, "reads", CLASS_TASKS):
            what = f"{kind_of(one.measure)} does not judge {task.kind}"
            where = f"scoring.{name}" if scorings.several else "measure"
            fix = f"take another score, or set task={REGRESS if task.kind == 'classes' else CLASSIFY!r}"
            yield Problem("MSEL-815", what, where, fix)


def _reads_given_folds(candidate: Candidate) -> bool:
    """Say whether the folds of a splitter teach a candidate's calibrator or threshold, or stop its fit."""
    learner: Any = candidate.learner
    while learner is not None:
        read = getattr(learner, "validation", None), getattr(getattr(learner, "crossing", None), "scheme", None)
        if any(isinstance(one, Predefined) for one in read):
            return True
        learner = getattr(learner, "base", None)
    return False


def _as_mapping(part: object) -> Any:
    return {"kind": part} if isinstance(part, str) else dict(part) if isinstance(part, Mapping) else part


def _single_estimator(space: object) -> object:
    """The estimator of a space that is one estimator with its grid; None for any other."""
    each = list(as_space(space).values()) if isinstance(as_space(space), Mapping) else []
    found = each[0][0] if len(each) == 1 and isinstance(each[0], tuple) else each[0] if len(each) == 1 else None
    return found if hasattr(found, "get_params") else None


def _is_object(entry: object) -> bool:
    """Say whether an entry is an estimator object that is fitted as it is."""
    learner = entry.get("learner") if isinstance(entry, Mapping) else None
    return isinstance(learner, Mapping) and learner.get("kind") == OBJECT


def _wants_numbers(estimator: object) -> bool:
    """Say whether an entry is one estimator whose tags forbid missing values; a pipeline may fill them itself."""
    return not is_pipeline(estimator) and not takes_nan(estimator)


# Folds of a scikit-learn splitter as a resampling.

GIVEN = "given"  # the scheme's name of folds that a splitter made


def _one_by_one(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that have a fit of their own; an ensemble is left to studies, which is said."""
    left = {candidate.entry: None for candidate in candidates if candidate.of_others}
    if left:
        what = f"SelectionCV leaves the ensemble {', '.join(left)} out: it is picked from finished candidates"
        warn(f"{what}; modelsel.run(...) has it", UserWarning, stacklevel=4)
    return tuple(candidate for candidate in candidates if not candidate.of_others)


def _among(resampling: Resampling, counts: Integers, task: Task) -> Resampling:
    """Folds of the rows that count, as positions among all rows."""
    if len(counts) == len(task):
        return resampling
    folds = tuple(
        replace(fold, analysis=counts[fold.analysis], assessment=counts[fold.assessment]) for fold in resampling.folds
    )
    return replace(resampling, task_fingerprint=task.fingerprint, folds=folds)


def splitter_folds(task: Task, splits: Sequence[tuple[Any, Any]]) -> Resampling:
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
