"""The predictions of LightGBM, XGBoost and CatBoost by themselves, without their scikit-learn classes.

Their own containers (DMatrix, Dataset, Pool) carry the mark of the table that they were made from.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from modelsel.watcher.session import Watch

Place = tuple[Any, str, Callable[..., Any]]
LAST = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier", "catboost": "CatBoostRanker"}


def places(watch: Watch) -> Iterator[Place]:
    """Every method of a loaded library that is watched, and what stands in its place."""
    for library in LAST:
        module = sys.modules.get(library)
        if module is not None and hasattr(module, LAST[library]):  # all of it is loaded
            yield from _PLACES[library](watch, module)


def _lightgbm(watch: Watch, module: Any) -> Iterator[Place]:
    yield module.Dataset, "__init__", _containing(watch, module.Dataset.__init__)
    yield module.Booster, "__init__", _training(watch, module.Booster.__init__, "train_set", 1)
    yield module.Booster, "predict", _saying(watch, module.Booster.predict)


def _xgboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, boosting rounds and predictions of XGBoost."""
    for kind in (module.DMatrix, module.QuantileDMatrix):
        if "__init__" in vars(kind):
            yield kind, "__init__", _containing(watch, kind.__init__)
    yield module.Booster, "update", _training(watch, module.Booster.update, "dtrain", 0)
    for name in ("predict", "inplace_predict"):
        yield module.Booster, name, _saying(watch, getattr(module.Booster, name))


def _catboost(watch: Watch, module: Any) -> Iterator[Place]:
    """Containers, fits, predictions and scores of CatBoost."""
    yield module.Pool, "__init__", _containing(watch, module.Pool.__init__)
    for kind in (module.CatBoost, module.CatBoostClassifier, module.CatBoostRegressor, module.CatBoostRanker):
        for name in ("predict", "predict_proba", "predict_log_proba"):
            if name in vars(kind):
                yield kind, name, _saying(watch, vars(kind)[name])
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
    def make(self: Any, data: Any, *args: Any, **kwargs: Any) -> None:
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


def _saying(watch: Watch, original: Callable[..., object]) -> Callable[..., object]:
    """A method that predicts, whose answers are told."""

    @functools.wraps(original)
    def predict(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        with watch.calling():
            made = original(self, data, *args, **kwargs)
            watch.predicted(self, data, made)
            return made

    return predict


def _scoring(watch: Watch, original: Callable[..., object]) -> Callable[..., object]:
    """A score that a library computes by itself."""

    @functools.wraps(original)
    def score(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.seen(X, begins=True):
            watch.scored(f"{type(self).__name__}.score", [self.predict(X)])
        return original(self, X, *args, **kwargs)

    return score
