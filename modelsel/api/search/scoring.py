"""scikit-learn's names and signs of scores, and modelsel's measures under the same roof.

`accuracy` is 1 − error; `r2` and the negative mean squared and absolute errors of numbers are modelsel's too (`SAME`). Any
other scorer is asked as scikit-learn asks it: of a fitted estimator, with the rows and targets of the fold as the caller gave
them, and their weights where it takes `sample_weight`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from numbers import Number
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import available_if

from modelsel.config.build import Builder
from modelsel.config.folders import Folders
from modelsel.config.suggest import near
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import (
    CLASS_TASKS,
    DECISIONS,
    NUMBER_TASKS,
    PROBABILITIES,
    Candidate,
    Codes,
    Floats,
    Fold,
    Integers,
    NumberOutputs,
    Outputs,
    TaskKind,
    scores_are,
)
from modelsel.estimator import Classifier, LearnerEstimator, Regressor, has_decisions, has_probabilities, one_column
from modelsel.foreign.allowed import NotAllowedError, class_of, public_name
from modelsel.foreign.interface import decisions
from modelsel.foreign.libraries import is_pairwise, kinds_read
from modelsel.learner.fitted_estimator import places_of
from modelsel.learner.object import Object
from modelsel.measure.base import BaseMeasure
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.final_fit import fit

SAME: Mapping[TaskKind, Mapping[str, str]] = {  # scikit-learn's scorers that are measures of modelsel's, the usual one first
    "classes": {"accuracy": "error"},
    "numbers": {"r2": "r2", "neg_mean_squared_error": "mse", "neg_mean_absolute_error": "mae"},
}


def read_by(search: Any) -> dict[str, object]:
    """Attributes that tell what a search has read of its rows; its fitted estimators have them too."""
    found = {name: value for name, value in vars(search).items() if name in ("n_features_in_", "feature_names_in_")}
    return found if search._numbers else {"classes_": search._labels, **found}


def measure_of(scoring: object, measure: object, kind: TaskKind) -> object:
    """The measure of modelsel's that a score is; None for a scorer that only scikit-learn has.

    >>> measure_of("neg_mean_squared_error", None, "numbers"), measure_of(None, None, "classes")
    ('mse', 'error')
    """
    if measure is not None or scoring is None:
        return measure or next(iter(SAME[kind].values()))
    return SAME[kind].get(scoring) if isinstance(scoring, str) else None


@dataclass(frozen=True, eq=False)
class Scoring:
    """A score is `sign` × measure + `offset`; `scorer` scores a fitted estimator on rows."""

    measure: BaseMeasure
    sign: float
    offset: float
    scorer: Callable[..., float]

    def on_rows(self, search: object, X: object, y: object, weights: object) -> "Scoring":
        """Return the scoring for the rows of a search, which a scorer of scikit-learn's reads as they were given."""
        return replace(self, measure=self.measure.of(search, X, y, weights)) if isinstance(self.measure, Asked) else self


@dataclass(frozen=True, eq=False)
class Scorings:
    """The score that chooses, and those beside it by the names that they were given; `name` is that of the one that chooses."""

    chooses: Scoring
    name: str = ""
    beside: Mapping[str, Scoring] = field(default_factory=dict)

    @property
    def several(self) -> bool:
        """Say whether names stand in the keys of `cv_results_`."""
        return bool(self.name)

    @property
    def each(self) -> dict[str, Scoring]:
        """All scores in the order in which they were declared; a single one is called `score`."""
        return {name: self.chooses if name == self.name else self.beside[name] for name in self.beside} or {
            "score": self.chooses
        }

    def on_rows(self, search: object, X: object, y: object, weights: object) -> "Scorings":
        """Return the scoring for the rows of a search, which a scorer of scikit-learn's reads as they were given."""
        told = {name: one.on_rows(search, X, y, weights) for name, one in self.beside.items()}
        return replace(self, chooses=self.chooses.on_rows(search, X, y, weights), beside=told)


