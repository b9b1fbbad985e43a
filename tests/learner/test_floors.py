"""Majority and prior_draw: what any learner must beat."""

import numpy as np
import pytest

from modelsel.core.types import Description, Feature, Task, positions
from modelsel.learner.majority import Majority
from modelsel.learner.prior_draw import PriorDraw


@pytest.fixture
def task() -> Task:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4000, 2))
    target = (rng.random(4000) < 0.3).astype(np.int32)
    features = (Feature("a", "numeric"), Feature("b", "numeric"))
    return Task(name="t", features=features, values=values, rows=np.arange(4000), classes=("no", "yes"), target=target)


def test_the_majority_is_predicted_and_its_share_is_the_score(task: Task) -> None:
    model = Majority().fit(task, positions(task), np.random.default_rng(0))
    assert set(model.predict(task)) == {0}
    assert model.scores(task)[0].tolist() == pytest.approx([1 - task.target.mean(), task.target.mean()])
    assert model.training_error([Majority()])[0] == pytest.approx(task.target.mean())


def test_a_draw_misses_as_often_as_its_formula_says(task: Task) -> None:
    model = PriorDraw().fit(task, positions(task), np.random.default_rng(0))
    p = task.target.mean()
    assert (model.predict(task) != task.target).mean() == pytest.approx(2 * p * (1 - p), abs=0.03)


def test_the_training_error_of_a_draw_is_that_of_the_rows_it_was_fitted_on(task: Task) -> None:
    weighted = Task(name="w", features=task.features, values=task.values, rows=task.rows, classes=task.classes,
                    target=task.target, weights=np.linspace(0, 2, 4000))  # fmt: skip
    rows = positions(task)[:1000]
    for table in (task, weighted):
        model = PriorDraw().fit_path(table, rows, np.random.default_rng(0))
        wrong = (model.predict(table) != table.target)[rows]
        assert model.training_error([PriorDraw()])[0] == pytest.approx(np.average(wrong, weights=table.row_weights[rows]))


def test_a_row_draws_the_same_wherever_it_stands(task: Task) -> None:
    model = PriorDraw().fit(task, positions(task), np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(len(task))
    assert (model.predict(task.take(order)) == model.predict(task)[order]).all()
    assert (model.outputs([PriorDraw()], task, order, False).predicted[0] == model.predict(task)[order]).all()


@pytest.mark.parametrize("learner", [Majority(), PriorDraw()])
def test_both_are_read_back_and_refuse_what_is_not_whole(learner, task: Task) -> None:
    model = learner.fit(task, positions(task), np.random.default_rng(0))
    again = learner.restore(model.describe())
    assert (again.predict(task) == model.predict(task)).all()
    with pytest.raises(ValueError, match="not a whole"):
        learner.restore(Description(model.describe().kind, {"key": 1}, {"shares": np.array([0.5, 0.7])}))
