"""scikit-learn's names and signs of scores, and modelsel's measures under the same roof.

`accuracy` is 1 − error; any other scorer is asked as scikit-learn asks it, of what a candidate says about the fold.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer_names

from modelsel.config.build import Builder
from modelsel.config.fields.suggest import near
from modelsel.config.sources.folders import Folders
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.protocols.evaluation import Measure
from modelsel.core.types import Codes, Floats, Outputs, Resampling, Task
from modelsel.estimator import Classifier


@dataclass(frozen=True, eq=False)
class Scoring:
    """A score is `sign` × measure + `offset`; `scorer` scores a fitted estimator on rows."""

    measure: Measure
    sign: float
    offset: float
    scorer: Callable[..., float]


def scoring_of(scoring: Any, measure: Any, builder: Builder | None = None) -> Scoring:
    """Resolve `scoring` and `measure`; problems go to the builder, or are raised as ConfigurationError."""
    own = builder or Builder(Folders.of())
    if scoring is not None and measure is not None:
        own.problems.append(Problem("MSEL-813", "scoring and measure are both given", "SelectionCV", "give one of them"))
    wrong = [*_unscored(scoring)]
    own.problems.extend(wrong)
    asked = measure is None and not wrong and scoring not in (None, "accuracy")
    made = _asked(scoring) if asked else _measured(measure or "error", own)
    if builder is None:
        ConfigurationError.raise_if(own.problems)
    return made


def _unscored(scoring: Any) -> Iterator[Problem]:
    """Yield the problems of `scoring`: several scorers, or a name that scikit-learn does not know."""
    if isinstance(scoring, list | tuple | set | dict):
        fix = "give the one that is to choose"
        yield Problem("MSEL-815", f"{len(scoring)} scores cannot choose one candidate", "scoring", fix)
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        yield Problem("MSEL-815", f"unknown scorer {scoring!r}", "scoring", near(scoring, get_scorer_names()))


def _measured(measure: Any, builder: Builder) -> Scoring:
    """Build a measure of modelsel's as a scorer; error is turned into accuracy."""
    built = builder.part("measure", {"kind": measure} if isinstance(measure, str) else dict(measure), "measure")
    sign = 1.0 if getattr(built, "higher_is_better", False) else -1.0
    offset = 1.0 if measure == "error" else 0.0

    def scorer(estimator: Any, X: Any, y: Any, weights: Any = None) -> float:
        truth = np.searchsorted(estimator.classes_, np.asarray(y)).astype(np.int32)
        labels = np.searchsorted(estimator.classes_, estimator.predict(X)).astype(np.int32)
        outputs = Outputs(labels[None], estimator.predict_proba(X)[None])
        own = None if weights is None else np.asarray(weights, np.float64)
        return float(sign * built.score(truth, outputs, own, len(estimator.classes_))[0] + offset)

    return Scoring(built, sign, offset, scorer)


def _asked(scoring: Any) -> Scoring:
    """Wrap a scorer of scikit-learn's."""
    found = check_scoring(Classifier("majority"), scoring=scoring)

    def scorer(estimator: Any, X: Any, y: Any, weights: Any = None) -> float:
        return float(found(estimator, X, y) if weights is None else found(estimator, X, y, sample_weight=weights))

    return Scoring(Asked(found), 1.0, 0.0, scorer)


@dataclass(frozen=True, eq=False)
class Asked:
    """A scorer of scikit-learn's as a measure; classes are their positions."""

    scorer: Any
    higher_is_better = True
    needs_scores = True
    over_rows = False

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from ()

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Ask the scorer once for each candidate."""
        assert outputs.scores is not None
        extra = {} if weights is None else {"sample_weight": weights}
        pairs = zip(outputs.predicted, outputs.scores, strict=True)
        rows = np.zeros((len(truth), 1))
        return np.array([self.scorer(_Said(classes, *pair), rows, truth, **extra) for pair in pairs], np.float64)

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("a scorer is no mean over rows")


class _Said(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose answers for the rows are known already."""

    def __init__(self, classes: int = 2, labels: Any = None, scores: Any = None) -> None:
        self.classes, self.labels, self.scores = classes, labels, scores
        self.classes_ = np.arange(classes)

    def predict(self, X: Any) -> Any:
        return self.labels

    def predict_proba(self, X: Any) -> Any:
        return self.scores

    def __sklearn_is_fitted__(self) -> bool:
        return True
