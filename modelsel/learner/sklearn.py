"""Any installed scikit-learn classifier as a candidate, with the same folds, journal and guard as all others.

`estimator` is a name out of scikit-learn's own list of classifiers, never a dotted path; `params` are plain values. Nothing
is read off a shared fit. A fitted estimator is not written down (that would take pickle): its description is the recipe
(estimator, parameters, seed, digest of its rows), from which it can be fitted again where those rows are at hand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np

from modelsel.core.fingerprint import array_digest
from modelsel.core.spec import one_of, plain, spec_of
from modelsel.core.types import (
    PROBABILITIES,
    ClassTask,
    Codes,
    Description,
    Floats,
    Integers,
    Outputs,
    Table,
)
from modelsel.foreign.allowed import near
from modelsel.foreign.interface import decides, scores_of
from modelsel.foreign.libraries import takes_weights, told_on_sparse
from modelsel.foreign.parameters import Params
from modelsel.learner.base import BaseLearner, FittedModel, path_errors
from modelsel.learner.columns import ColumnEncoding, matrix_for
from modelsel.learner.fitted_estimator import Answering, EstimatorModel


@dataclass(frozen=True)
class Sklearn(BaseLearner):
    """Every parameter is a growing parameter. `random_state` follows the study's seed unless given."""

    estimator: str = plain("LogisticRegression", help="a name of sklearn.utils.all_estimators('classifier')")
    params: Mapping[str, Any] = plain(Params({}), help="keyword arguments of the estimator: plain values")
    encoding: str = one_of("one_hot", "ordinal", help="of nominal features; ranks stay numbers")
    missing: str = one_of("median", "keep", help="of numbers; keep: for estimators that take NaN")
    scale: str = one_of("none", "deviation", help="of numbers; machines and linear models want deviation, trees do not care")

    unit: ClassVar[str] = "columns"
    holds_gil: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", Params(self.params))

    @property
    def source(self) -> str:
        """The library that fits, and its version."""
        return f"scikit-learn {_version()}"

    @property
    def scores_are(self) -> str:
        """Probabilities, decision values or classes; of what cannot be made (`problems` tells why) nothing is known."""
        return PROBABILITIES if any(True for _ in self.problems()) else scores_of(self._made)

    @property
    def decides(self) -> bool:
        """True where it has decision values, beside probabilities or without."""
        return decides(self._made)

    @property
    def _made(self) -> object:
        return _classifiers()[self.estimator](**self.params)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the estimator's name and parameters, or with weights that it cannot take."""
        kind = _classifiers().get(self.estimator)
        if kind is None:
            yield f"scikit-learn has no classifier {self.estimator!r}{near(self.estimator, _classifiers())}"
            return
        known = _parameters(kind)
        for name in self.params:
            if name not in known:
                yield f"{self.estimator} has no parameter {name!r}{near(name, known)}"
        try:
            made = kind(**{name: value for name, value in self.params.items() if name in known})
        except TypeError:
            yield f"{self.estimator} needs other estimators, which cannot be given here"
            return
        if isinstance(task, ClassTask) and task.weights is not None and not takes_weights(made):
            yield f"{self.estimator} takes no weights, and this task has some"

    def refusal(self, task: ClassTask, rows: Integers) -> str | None:
        return None

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "SklearnPath":
        return _fit(self, task, rows, int(rng.integers(2**31 - 1)))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "SklearnModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "SklearnRecipe":
        """Check a recipe and rebuild it; the model is fitted again where it is needed."""
        facts = description.facts
        learner = Sklearn(**{field.name: facts["learner"][field.name] for field in fields(Sklearn)})
        problems = list(learner.problems())
        if problems or not isinstance(facts["random_state"], int) or not isinstance(facts["rows"], str):
            raise ValueError(f"sklearn: not a whole recipe {problems}")
        return SklearnRecipe(learner, facts["random_state"], facts["rows"], str(facts["version"]))


