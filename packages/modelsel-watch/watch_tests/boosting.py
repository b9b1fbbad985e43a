"""What XGBoost and LightGBM have for tests as they are installed, to be run watched and unwatched (`test_suites`).

XGBoost ships the bodies of its tests (`xgboost.testing`), which are called here as its own suite calls them. LightGBM ships
none; that of its scikit-learn interface is scikit-learn's checks of estimators, which are run for both.
"""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.extras import needs

lightgbm, xgboost = needs("lightgbm"), needs("xgboost")
MODULES = ("basic_models", "callbacks", "continuation", "metrics", "with_skl")
GIVEN = {"device": "cpu", "tree_method": "hist"}


def bodies() -> Iterator[Callable[..., object]]:
    """Bodies of tests that ask for nothing but a device and a method."""
    for name in MODULES:
        module = import_module(f"xgboost.testing.{name}")
        for _, body in inspect.getmembers(module, inspect.isfunction):
            asked = [one.name for one in inspect.signature(body).parameters.values() if one.default is one.empty]
            if body.__module__ == module.__name__ and body.__name__.startswith(("run_", "check_")) and set(asked) <= set(GIVEN):
                yield body


@pytest.mark.parametrize("body", [*bodies()], ids=lambda body: f"{body.__module__}.{body.__name__}")
def test_xgboost(body: Callable[..., object]) -> None:
    asked = inspect.signature(body).parameters
    body(**{name: value for name, value in GIVEN.items() if name in asked})


@parametrize_with_checks([
    lightgbm.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1), lightgbm.LGBMRegressor(n_estimators=3, n_jobs=1, verbose=-1),
    xgboost.XGBClassifier(n_estimators=3, n_jobs=1), xgboost.XGBRegressor(n_estimators=3, n_jobs=1),
])  # fmt: skip
def test_checks_of_estimators(estimator: object, check: Callable[[object], object]) -> None:
    check(estimator)
