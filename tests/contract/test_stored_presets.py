"""Whatever estimator a space can choose, by whatever objective it is fitted: its model is stored, loaded and answers alike."""

from typing import Any

import numpy as np
import pytest

from modelsel.config.build import ALONE, NUMBERS, build
from modelsel.config.folders import Folders
from modelsel.core.spec import class_of
from modelsel.core.types import ClassTask, Task, positions
from modelsel.learner.estimator import Estimator
from tests.tree.number_tables import number_task

QUICK = {"n_estimators": 5, "max_iter": 20, "iterations": 5}
OBJECTIVES = {
    "lightgbm_regression": ("objective", "regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma",
                            "tweedie", "cross_entropy"),
    "lightgbm": ("objective", "binary"),
    "xgboost_regression": ("objective", "reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "count:poisson",
                           "reg:gamma", "reg:tweedie", "reg:squaredlogerror"),
    "xgboost": ("objective", "binary:logistic"),
    "catboost_regression": ("loss_function", "RMSE", "MAE", "Poisson", "Quantile:alpha=0.3", "Tweedie:variance_power=1.5"),
    "catboost": ("loss_function", "Logloss", "CrossEntropy"),
    "hist_gradient_boosting_regression": ("loss", "squared_error", "absolute_error", "gamma", "poisson"),
}  # fmt: skip


def presets() -> list[tuple[str, dict[str, object]]]:
    """Every preset that is an estimator of another library, with each of its objectives."""
    found: list[tuple[str, dict[str, object]]] = []
    for name in Folders.of().options("learner"):
        file = Folders.of().read("learner", name) or {}
        if file.get("kind") == "estimator" and name not in ("estimator", "sklearn"):
            setting, *each = OBJECTIVES.get(name, ("",))
            found += [(name, {}), *((name, {f"params.{setting}": objective}) for objective in each)]
    return found


def task(numbers: bool) -> Task:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 3)).round(2)
    target = 1.0 / (1.0 + np.exp(-values[:, 0] - rng.normal(size=80) / 2))  # within (0, 1): every objective takes it
    made = number_task(values, target)
    if numbers:
        return made
    classes = (target > 0.5).astype(np.int32)
    return ClassTask(name="t", features=made.features, values=made.values, rows=made.rows, classes=("a", "b"), target=classes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), presets(), ids=str)
def test_a_model_is_stored_loaded_and_answers_alike(name: str, settings: dict[str, object]) -> None:
    known = Folders.of().read("learner", name) or {}
    numbers = str(known["estimator"]).endswith(("Regressor", "SVR", "Ridge", "LinearRegression"))
    quick = {f"params.{key}": value for key, value in QUICK.items() if key in dict(known.get("params") or {})}
    learner: Any = build(name, {**quick, **settings}, NUMBERS if numbers else ALONE)[0]
    assert isinstance(learner, Estimator)
    rows = task(numbers)
    model = learner.fit(rows, positions(rows), np.random.default_rng(1))
    said = model.describe()
    assert "unstored" not in said.facts, said.facts.get("unstored")
    again = class_of("learner", said.kind).restore(said)
    assert np.array_equal(again.predict(rows), model.predict(rows))
    if not numbers:
        assert np.array_equal(again.scores(rows), model.scores(rows))
