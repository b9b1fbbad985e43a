"""Any classifier or regressor with scikit-learn's interface as a candidate: LightGBM, XGBoost, CatBoost, scikit-learn, ...

`estimator` is a dotted name that counts only if its package is on the allow-list (`foreign.allowed`), `params` are plain.
Where a sharing adapter knows the class (`modelsel/sharing/`), one fit answers every number of rounds or trees, or every
`ccp_alpha`, exactly as fits of their own would; what no adapter vouches for is fitted by itself. Each fit has one thread.

A fit that stops early holds back a part of its own analysis rows, divided as the scheme divides rows: the scheme makes its
folds once more, of the analysis rows alone, and the last one says which of them are fitted on and which are held. So groups
stay whole, classes stay in proportion, and what is held comes later in time, after the scheme's gap, where the scheme says so.
Rows of neither half are left out. A row that stands in the analysis part several times is on one side only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from modelsel.core.parts import FoldScheme
from modelsel.core.spec import FieldLimits, kind_of, make, one_of, optional_part, optional_whole, plain, spec_of
from modelsel.core.types import BOTH_TASKS, PROBABILITIES, ClassTask, Description, Feature, Integers, Table, Task, TaskKind
from modelsel.foreign import shrinkage
from modelsel.foreign.allowed import NotAllowedError, class_of, home_of
from modelsel.foreign.branches import BranchSpec, sources
from modelsel.foreign.branches import problems as branch_problems
from modelsel.foreign.interface import decides, scores_of
from modelsel.foreign.libraries import (
    Origin,
    conflicts,
    fits_in_threads,
    kinds_read,
    most_levels,
    takes_categories,
    takes_nan,
    takes_weights,
)
from modelsel.foreign.parameters import Params, settle_parameters, unknown_parameters, unwritable_parameters
from modelsel.learner.base import BaseLearner
from modelsel.learner.columns import trouble
from modelsel.learner.fitted_estimator import EstimatorModel, EstimatorPath, restore_estimator
from modelsel.sharing.adapter import Adapter, find

FEWEST = 2  # rows that can say when to stop


@dataclass(frozen=True)
class Holding:
    """The scheme that holds rows back, and the seed that it draws from where it has none of its own."""

    scheme: FoldScheme
    seed: int = 0

    def divide(self, task: Task, rows: Integers) -> tuple[Integers, Integers]:
        """Rows that are fitted on, and those that say when to stop; of the latter none of a class that nothing is fitted on.

        Raises ValueError where the scheme cannot divide these rows.
        """
        distinct = np.unique(rows)
        part = task.take(distinct)
        if reason := next(iter(self.scheme.problems(part)), ""):
            raise ValueError(reason)
        last = self.scheme.instantiate(part, self.seed).folds[-1]
        fitted, held = rows[np.isin(rows, distinct[last.analysis])], distinct[last.assessment]
        if np.isin(held, fitted).any():
            raise ValueError(f"scheme={kind_of(self.scheme)} judges rows that it is fitted on")
        if isinstance(task, ClassTask):
            held = held[np.isin(task.target[held], task.target[fitted])]
        if len(held) < FEWEST:
            few = f"holds {len(held)} of {len(distinct)} rows back, too few to stop by"
            raise ValueError(f"scheme={kind_of(self.scheme)} {few}")
        return fitted, held

    def objection(self, task: Task, rows: Integers) -> str | None:
        """Say why these rows cannot be divided; None where they can."""
        try:
            self.divide(task, np.asarray(rows))
        except ValueError as error:
            return f"early_stopping: no validation rows: {error}; say which: validation: {{kind: stratified_kfold, folds: 5}}"
        return None

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why the analysis rows of a fold cannot be divided: of the first fold of which that is so."""
        if any(True for _ in self.scheme.problems(task)):
            return  # it is said of the scheme itself
        for fold in self.scheme.instantiate(task, self.seed).folds:
            if reason := self.objection(task, fold.analysis):
                yield reason
                return


