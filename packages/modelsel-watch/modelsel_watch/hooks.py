"""The few places of scikit-learn and of three boosting libraries at which code is watched: put in place, and taken away.

    validation of feature names    everything that is given a table
    container of transform         what a transformer made, beside what it was given
    validation of parameters       every metric, before it is computed
    methods that fit and predict   of the estimators that are loaded, and of those that are fitted later

A hook is a generator: it is started with the arguments of the call, and sent what the call returned. The call itself is passed
through as it came (`modelsel_watch.passing`). Nothing else is touched: no attribute access, no tracing. A place that this
version of scikit-learn has not raises at entering.
"""

import copy
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from modelsel_watch.passing import Hook, Story, passing
from modelsel_watch.session import Watch

Place = tuple[Any, str, Hook]
Arguments = tuple[Any, ...]
Keywords = Mapping[str, Any]
LAST = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier", "catboost": "CatBoostRanker"}  # loaded last of a library
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
TRUTHS = ("y_true", "labels_true")
ARGUMENTS = ("y_", "pred_", "labels_pred")  # how scikit-learn's metrics begin the names of what they compare with them
EVALUATED = ("eval_set", "eval_X", "X_val", "validation_data")  # tables with labels that a fit computes scores on


@dataclass(eq=False)
class Hooks:
    """The hooks that were put in place, and what they replaced, so that all can be taken away."""

    watch: Watch
    _undo: list[tuple[object, str, object, object]] = field(default_factory=list)
    _hooks: list[list[Hook]] = field(default_factory=list)  # of each function that was put in place
    _classes: set[type] = field(default_factory=set)

    def place(self) -> None:
        """Put every hook in place. A half-way failure leaves none."""
        try:
            self._in_scikit_learn()
            self.place_native()
        except BaseException:
            self.remove()
            raise

    def place_native(self) -> None:
        """Hook into the loaded libraries that predict by themselves."""
        for owner, name, hook in places(self.watch):
            self._put(owner, name, hook)

    def remove(self) -> None:
        """Take every hook away, the last first; what somebody has put in its place since stays, and nothing is told of it."""
        for hooks in self._hooks:
            hooks.clear()
        for owner, name, mine, before in reversed(self._undo):
            for holder in (owner, *(_holding(name, mine) if isinstance(owner, ModuleType) else ())):
                if vars(holder).get(name) is mine:
                    _set(holder, name, before)
        self._hooks.clear()
        self._undo.clear()
        self._classes.clear()

    def _put(self, owner: object, name: str, hook: Hook) -> None:
        """Put a function that passes through in the place of a function; what is none is left alone."""
        there = vars(owner).get(name)
        if isinstance(there, FunctionType):
            self._replace(owner, name, there, self._passing(there, hook))
        elif isinstance(getattr(there, "fn", None), FunctionType) and hasattr(there, "check"):  # available_if of scikit-learn
            conditional: Any = copy.copy(there)
            conditional.fn = self._passing(conditional.fn, hook)
            self._replace(owner, name, there, conditional)

    def _passing(self, function: FunctionType, hook: Hook) -> Callable[..., Any]:
        mine, hooks = passing(function, hook, self.watch.failed)
        self._hooks.append(hooks)
        return mine

    def _replace(self, owner: object, name: str, there: object, mine: object) -> None:
        self._undo.append((owner, name, mine, there))
        _set(owner, name, mine)

    def _in_scikit_learn(self) -> None:
        """Put the hooks into scikit-learn, which is loaded."""
        from sklearn.base import BaseEstimator
        from sklearn.metrics import _scorer
        from sklearn.utils import _param_validation, _set_output, validation

        checked = self._passing(validation._check_feature_names, self._validating)
        for module in _holding("_check_feature_names", validation._check_feature_names):
            self._replace(module, "_check_feature_names", validation._check_feature_names, checked)
        self._put(_set_output, "_wrap_data_with_container", partial(transforming, self.watch))
        self._put(_param_validation, "validate_parameter_constraints", partial(scoring, self.watch))
        for scorer in (_scorer._BaseScorer, _scorer._PassthroughScorer):
            self._put(scorer, "__call__", partial(calling_scorer, self.watch))
        for kind in _below(BaseEstimator):
            self._predicting(kind)

    def _validating(self, args: Arguments, kwargs: Keywords) -> Story:
        """Watch a table at the door of an estimator; classes that were made since are watched from their first fit on."""
        estimator, table = given("estimator", 0, args, kwargs), given("X", 1, args, kwargs)
        if kwargs.get("reset"):
            self._predicting(type(estimator))
            if fits(estimator):
                self.watch.fitted(estimator, table)
        else:
            self.watch.seen(table, begins=True)
        yield

    def _predicting(self, kind: type) -> None:
        """Watch what the estimators of a class predict, by its own methods or inherited ones."""
        for one in kind.__mro__[:-1]:
            if one not in self._classes:
                self._classes.add(one)
                for name in METHODS:
                    if name in vars(one):
                        self._put(one, name, partial(saying, self.watch, name, second(vars(one)[name])))
                if "fit" in vars(one):
                    self._put(one, "fit", partial(fitting, self.watch, second(vars(one)["fit"])))


