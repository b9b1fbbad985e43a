"""What every preparer promises, over all yamls of conf/preparer."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from modelsel.core.spec import make
from modelsel.core.types import positions
from modelsel.preparer.base import SelectedColumns

CONF = Path(__file__).resolve().parents[2] / "conf/preparer"
VARIANTS = {
    "discretise_width": [{"bins": 1}, {"bins": 3}, {"bins": 7, "levels": "ordered"}],
    "discretise_frequency": [{"bins": 2}, {"bins": 5}, {"bins": 50}],
    "discretise_one_rule": [{"bucket": 3}, {"bucket": 6, "levels": "ordered"}, {"bucket": 50}],
    "discretise_mdl": [{"levels": "ordered"}],
    "select_top": [{"n": 1}, {"n": 3}, {"n": None, "threshold": 0.05}, {"n": 99}],
    "select_named": [{"features": ("f0", "f3")}, {"features": ("f4",)}],
    "forward_selection": [{"n": 2, "folds": 3}, {"folds": 3}, {"learner": make("learner", "knn", k=3), "folds": 3, "most": 2}],
    "impute": [{"numeric": "mean"}],
}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def parts() -> list[object]:
    found = []
    for path in sorted(CONF.glob("*.yaml")):
        settings = yaml.safe_load(path.read_text())
        kind = settings.pop("kind")
        settings = {
            key: tuple(value) if isinstance(value, list) else value for key, value in settings.items() if key != "learner"
        }
        found.append(make("preparer", kind, **settings))
        found += [make("preparer", kind, **{**settings, **variant}) for variant in VARIANTS.get(kind, [])]
    return found


DRAWS = ("ForwardSelection",)  # inner folds are drawn among rows by position: the order of rows matters to them


every = pytest.mark.parametrize("preparer", parts(), ids=str)


@every
def test_a_restored_step_does_the_same(preparer, mixed):
    task = mixed(1)
    step = preparer.fit(task, positions(task), rng())
    again = type(preparer).restore(step.describe())
    one, other = step.apply(task), again.apply(task)
    assert one.features == other.features
    assert np.array_equal(one.values, other.values, equal_nan=True)


@every
def test_one_ranking_answers_every_preparer_of_equal_growing(preparer, mixed):
    task = mixed(2)
    for other in parts():
        if other.fit_key() == preparer.fit_key():
            shared = preparer.fit_path(task, positions(task), rng()).prepared(other)
            alone = other.fit(task, positions(task), rng())
            assert shared.apply(task).features == alone.apply(task).features
            assert np.array_equal(shared.apply(task).values, alone.apply(task).values, equal_nan=True)


@every
def test_rows_outside_the_analysis_do_not_matter(preparer, mixed):
    task, rows = mixed(3), np.arange(40)
    changed = np.array(task.values)
    changed[40:] = np.where(changed[40:] == 2.0, 0.0, 2.0)
    other = replace(task, values=changed, target=np.where(np.arange(60) < 40, task.target, 0).astype(np.int32))
    here, there = preparer.fit(task, rows, rng()), preparer.fit(other, rows, rng())
    assert np.array_equal(here.apply(task).values, there.apply(task).values, equal_nan=True)
    alone = task.take(rows)
    assert np.array_equal(
        preparer.fit(alone, positions(alone), rng()).apply(task).values, here.apply(task).values, equal_nan=True
    )


@every
def test_row_order_does_not_matter_and_weights_are_repeats(preparer, mixed):
    if type(preparer).__name__ in DRAWS:
        return
    task = mixed(4)
    repeats = np.repeat(positions(task), task.weights.astype(int))
    plain = replace(task.take(np.random.default_rng(9).permutation(repeats)), weights=None)
    weighted = preparer.fit(task, positions(task), rng()).apply(task)
    repeated = preparer.fit(plain, positions(plain), rng()).apply(task)
    assert weighted.features == repeated.features
    assert weighted.values == pytest.approx(repeated.values, nan_ok=True)


@every
def test_rows_identity_and_target_stay(preparer, mixed):
    task = mixed(5)
    after = preparer.fit(task, positions(task), rng()).apply(task)
    assert len(after) == len(task)
    assert np.array_equal(after.target, task.target)
    assert after.values.shape == (60, len(after.features))
    for column, feature in enumerate(after.features):
        known = after.values[~np.isnan(after.values[:, column]), column]
        assert feature.kind == "numeric" or (known < len(feature.levels)).all()


@every
def test_a_selection_says_which_columns_it_keeps(preparer, mixed):
    task = mixed(6)
    step = preparer.fit(task, positions(task), rng())
    if isinstance(step, SelectedColumns):
        assert step.apply(task).features == tuple(task.features[c] for c in step.columns)
    else:
        assert len(step.apply(task).features) == len(task.features)