def scorings_of(scoring: Any, measure: object, refit: Any, builder: Builder, kind: TaskKind = "classes") -> Scorings:
    """Resolve one score or several, of which `refit` names the one that chooses. Problems go to the builder."""
    if not isinstance(scoring, list | tuple | set | dict):
        return Scorings(scoring_of(scoring, measure, builder, kind))
    named = dict(scoring) if isinstance(scoring, dict) else {str(one): one for one in scoring}
    if not named or not all(isinstance(name, str) for name in named) or len(named) < len(scoring):
        what = "several scores are a list of different names, or a mapping of names to scorers"
        builder.problems.append(Problem("MSEL-815", what, "scoring", 'write ["accuracy", "roc_auc"]'))
        return Scorings(scoring_of(None, None, builder, kind))
    if refit is not False and not callable(refit) and refit not in named:
        what = f"For multi-metric scoring, the parameter refit must be set to a scorer key, which chooses: it is {refit!r}"
        builder.problems.append(Problem("MSEL-815", what, "refit", f"one of {', '.join(named)}; or False"))
    each = {name: scoring_of(one, measure, builder, kind) for name, one in named.items()}
    name = refit if refit in each else next(iter(each))
    return Scorings(each[name], name, each)


def scoring_of(scoring: object, measure: object, builder: Builder | None = None, kind: TaskKind = "classes") -> Scoring:
    """Resolve `scoring` and `measure`; problems go to the builder, or are raised as ConfigurationError."""
    own = builder or Builder(Folders.of())
    if scoring is not None and measure is not None:
        own.problems.append(Problem("MSEL-813", "scoring and measure are both given", "SelectionCV", "give one of them"))
    wrong = [*_scoring_problems(scoring, own.folders.options("measure"))]
    own.problems.extend(wrong)
    said = measure_of(None if wrong else scoring, measure, kind)
    made = _wrap_scorer(scoring, kind, own) if said is None else _measure_scorer(said, own)
    if builder is None:
        ConfigurationError.raise_if(own.problems)
    return made


def _scoring_problems(scoring: Any, measures: Iterable[str]) -> Iterator[Problem]:
    """Yield the problems of `scoring`: several scorers, a name that scikit-learn does not know, or no scorer at all."""
    if isinstance(scoring, str):
        if scoring not in get_scorer_names():
            own = f"measure={scoring!r} is modelsel's own; or " if scoring in measures else ""
            yield Problem("MSEL-815", f"unknown scorer {scoring!r}", "scoring", own + near(scoring, get_scorer_names()))
    elif scoring is not None and not callable(scoring):
        fix = "give a name of scikit-learn's, or a callable of (estimator, X, y)"
        yield Problem("MSEL-815", f"{scoring!r} is not a scorer", "scoring", fix)
    elif str(getattr(scoring, "__module__", "")).startswith("sklearn.metrics.") and hasattr(scoring, "__name__"):
        fix = f"give make_scorer({scoring.__name__}), or the name of a scorer"
        yield Problem("MSEL-815", f"{scoring.__name__} is a metric of labels, no scorer of an estimator", "scoring", fix)


def _measure_scorer(measure: Any, builder: Builder) -> Scoring:
    """Build a measure of modelsel's as a scorer; error is turned into accuracy."""
    built = builder.part("measure", {"kind": measure} if isinstance(measure, str) else dict(measure), "measure")
    sign = 1.0 if getattr(built, "higher_is_better", False) else -1.0
    offset = 1.0 if measure == "error" else 0.0

    return Scoring(built, sign, offset, Measured(built, measure == "error", sign, offset))