def _set(owner: object, name: str, there: object) -> None:
    """Set an attribute, past what a class of classes makes of that."""
    if isinstance(owner, type):
        type.__setattr__(owner, name, there)
    else:
        setattr(owner, name, there)


def given(name: str, place: int, args: Arguments, kwargs: Keywords) -> Any:
    """The argument of a name, or at a place; None where there is none."""
    return kwargs[name] if name in kwargs else args[place] if len(args) > place else None


def second(method: Any) -> str:
    """The name of a method's first argument after the object; empty where it has none."""
    with suppress(TypeError, ValueError):
        names: Sequence[str] = [*inspect.signature(getattr(method, "fn", method)).parameters]
        return names[1] if len(names) > 1 else ""
    return ""


# The stories of hooks: up to `yield` before the call, after it with what the call returned.


def transforming(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch what a transformer has made."""
    table = given("original_input", 2, args, kwargs)
    made = yield
    watch.transformed(table, made)


def scoring(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a metric that is about to be computed, once its parameters are found to be right."""
    params, metric = given("params", 1, args, kwargs), given("caller_name", 2, args, kwargs)
    yield
    truth = next((name for name in TRUTHS if name in params), None)
    if truth is not None:
        said = [value for name, value in params.items() if name.startswith(ARGUMENTS) and name not in TRUTHS]
        watch.scored(metric, params[truth], said)


def calling_scorer(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a scorer: scikit-learn's own functions call metrics whose parameters it does not validate again."""
    model, table = given("estimator", 1, args, kwargs), given("X", 2, args, kwargs)
    truth = kwargs.get("y_true", given("y", 3, args, kwargs))
    with watch.calling():
        rows = watch.seen(table)
        yield
        if rows and truth is not None:
            metric = getattr(getattr(args[0], "_score_func", None), "__name__", f"{type(model).__name__}.score")
            watch.scored_by(model, rows, metric, truth)


def saying(watch: Watch, method: str, name: str, args: Arguments, kwargs: Keywords) -> Story:
    """Watch what a method predicts of the table that it is given under a name, or as its first argument."""
    table = given(name, 1, args, kwargs)
    with watch.calling():
        made = yield
        watch.predicted(args[0], table, made, method)


def containing(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Let a container take the mark of its table over."""
    rows = watch.seen(given("data", 1, args, kwargs), begins=True)
    yield
    if rows:
        watch.recogniser.carry(args[0], rows)


def training(watch: Watch, name: str, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a method that learns from a container or a table."""
    table = given(name, 1, args, kwargs)
    if table is not None:
        watch.fitted(args[0], table)
    yield


def own_score(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a score that a library computes by itself."""
    model, table = args[0], given("X", 1, args, kwargs)
    if watch.seen(table, begins=True):
        watch.scored(f"{type(model).__name__}.score", given("y", 2, args, kwargs), [model.predict(table)])
    yield


def own_metrics(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch metrics that CatBoost computes of data with labels."""
    watch.evaluated(args[0], given("data", 1, args, kwargs), settings_of(args[0]))
    yield


def fitting(watch: Watch, name: str, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a fit of any estimator, also of one that does not validate its table, and the tables that it is judged on."""
    model, table = args[0], given(name, 1, args, kwargs)
    with watch.calling():
        if table is not None and fits(model):
            watch.fitted(model, table)
        tables = [*evaluation_tables(kwargs)]
        for one in tables:
            watch.evaluated(model, one, settings_of(model))
        with watch.judging(bool(tables)):
            yield


def fits(model: Any) -> bool:
    """Say whether an estimator learns from what it is given: one that is frozen does not, nor one that has nothing to learn."""
    with suppress(Exception):
        return type(model).__name__ != "FrozenEstimator" and bool(model.__sklearn_tags__().requires_fit)
    return True


def evaluation_tables(kwargs: Keywords) -> Iterator[object]:
    """The tables of evaluation sets among the arguments of a fit: alone, beside their labels, or several of either."""
    for name in EVALUATED:
        there = kwargs.get(name)
        alone: tuple[Any, ...] = () if there is None else (there,)
        pairs: Sequence[Any] = there if isinstance(there, list | tuple) and _of_several(there) else alone
        yield from (pair[0] if isinstance(pair, list | tuple) and 1 < len(pair) < 4 else pair for pair in pairs)


def _of_several(there: Sequence[object]) -> bool:
    return isinstance(there, list) or (len(there) > 0 and (isinstance(there[0], tuple) or len(there) == 1))


def settings_of(model: Any) -> str:
    """What tells a model from others of its class, as a text; empty where nothing does."""
    with suppress(Exception):
        return repr(sorted(model.get_params(deep=False).items()))
    return ""


def boosting(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a booster that is given data with labels to judge itself on: `add_valid` of LightGBM, `eval_set` of XGBoost."""
    there = kwargs.get("evals", kwargs.get("data", args[1] if len(args) > 1 else None))
    for table in [pair[0] for pair in there] if isinstance(there, list | tuple) else [there]:
        watch.evaluated(args[0], table)
    yield


def _holding(name: str, function: object) -> Iterator[object]:
    """The loaded modules of scikit-learn that hold a function under its name."""
    for module in [*sys.modules.values()]:
        if isinstance(module, ModuleType) and module.__name__.split(".")[0] == "sklearn" and vars(module).get(name) is function:
            yield module


def _below(kind: type) -> Iterator[type]:
    """A class and all loaded classes that inherit from it, each once."""
    waiting, seen = [kind], {kind}
    while waiting:
        one = waiting.pop()
        yield one
        fresh: set[type] = set(type.__subclasses__(one)) - seen
        seen |= fresh
        waiting += fresh


# LightGBM, XGBoost and CatBoost by themselves, without their scikit-learn classes. Their own containers (DMatrix, Dataset,
# Pool) carry the mark of the table that they were made from.


def places(watch: Watch) -> Iterator[Place]:
    """Every method of a loaded library that is watched, and its hook."""
    for library in LAST:
        module = sys.modules.get(library)
        if module is not None and hasattr(module, LAST[library]):  # all of it is loaded
            yield from _PLACES[library](watch, module)


def _lightgbm(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, training, evaluation and predictions of LightGBM."""
    yield module.Dataset, "__init__", partial(containing, watch)
    yield module.Booster, "__init__", partial(training_set, watch)
    yield module.Booster, "predict", partial(saying, watch, "predict", "data")
    yield module.Booster, "add_valid", partial(boosting, watch)


def training_set(watch: Watch, args: Arguments, kwargs: Keywords) -> Story:
    """Watch a booster of LightGBM that begins with the data it learns from."""
    table = given("train_set", 2, args, kwargs)
    if table is not None:
        watch.fitted(args[0], table)
    yield


def _xgboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, boosting rounds and predictions of XGBoost."""
    for kind in (module.DMatrix, module.QuantileDMatrix):
        yield kind, "__init__", partial(containing, watch)
    yield module.Booster, "update", partial(training, watch, "dtrain")
    for name in ("eval_set", "eval"):
        yield module.Booster, name, partial(boosting, watch)
    for name in ("predict", "inplace_predict"):
        yield module.Booster, name, partial(saying, watch, name, "data")


def _catboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, fits, predictions and scores of CatBoost."""
    yield module.Pool, "__init__", partial(containing, watch)
    for kind in (module.CatBoost, module.CatBoostClassifier, module.CatBoostRegressor, module.CatBoostRanker):
        for name in ("predict", "predict_proba", "predict_log_proba"):
            yield kind, name, partial(saying, watch, name, "data" if "data" in _names(kind, name) else "X")
        yield kind, "fit", partial(fitting, watch, "X")
        yield kind, "eval_metrics", partial(own_metrics, watch)
        yield kind, "score", partial(own_score, watch)


def _names(kind: type, method: str) -> tuple[str, ...]:
    return getattr(getattr(kind, method, None), "__code__", _names.__code__).co_varnames


_PLACES: dict[str, Callable[[Watch, object], Iterator[Place]]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
}