@dataclass(frozen=True)
class Estimator(BaseLearner):
    """The path parameter is that of the class's sharing adapter, where its conditions hold; all others are growing ones."""

    estimator: str = plain(
        "sklearn.linear_model.LogisticRegression", help="a class by its dotted name: lightgbm.LGBMClassifier"
    )
    params: Mapping[str, Any] = plain(Params({}), help="keyword arguments of the estimator: plain values")
    encoding: str = one_of(
        "auto", "one_hot", "ordinal", "native", "target", help="of nominal features; auto: native or one_hot"
    )
    missing: str = one_of("auto", "median", "keep", help="of numbers; auto: kept where the estimator says that it takes NaN")
    scale: str = one_of("none", "deviation", help="of numbers; machines and linear models want deviation, trees do not care")
    steps: tuple[Any, ...] | None = field(
        default=None,
        metadata={
            "optional": True,
            "limits": FieldLimits(help="steps by columns, in the place of encoding, missing and scale"),
        },
    )
    early_stopping: int | None = optional_whole(
        least=1, help="of boosting: rounds without a gain on rows held back of the analysis part, as the scheme divides rows"
    )
    validation: FoldScheme | None = optional_part(
        "scheme", help="divides the analysis part for early_stopping; a study puts its own here"
    )
    validation_seed: int | None = optional_whole(least=0, help="seed of a scheme that has none of its own; a study's")
    plugins: tuple[str, ...] = field(
        default=(), metadata={"identity": False, "limits": FieldLimits(help="packages allowed beside the list")}
    )

    no_training_error: ClassVar[str] = "every analysis row would have to be asked again of every candidate for it"

    def __post_init__(self) -> None:
        """Parameters and steps as values that can be hashed, and no more plug-ins than they need."""
        object.__setattr__(self, "params", Params(self.params))
        object.__setattr__(self, "steps", tuple(map(BranchSpec.of, self.steps)) if self.steps else None)
        validation: object = self.validation
        if isinstance(validation, Mapping):  # as a record writes it
            said = dict(validation)
            object.__setattr__(self, "validation", make("scheme", str(said.pop("kind")), **said))
        packages = {self.package, *(step.transformer.partition(".")[0] for spec in self.steps or () for step in spec.steps)}
        object.__setattr__(self, "plugins", tuple(sorted(packages & set(self.plugins))))

    @property
    def holds_gil(self) -> bool:  # type: ignore[override]  # as its class has it
        """True but for the few whose fits are sums of arrays alone: a process of its own would cost more than their fit."""
        return self.steps is not None or not fits_in_threads(self.estimator, self.params)

    @property
    def package(self) -> str:
        """The package that the estimator comes from."""
        return self.estimator.partition(".")[0]

    @property
    def cls(self) -> type:
        """The class itself. Raises NotAllowedError."""
        return class_of(self.estimator, self.plugins)

    @property
    def home(self) -> Origin:
        """The library of the class, with its version."""
        return home_of(self.package, self.plugins)

    @property
    def source(self) -> str:
        """The owner of the code, with its version: a part of the key under which answers are kept."""
        own = f"{self.home.distribution} {self.home.version}"
        return ", ".join(dict.fromkeys((own, *sources(self.steps or (), self.plugins))))

    @property
    def unit(self) -> str:  # type: ignore[override]  # as its class has it
        """Trees of an ensemble, leaves of a tree, effective parameters of a linear model, else columns."""
        if (adapter := find(self.cls)) is not None:
            return adapter.unit
        return shrinkage.UNIT if shrinkage.has_shrinkage(self.cls) else "columns"

    @property
    def reads(self) -> tuple[TaskKind, ...]:
        """A classifier reads classes, a regressor numbers; of what cannot be made (`problems` tells why) nothing is known."""
        return BOTH_TASKS if any(True for _ in self.problems()) else kinds_read(self.made)

    @property
    def coded(self) -> str:
        """The encoding of nominal features: native where the estimator takes it, unless another one is said."""
        auto = "native" if takes_categories(self.cls) else "one_hot"
        return auto if self.encoding == "auto" else self.encoding

    @property
    def adapter(self) -> Adapter | None:
        """The adapter that shares this candidate's fit with others; None where its conditions do not hold."""
        adapter = find(self.cls)
        return adapter if adapter and self.early_stopping is None and adapter.shares(self.params) else None

    @property
    def holding(self) -> Holding | None:
        """The scheme that holds validation rows back; None where the fit does not stop early."""
        if self.early_stopping is None or self.validation is None:
            return None
        own = getattr(self.validation, "seed", None)
        return Holding(self.validation, int(self.validation_seed or 0 if own is None else own))

    @property
    def scores_are(self) -> str:
        """Probabilities, decision values or classes; of what cannot be made (`problems` tells why) nothing is known."""
        return PROBABILITIES if any(True for _ in self.problems()) else scores_of(self.made)

    @property
    def decides(self) -> bool:
        """True where it has decision values, beside probabilities or without."""
        return decides(self.made)

    @property
    def made(self) -> object:
        """An estimator of these parameters, not fitted."""
        return self.cls(**settle_parameters(self.cls, self.params, 0))

    def fit_key(self) -> dict[str, object]:
        """Return the settings but for the path parameter, which a fit does not depend on."""
        spec, adapter = spec_of(self), self.adapter
        if adapter is not None:
            spec["params"] = {name: value for name, value in self.params.items() if name != adapter.parameter}
            spec["shared"] = adapter.parameter
            if side := adapter.side(self.params):
                spec["side"] = side
        return spec

    def with_value(self, value: object) -> "Estimator":
        """Return the learner with another value of the path parameter."""
        assert self.adapter is not None
        return replace(self, params={**self.params, self.adapter.parameter: value})

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the class, its parameters, or this task for it."""
        try:
            kind = self.cls
        except NotAllowedError as error:
            yield str(error)
            return
        wrong = [*unknown_parameters(kind, self.params), *unwritable_parameters(self.params)]
        yield from wrong
        if wrong:
            return
        try:
            made = kind(**settle_parameters(kind, self.params, 0))
        except Exception as error:
            yield f"{self.estimator} cannot be made from plain values: {error}"
            return
        yield from self._unfit(kind, made, task)

    def _unfit(self, kind: type, made: object, task: Table | None) -> Iterable[str]:
        """Yield why the estimator cannot be fitted, by itself or on this task."""
        if not kinds_read(made):
            yield f"{self.estimator} is not a scikit-learn classifier or regressor"
            return
        yield from self._stopping_problems(kind, task)
        if self.steps:
            yield from self._unfit_steps(made, task)
            return
        if self.encoding == "native" and not takes_categories(kind):
            yield f"{self.estimator} takes no categories: use encoding=one_hot or ordinal"
        if self.missing == "keep" and not takes_nan(made):
            yield f"{self.estimator} takes no missing values: use missing=auto or median"
        if self.encoding == "target" and "classes" not in kinds_read(made):
            yield "encoding=target codes classes, and this is a regressor: use encoding=one_hot or ordinal"
        if isinstance(task, Task):
            yield from self._unfit_for(kind, made, task)

    def _stopping_problems(self, kind: type, task: Table | None) -> Iterable[str]:
        """Yield why the fit cannot stop early."""
        if self.early_stopping is None:
            if self.validation is not None:
                yield "validation divides rows for early_stopping, which is not set: set it, or leave validation out"
            return
        wrong = list(conflicts(kind, self.params))
        yield from wrong
        if not wrong and self.holding is None:
            yield "early_stopping holds rows back as a study's scheme divides them, and there is none here: say validation"
        elif not wrong and self.holding is not None and isinstance(task, Task):
            yield from self.holding.problems(task)

    def _unfit_steps(self, made: object, task: Table | None) -> Iterable[str]:
        """Yield why the steps cannot be used, by themselves or on this task."""
        if beside := [name for name in ("encoding", "missing", "scale") if getattr(self, name) not in ("auto", "none")]:
            yield f"steps by columns say it all: leave {', '.join(beside)} out"
        wrong = list(branch_problems(self.steps or (), self.plugins))
        yield from wrong
        if isinstance(task, Task) and not wrong:
            yield from trouble(task, self.steps or (), self.plugins, made)
            yield from self._weight_problems(made, task)

    def _weight_problems(self, made: object, task: Task) -> Iterable[str]:
        if task.weights is not None and not takes_weights(made):
            yield f"{self.estimator} takes no weights, and this task has some"

    def _unfit_for(self, kind: type, made: object, task: Task) -> Iterable[str]:
        """Yield why the estimator cannot be fitted on the task's features and weights."""
        most = most_levels(kind) if self.coded == "native" else None
        many = [feature for feature in task.features if most and not feature.has_order and len(feature.levels) > most]
        if many:
            yield f"{self.estimator} takes at most {most} categories, and {_join_names(many)} has more: use encoding=ordinal"
        yield from self._weight_problems(made, task)

    def refusal(self, task: Task, rows: Integers) -> str | None:
        return None if self.holding is None else self.holding.objection(task, rows)

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> EstimatorPath:
        return EstimatorPath(self, task, rows, int(rng.integers(2**31 - 1)))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> EstimatorModel:
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> object:
        """Rebuild learner and model from plain values, which are checked first."""
        said = description.facts["learner"]
        known = {one.name for one in fields(Estimator)}
        learner = Estimator(**{name: value for name, value in said.items() if name in known})
        problems = list(learner.problems())
        if problems or set(said) - known:
            raise ValueError(f"estimator: not a whole recipe {problems}")
        return restore_estimator(learner, description)


def _join_names(features: Iterable[Feature]) -> str:
    return ", ".join(feature.name for feature in features)