@dataclass(frozen=True)
class Measured:
    """A measure of modelsel's asked of a fitted estimator, as a scorer of scikit-learn's is."""

    measure: BaseMeasure
    accuracy: bool
    sign: float
    offset: float

    def __call__(self, estimator: Any, X: object, y: object, weights: object = None) -> float:
        """The score: higher is better."""
        if self.accuracy:
            return float(accuracy_score(y, estimator.predict(X), sample_weight=weights))
        own = None if weights is None else np.asarray(weights, np.float64)
        if "numbers" in getattr(self.measure, "reads", CLASS_TASKS):
            said = NumberOutputs(np.asarray(estimator.predict(X), np.float64).reshape(1, -1))
            return float(self.sign * self.measure.score(np.asarray(y, np.float64).ravel(), said, own, 0)[0] + self.offset)
        classes = np.asarray(estimator.classes_)
        truth, labels = (places_of(classes, np.asarray(each).ravel()).astype(np.int32) for each in (y, estimator.predict(X)))
        outputs = Outputs(labels[None], _scores_of(estimator, X)[None] if self.measure.needs_scores else None)
        return float(self.sign * self.measure.score(truth, outputs, own, len(classes))[0] + self.offset)


def _scores_of(estimator: Any, X: object) -> Floats:
    """Class scores of a fitted estimator: one of this package's, or one that was handed over."""
    if isinstance(estimator, Classifier):
        return estimator.final_.scores(estimator._table_of(X))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), np.float64)
    return decisions(estimator, X, np.arange(len(estimator.classes_)), len(estimator.classes_))


def judge_themselves(candidates: Sequence[Candidate]) -> bool:
    """Say whether all are objects, and one has a `score` of its own that is neither accuracy nor r2."""
    objects = [candidate.learner for candidate in candidates if isinstance(candidate.learner, Object)]
    if len(objects) < len(candidates) or any(True for one in objects for _ in one.problems()):
        return False
    return any(_judges_itself(one.made) for one in objects)


def _judges_itself(made: object) -> bool:
    """Whether an estimator, a pipeline's last one, has a `score` of its own: those of known classifiers are accuracy."""
    if steps := getattr(made, "steps", None):
        return _judges_itself(steps[-1][1])
    if kinds_read(made) == NUMBER_TASKS:
        return getattr(type(made), "score", RegressorMixin.score) is not RegressorMixin.score
    try:
        return class_of(public_name(type(made))) is not type(made)
    except NotAllowedError:
        return getattr(type(made), "score", ClassifierMixin.score) is not ClassifierMixin.score


def own_score(estimator: Any, X: object, y: object) -> float:
    """The `score` of an estimator that says itself how it is to be judged."""
    return float(estimator.score(X, y))


def _wrap_scorer(scoring: object, kind: TaskKind, builder: Builder) -> Scoring:
    """Wrap a scorer of scikit-learn's, with the measure of modelsel's of its name: that which thresholds serve."""
    asked = Asked(scoring if callable(scoring) else get_scorer(scoring), (kind,))
    if kind == "classes" and isinstance(scoring, str) and scoring in builder.folders.options("measure"):
        asked = replace(asked, served=builder.part("measure", {"kind": scoring}, "scoring"))
    elif asked.response not in (None, "predict"):
        asked = replace(asked, served=asked)
    return Scoring(asked, 1.0, 0.0, AskedAlone(asked))


@dataclass(frozen=True)
class AskedAlone:
    """A scorer of scikit-learn's, which gets weights where there are some."""

    asked: "Asked"

    def __call__(self, estimator: object, X: object, y: object, weights: object = None) -> float:
        """The score: higher is better."""
        return self.asked.call_scorer(estimator, X, y, {} if weights is None else {"sample_weight": weights})


def _takes_weights(scorer: Any) -> bool:
    """Say whether a scorer takes `sample_weight`, as scikit-learn's searches find it out."""
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    try:
        return "sample_weight" in signature(scorer).parameters
    except ValueError:  # of compiled code
        return False


