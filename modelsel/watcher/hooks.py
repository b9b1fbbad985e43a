"""The few places of scikit-learn and of three boosting libraries at which code is watched: put in place, and taken away.

    validation of feature names    every fit (`reset`) and everything else that is given a table
    container of transform         what a transformer made, beside what it was given
    validation of parameters       every metric, before it is computed
    methods that predict           of the estimators that are loaded, and of those that are fitted later: what they said

Nothing else is touched: no attribute access, no tracing. A place that this version of scikit-learn has not raises at entering.
"""

import copy
import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from modelsel.watcher.session import Watch

Place = tuple[Any, str, Callable[..., Any]]
LAST = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier", "catboost": "CatBoostRanker"}  # loaded last of a library
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
ARGUMENTS = ("y_", "pred_")  # how scikit-learn's metrics begin the names of what they compare with y_true
TRUTH = "y_true"


@dataclass(eq=False)
class Hooks:
    """The hooks that were put in place, and what they replaced, so that all can be taken away."""

    watch: Watch
    _undo: list[tuple[object, str, object, object]] = field(default_factory=list)
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
        for owner, name, wrapped in places(self.watch):
            self._put(owner, name, wrapped)

    def remove(self) -> None:
        """Take every hook away, the last first; what somebody else has put in its place since is left there."""
        for owner, name, mine, before in reversed(self._undo):
            for holder in (owner, *(_holding(name, mine) if isinstance(owner, ModuleType) else ())):
                if vars(holder).get(name) is mine:
                    setattr(holder, name, before)
        self._undo.clear()
        self._classes.clear()

    def _put(self, owner: object, name: str, mine: object) -> None:
        self._undo.append((owner, name, mine, vars(owner)[name]))
        setattr(owner, name, mine)

    def _in_scikit_learn(self) -> None:
        """Put the hooks into scikit-learn, which is loaded."""
        from sklearn.base import BaseEstimator
        from sklearn.utils import _param_validation, _set_output, validation

        checked = self._validating(validation._check_feature_names)
        for module in _holding("_check_feature_names", validation._check_feature_names):
            self._put(module, "_check_feature_names", checked)
        self._put(_set_output, "_wrap_data_with_container", self._transforming(_set_output._wrap_data_with_container))
        self._put(
            _param_validation, "validate_parameter_constraints", self._scoring(_param_validation.validate_parameter_constraints)
        )
        for kind in _below(BaseEstimator):
            self._predicting(kind)

    def _validating(self, original: Callable[..., object]) -> Callable[..., object]:
        """Watch a table at the door of an estimator."""

        @functools.wraps(original)
        def check(estimator: object, X: object, *, reset: bool) -> object:
            if reset:
                for kind in type(estimator).__mro__:
                    self._predicting(kind)
                self.watch.fitted(estimator, X)
            else:
                self.watch.seen(X, begins=True)
            return original(estimator, X, reset=reset)

        return check

    def _transforming(self, original: Callable[..., object]) -> Callable[..., object]:
        """Watch what a transformer has made."""

        @functools.wraps(original)
        def wrap(method: str, data_to_wrap: object, original_input: object, estimator: object) -> object:
            made = original(method, data_to_wrap, original_input, estimator)
            self.watch.transformed(original_input, made)
            return made

        return wrap

    def _scoring(self, original: Callable[..., object]) -> Callable[..., object]:
        """Watch a metric that is about to be computed."""

        @functools.wraps(original)
        def validate(parameter_constraints: object, params: Any, caller_name: str) -> object:
            checked = original(parameter_constraints, params, caller_name)
            if TRUTH in params:
                said = [value for name, value in params.items() if name.startswith(ARGUMENTS) and name != TRUTH]
                self.watch.scored(caller_name, said)
            return checked

        return validate

    def _predicting(self, kind: type) -> None:
        """Watch what the estimators of a class predict."""
        if kind in self._classes or kind is object:
            return
        self._classes.add(kind)
        for name in METHODS:
            method: object = vars(kind).get(name)
            if callable(method):
                self._put(kind, name, saying(self.watch, method))
            elif hasattr(method, "fn") and hasattr(method, "check"):  # available_if of scikit-learn
                conditional = copy.copy(method)
                conditional.fn = saying(self.watch, method.fn)
                self._put(kind, name, conditional)


