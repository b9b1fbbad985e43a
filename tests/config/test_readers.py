"""Every space and learner of conf/ takes numbers, or is refused with the names of those that do."""

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.expand import readers
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError

SPACES = [
    name for name in Folders.of().options("space") if name in readers("classes").spaces or name in readers("numbers").spaces
]
OTHERS = {"calibrated", "decided", "object", "estimator", "transformed_target", "greedy_ensemble"}


@pytest.fixture(scope="module")
def homes() -> pd.DataFrame:
    """Columns of numbers and of names, both with gaps, and fractional prices."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": rng.normal(0, 1, 90), "age": rng.normal(0, 1, 90), "town": rng.choice(["n", "s", "e"], 90)})
    price = 3 * frame["area"] - frame["age"] + 2 * (frame["town"] == "s") + rng.normal(0, 0.2, 90)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    return frame.assign(price=price)


DEAR = {"default", "quickstart", "boosting", "everything", "mlp", "forests"}  # the plan tries what a fit costs


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR)) for name in SPACES])
def test_a_space_takes_numbers_or_names_those_that_do(name: str, homes: pd.DataFrame) -> None:
    if name in readers("numbers").spaces:
        assert modelsel.plan(data=homes, target="price", space=name, tracking="off")
        return
    with pytest.raises(ConfigurationError, match=r"(?s)MSEL-240.*number.*spaces: baselines, .*quickstart, .*trees"):
        modelsel.plan(data=homes, target="price", space=name, tracking="off")


@pytest.mark.parametrize("name", [*readers("numbers").learners])
def test_a_learner_that_is_named_predicts_numbers(name: str, homes: pd.DataFrame) -> None:
    X, y = homes.drop(columns="price"), homes["price"]
    quick = {"catboost": {"params.iterations": 20}, **{one: {"trees": 10} for one in ("forest", "bagged_trees", "extra_trees")}}
    model = modelsel.regressor(name, seed=1, **quick.get(name, {})).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, y) >= (0.3 if name not in ("mean", "median") else -0.1)


def test_both_kinds_of_targets_have_spaces_of_the_same_name() -> None:
    wanted = {"quickstart", "cart", "trees", "knn", "boosting", "everything", "forests", "baselines"}
    assert wanted <= set(readers("numbers").spaces)
    assert set(readers("numbers").spaces) <= set(readers("classes").spaces)
    assert not OTHERS & {*readers("numbers").learners, *readers("classes").learners}