@dataclass(frozen=True, eq=False)
class GivenRows:
    """The rows of a search as its caller gave them, and the fitted search's attributes that say what a classifier read."""

    X: object
    y: object
    weights: object  # None too where the scorer does not take them
    attributes: Mapping[str, object]

    def part(self, rows: Integers, against: Integers | None = None) -> tuple[Any, Any, dict[str, Any]]:
        """X and y of some rows, of the types that they were given in, and their weights by keyword.

        `against`: of kernels and distances the columns that stand for these rows.
        """
        weights = {} if self.weights is None else {"sample_weight": _safe_indexing(self.weights, rows)}
        X = _safe_indexing(self.X, rows)
        return X if against is None else X[:, against], _safe_indexing(self.y, rows), weights


@dataclass(frozen=True, eq=False)
class Asked(BaseMeasure):
    """A scorer of scikit-learn's as a measure, which is asked of candidates on a fold (`on`)."""

    scorer: Any
    reads: tuple[TaskKind, ...] = CLASS_TASKS  # type: ignore[misc]  # of each scorer its own
    given: GivenRows | None = None
    asked: tuple[RunContext, Fold, tuple[Candidate, ...], Sequence[object]] | None = None
    served: BaseMeasure | None = None  # the measure of modelsel's that it is, where it reads classes; itself where it does not
    higher_is_better = True
    over_rows = False
    ranks = False  # what it reads of an estimator is its own affair

    @property
    def needs_scores(self) -> bool:  # type: ignore[override]  # as it reads
        """True where there are classes."""
        return self.reads == CLASS_TASKS

    @property
    def needs_probabilities(self) -> bool:  # type: ignore[override]  # as it asks
        """True where it asks for `predict_proba` and nothing else."""
        return bool(self.response == "predict_proba")

    @property
    def name(self) -> str:
        """The scorer as scikit-learn writes it."""
        return f"scoring={self.scorer}"

    @property
    def response(self) -> object:
        """The method of the estimator that is read, or several of which one will do; None where only the callable knows."""
        return getattr(self.scorer, "_response_method", None)

    def of(self, search: object, X: object, y: object, weights: object) -> "Asked":
        """The scorer of a fitted search's rows; one that takes no weights is not given any, and the caller is warned."""
        if weights is not None and not _takes_weights(self.scorer):
            warn(f"{self.scorer} takes no sample_weight: fits count the weights, scores do not", UserWarning, stacklevel=3)
            weights = None
        X, y, weights = indexable(X, y, weights)
        return replace(self, given=GivenRows(X, y, weights, read_by(search)))

    def on(self, work: RunContext, fold: Fold, candidates: Sequence[Candidate], fits: Sequence[object] = ()) -> "Asked":
        """The scorer of these candidates, in their order, on the assessment rows of a fold; `fits` are of estimator objects."""
        return replace(self, asked=(work, fold, tuple(candidates), fits))

    def score(self, truth: Codes, outputs: Outputs, weights: object | None, classes: int) -> Floats:
        """Ask the scorer once for each candidate, of the fold's rows and labels as the caller gave them."""
        assert self.asked is not None
        assert self.given is not None
        work, fold, candidates, fits = self.asked
        X, y, extra = self.given.part(fold.assessment)
        found = []
        for place, candidate in enumerate(candidates):
            said = fitted_on(candidate, work, fold, fits, self.given.attributes)
            if not isinstance(said, LearnerEstimator) and is_pairwise(said):
                X = self.given.part(fold.assessment, fold.analysis)[0]
            if isinstance(said, AnsweredClassifier):
                assert outputs.scores is not None
                said.either_will_do = isinstance(self.response, list | tuple)
                said.that_said(X, outputs.predicted[place], outputs.scores[place])
            elif isinstance(said, AnsweredRegressor):
                said.that_said(X, outputs.predicted[place])
            try:
                found.append(self.call_scorer(said, X, y, extra))
            except Exception as error:
                if absent := [label for code, label in enumerate(getattr(work.task, "classes", ())) if code not in truth]:
                    what = f"{self.scorer} failed on fold {fold.index}, which assesses no row of {', '.join(absent)}"
                    fix = "take fewer folds, or a measure= of modelsel's, which knows all classes"
                    raise ValueError(f"{what}: {error}; {fix}") from error
                error.add_note(f"while {self.scorer} scored {candidate.entry} on fold {fold.index}")
                raise
        return np.array(found, np.float64)

    def call_scorer(self, estimator: object, X: object, y: object, extra: Mapping[str, object]) -> float:
        """Score a fitted estimator; ValueError for an answer that is not a number."""
        found = self.scorer(estimator, X, y, **extra)
        if isinstance(found, np.generic | np.ndarray) and found.size == 1:
            found = found.item()
        if not isinstance(found, Number):
            raise ValueError(f"scoring must return a number, and {self.scorer} returned {found!r}")
        return float(found)  # type: ignore[arg-type]

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("a scorer is not a mean over rows")