def saying(watch: Watch, method: Callable[..., object]) -> Callable[..., object]:
    """A method that predicts, whose answers are told."""

    @functools.wraps(method)
    def predict(self: object, X: object, *args: object, **kwargs: object) -> Any:
        with watch.calling():
            made = method(self, X, *args, **kwargs)
            watch.predicted(self, X, made)
            return made

    return predict


def _holding(name: str, function: object) -> Iterator[object]:
    """The loaded modules of scikit-learn that hold a function under its name."""
    for module in [*sys.modules.values()]:
        if getattr(module, "__name__", "").split(".")[0] == "sklearn" and vars(module).get(name) is function:
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
    """Every method of a loaded library that is watched, and what stands in its place."""
    for library in LAST:
        module = sys.modules.get(library)
        if module is not None and hasattr(module, LAST[library]):  # all of it is loaded
            yield from _PLACES[library](watch, module)


def _lightgbm(watch: Watch, module: Any) -> Iterator[Place]:
    yield module.Dataset, "__init__", _containing(watch, module.Dataset.__init__)
    yield module.Booster, "__init__", _training(watch, module.Booster.__init__, "train_set", 1)
    yield module.Booster, "predict", saying(watch, module.Booster.predict)


def _xgboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, boosting rounds and predictions of XGBoost."""
    for kind in (module.DMatrix, module.QuantileDMatrix):
        if "__init__" in vars(kind):
            yield kind, "__init__", _containing(watch, kind.__init__)
    yield module.Booster, "update", _training(watch, module.Booster.update, "dtrain", 0)
    for name in ("predict", "inplace_predict"):
        yield module.Booster, name, saying(watch, getattr(module.Booster, name))


def _catboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, fits, predictions and scores of CatBoost."""
    yield module.Pool, "__init__", _containing(watch, module.Pool.__init__)
    for kind in (module.CatBoost, module.CatBoostClassifier, module.CatBoostRegressor, module.CatBoostRanker):
        for name in ("predict", "predict_proba", "predict_log_proba"):
            if name in vars(kind):
                yield kind, name, saying(watch, vars(kind)[name])
        if "fit" in vars(kind):
            yield kind, "fit", _training(watch, vars(kind)["fit"], "X", 0)
        if "score" in vars(kind):
            yield kind, "score", _scoring(watch, vars(kind)["score"])


_PLACES: dict[str, Callable[[Watch, object], Iterator[Place]]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
}


def _containing(watch: Watch, original: Callable[..., object]) -> Callable[..., object]:
    """A container that takes the mark of its table over."""

    @functools.wraps(original)
    def make(self: object, data: object, *args: object, **kwargs: object) -> None:
        rows = watch.seen(data, begins=True)
        original(self, data, *args, **kwargs)
        if rows:
            watch.recogniser.carry(self, rows)

    return make


def _training(watch: Watch, original: Callable[..., object], name: str, place: int) -> Callable[..., object]:
    """A method that learns from a container or a table: the argument `name`, or the one at its place."""

    @functools.wraps(original)
    def train(self: object, *args: object, **kwargs: object) -> object:
        given = kwargs[name] if name in kwargs else args[place] if len(args) > place else None
        if given is not None:
            watch.fitted(self, given)
        return original(self, *args, **kwargs)

    return train


def _scoring(watch: Watch, original: Callable[..., object]) -> Callable[..., object]:
    """A score that a library computes by itself."""

    @functools.wraps(original)
    def score(self: Any, X: Any, *args: Any, **kwargs: Any) -> object:
        if watch.seen(X, begins=True):
            watch.scored(f"{type(self).__name__}.score", [self.predict(X)])
        return original(self, X, *args, **kwargs)

    return score
