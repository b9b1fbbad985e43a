"""Presets and spaces of other people's learners: they can be made, and their fits are counted."""

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modelsel.config.build import NUMBERS, BuildContext, Builder
from modelsel.config.build import build as built
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError
from modelsel.foreign import allowed
from modelsel.foreign.allowed import class_of, home_of
from modelsel.learner.estimator import Estimator
from modelsel.planning.make import batches
from tests.extras import needs
from tests.tree.number_tables import number_task

PACKAGES = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost"}
PRESETS = ("random_forest", "hist_gradient_boosting", *PACKAGES, "logistic_regression", "svm", "mlp")
everything_installed = pytest.mark.skipif(not all(map(find_spec, PACKAGES)), reason="lightgbm, xgboost, catboost")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_made(name):
    if name in PACKAGES:
        needs(PACKAGES[name])
    learner, steps = built(name)
    assert isinstance(learner, Estimator)
    assert steps == ()


def counted(space: str) -> tuple[int, int]:
    builder = Builder(Folders.of())
    builder.context = BuildContext(builder.part("measure", "error", "measure"))
    found = expand(space, builder)
    assert builder.problems == []
    assert found.merged == 0
    return len(found.candidates), len(batches(found.candidates))


@everything_installed
@pytest.mark.parametrize(
    ("space", "candidates", "fits"),
    [("boosting", 76, 16), ("everything", 131, 39), ("logistic_regression", 18, 18), ("svm", 12, 12), ("mlp", 9, 9)],
)
def test_a_space_needs_so_many_fits(space, candidates, fits):
    assert counted(space) == (candidates, fits)


@pytest.fixture
def names_forgotten():
    """Names are looked up afresh; what was built before stays."""
    for known in (class_of, home_of):
        known.cache_clear()
    yield
    for known in (class_of, home_of):
        known.cache_clear()


@pytest.mark.usefixtures("names_forgotten")
def test_every_strength_of_linear_regression_is_scikit_learns_ridge_of_scaled_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1, 10, 0.1, 100]
    task = number_task(X, X @ [1.0, 0.2, 3.0, 0.0] + rng.normal(size=60))
    for alpha in (0.1, 1.0, 30.0):
        learner = built("linear_regression", {"params.alpha": alpha}, context=NUMBERS)[0]
        theirs = make_pipeline(StandardScaler(), Ridge(alpha=alpha)).fit(X[:40], task.target[:40])
        said = learner.fit(task, np.arange(40), rng).predict(task)
        np.testing.assert_allclose(said, theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_an_absent_package_is_said_with_the_line_that_installs_it(name, monkeypatch):
    if find_spec(name):
        built(name)  # it was there a moment ago
    class_of.cache_clear()
    home_of.cache_clear()
    found = allowed.importlib.util.find_spec
    monkeypatch.setattr(allowed.importlib.util, "find_spec", lambda one: None if one == name else found(one))
    with pytest.raises(ConfigurationError, match=rf"MSEL-207: {name} is not installed: pip install 'modelsel\[{name}\]'"):
        built(name)