@dataclass(frozen=True, eq=False)
class SklearnPath:
    """A fitted estimator, which answers for itself alone."""

    answering: Answering
    recipe: "SklearnRecipe"
    seen: tuple[ClassTask, Integers]  # what it was fitted on

    def outputs(self, learners: Sequence[Sklearn], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute answers; without `predict_proba` scores are decision values, else the predicted class has the whole score."""
        return self.answering.outputs([None] * len(learners), table, rows, scores)

    def complexity(self, learners: Sequence[Sklearn]) -> Floats:
        return np.full(len(learners), self.answering.size(None))

    def training_error(self, learners: Sequence[Sklearn]) -> Floats:
        """NaN for estimators that search neighbours: every analysis row would be a search, and each finds itself."""
        if hasattr(self.answering.estimator, "kneighbors") or hasattr(self.answering.estimator, "radius_neighbors"):
            return np.full(len(learners), np.nan)
        return np.repeat(path_errors(self, learners[:1], *self.seen), len(learners))

    def model(self, learner: Sklearn) -> "SklearnModel":
        return SklearnModel(learner, self.answering, self.recipe.random_state, self.recipe.rows, self.recipe)


@dataclass(frozen=True, eq=False)
class SklearnModel(EstimatorModel):
    """A fitted estimator as a model, of which the recipe is written down."""

    abilities: ClassVar[str] = ""

    recipe: "SklearnRecipe"

    def describe(self) -> Description:
        return self.recipe.describe()


@dataclass(frozen=True)
class SklearnRecipe(FittedModel):
    """A recipe to fit it again: `rows` is the digest of the analysis rows, `version` scikit-learn's."""

    learner: Sklearn
    random_state: int
    rows: str
    version: str

    def __str__(self) -> str:
        return f"{self.learner.estimator} (scikit-learn {self.version})"

    def refit(self, task: ClassTask, rows: Integers) -> SklearnModel:
        """Fit again on the same rows. Raises ValueError when the rows are others, or scikit-learn is another version."""
        if rows_digest(task, rows) != self.rows:
            raise ValueError("these are not the rows that the model was fitted on")
        if _version() != self.version:
            raise ValueError(f"the model was fitted with scikit-learn {self.version}, this is {_version()}")
        return _fit(self.learner, task, rows, self.random_state).model(self.learner)

    def describe(self) -> Description:
        learner = {key: value for key, value in spec_of(self.learner).items() if key != "kind"}
        facts = {"learner": learner, "random_state": self.random_state, "rows": self.rows, "version": self.version}
        return Description("sklearn", facts)

    def predict(self, table: Table) -> Codes:
        raise ValueError("only the recipe of this scikit-learn model was kept: refit it on the development rows")

    def scores(self, table: Table) -> Floats:
        raise ValueError("only the recipe of this scikit-learn model was kept: refit it on the development rows")


def rows_digest(task: ClassTask, rows: Integers) -> str:
    """Digest of what a fit reads of some rows."""
    return array_digest(task.values[rows], task.target[rows], task.row_weights[rows])


def _fit(learner: Sklearn, task: ClassTask, rows: Integers, random_state: int) -> SklearnPath:
    """Fit the estimator on the encoded analysis rows."""
    kind = _classifiers()[learner.estimator]
    drawn = {"random_state": random_state} if "random_state" in _parameters(kind) else {}
    columns = ColumnEncoding.of(task, rows, learner.encoding, learner.missing, learner.scale)
    weights = {} if task.weights is None else {"sample_weight": task.weights[rows]}
    made = kind(**{**drawn, **learner.params})
    matrix = matrix_for(made, columns, task, rows)
    told = told_on_sparse(kind, learner.params) if hasattr(matrix, "nnz") else {}
    estimator = made.set_params(**told).fit(matrix, task.target[rows], **weights)
    recipe = SklearnRecipe(learner, random_state, rows_digest(task, rows), _version())
    labels, own = np.arange(len(task.classes)), np.asarray(estimator.classes_, np.int64)
    return SklearnPath(Answering(estimator, None, columns, (), own, len(labels), labels), recipe, (task, rows))


@cache
def _classifiers() -> dict[str, Any]:
    """scikit-learn's own list (imports all of it: a second or two, once)."""
    from sklearn.utils import all_estimators

    return dict(all_estimators(type_filter="classifier"))


def _parameters(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())


def _version() -> str:
    import sklearn

    return str(sklearn.__version__)