def fitted_on(
    candidate: Candidate, work: RunContext, fold: Fold, fits: Sequence[Any], attributes: Mapping[str, object]
) -> object:
    """A candidate fitted on the analysis rows of a fold: an estimator object itself, another as a classifier or regressor."""
    key = candidate.learner.fit_key() if isinstance(candidate.learner, Object) else None
    for path in fits if key is not None else ():
        if path.learner.fit_key() == key:
            return path.model(candidate.learner).estimator
    if key is not None:
        model: Any = fit(candidate, work.task, work.seed, fold.analysis).model
        return model.estimator
    answered = AnsweredClassifier if work.task.kind == "classes" else AnsweredRegressor
    return answered.of(candidate, work, fold, attributes)


class Answered(LearnerEstimator):
    """A candidate fitted on a fold, whose answers for the fold's rows are known already.

    A scorer that asks it about other rows, or for anything else of the model, has it fitted then: the same fit.
    """

    _answers: tuple[Any, ...] = (None,)  # X itself, and what is said of it

    @classmethod
    def of(cls, candidate: Candidate, work: RunContext, fold: Fold, attributes: Mapping[str, object]) -> Self:
        """Nobody has asked it yet."""
        own = cls(dict(candidate.spec), None, work.seed)
        for name, value in attributes.items():
            setattr(own, name, value)
        own._learner = candidate.learner
        own._fit = partial(fit, candidate, work.task, work.seed, fold.analysis)
        return own

    def _has_answers_for(self, X: object) -> bool:
        return X is not None and X is self._answers[0]

    def __getattr__(self, name: str) -> Any:
        """Fit the final model where it is asked for the first time."""
        if name != "final_":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.final_ = self._fit()
        return self.final_


class AnsweredRegressor(Regressor, Answered):
    """A fitted candidate that predicts numbers."""

    def that_said(self, X: object, numbers: Floats) -> Self:
        """Itself, with its answers for these very rows."""
        self._answers = X, numbers
        return self

    def predict(self, X: object) -> Floats:
        return self._answers[1] if self._has_answers_for(X) else super().predict(X)


class AnsweredClassifier(Classifier, Answered):
    """A fitted candidate that predicts classes."""

    either_will_do = False  # probabilities or decision values

    def that_said(self, X: object, labels: Codes, scores: Floats) -> Self:
        """Itself, with its answers for these very rows."""
        self._answers = X, labels, scores
        return self

    @property
    def scores_are(self) -> str:
        return scores_are(self._learner)

    @property
    def decides(self) -> bool:
        """Say whether decision values are asked for; a scorer that takes probabilities as well gets those that are known."""
        known = self.either_will_do and self.scores_are == PROBABILITIES
        return not known and bool(getattr(self._learner, "decides", False))

    def predict(self, X: object) -> NDArray[Any]:
        return self.classes_.take(self._answers[1]) if self._has_answers_for(X) else super().predict(X)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> Floats:
        return self._answers[2] if self._has_answers_for(X) else self.final_.scores(self._table_of(X))

    @available_if(has_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: object) -> Floats:
        if self._has_answers_for(X) and self.scores_are == DECISIONS:
            return one_column(self._answers[2])
        return one_column(self.final_.decisions(self._table_of(X)))
