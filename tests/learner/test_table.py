"""Table lookup against a twin that compares rows one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.types import Description, Feature, positions
from modelsel.learner.table import Table, _ranked_by_variance, _share_explained
from modelsel.statistics.information import joint_counts, symmetric_uncertainty

NOTHING = np.random.default_rng(0)
learners = st.builds(
    Table, back_off=st.sampled_from(["symmetric_uncertainty", "majority"]), smoothing=st.sampled_from([0.0, 0.5, 2.0])
)


def plain_scores(learner, task, rows, query):
    """Compare with all rows, over ever fewer features."""
    words = [["?" if np.isnan(x) else str(x) for x in task.values[row]] for row in rows]
    asked = ["?" if np.isnan(x) else str(x) for x in query]
    order = ranking(task, rows)
    prefixes = [order[:length] for length in range(len(order), -1, -1)]
    if learner.back_off == "majority":
        prefixes = [order, []]
    for prefix in prefixes:
        cell = Counter()
        for row, word in zip(rows, words):
            if all(word[f] == asked[f] for f in prefix):
                cell[int(task.target[row])] += float(task.row_weights[row])
        if cell:
            total = sum(cell.values()) + 3 * learner.smoothing
            return [(cell[c] + learner.smoothing) / total for c in range(3)], max(range(3), key=lambda c: (cell[c], -c))
    raise AssertionError("the empty prefix has all rows")


def ranking(task, rows):
    telling = []
    for column in task.values[rows].T:
        codes = np.unique(np.nan_to_num(column, nan=-99.0), return_inverse=True)[1]
        telling.append(round(float(symmetric_uncertainty(joint_counts(codes, task.target[rows], task.row_weights[rows]))), 12))
    return sorted(range(len(telling)), key=lambda f: (-telling[f], f))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data(), st.lists(learners, min_size=1, max_size=4))
def test_one_grouping_answers_every_back_off_and_smoothing_as_looking_up_alone_would(tied, data, candidates):
    task = data.draw(tied(weighted=True))
    rows, queries = np.arange(len(task) - 5), positions(task)
    outputs = candidates[0].fit_path(task, rows, NOTHING).outputs(candidates, task, queries, scores=True)
    for position, learner in enumerate(candidates):
        expected = [plain_scores(learner, task, rows, task.values[query]) for query in queries]
        assert outputs.scores[position] == pytest.approx(np.array([scores for scores, _ in expected]), abs=1e-12)
        assert outputs.predicted[position].tolist() == [cls for _, cls in expected]


@settings(max_examples=40, deadline=None)
@given(st.data(), learners)
def test_training_error_is_what_predicting_the_analysis_rows_gives(tied, data, learner):
    task = data.draw(tied(weighted=True))
    path = learner.fit_path(task, positions(task), NOTHING)
    wrong = path.model(learner).predict(task) != task.target
    assert path.training_error([learner])[0] == pytest.approx(task.weights[wrong].sum() / task.weights.sum())
    assert (path.training_error([learner])[0] == 0) == (not wrong.any())


@settings(max_examples=40, deadline=None)
@given(st.data(), learners)
def test_a_restored_model_says_the_same(tied, data, learner):
    task = data.draw(tied())
    model = learner.fit(task, positions(task), NOTHING)
    assert np.array_equal(Table.restore(model.describe()).scores(task), model.scores(task))


def test_complexity_counts_the_cells_that_can_answer(task_of):
    task = task_of([Feature("f", "numeric"), Feature("g", "numeric")], [[0, 0], [0, 1], [1, 2], [1, 2]], [0, 0, 1, 1])
    both = [Table(), Table(back_off="majority")]
    assert both[0].fit_path(task, positions(task), NOTHING).complexity(both).tolist() == [1 + 2 + 3, 1 + 3]


def test_a_thousand_levels_and_many_features_do_not_overflow(task_of):
    rng = np.random.default_rng(1)
    levels = tuple(str(i) for i in range(1000))
    values = rng.integers(0, 1000, (2000, 40)).astype(float)
    task = task_of([Feature(f"f{i}", "nominal", levels) for i in range(40)], values, rng.integers(0, 3, 2000))
    assert np.array_equal(Table().fit(task, positions(task), NOTHING).predict(task), task.target)


@pytest.mark.parametrize(("name", "value"), [("keys_0", [5, 1]), ("keys_0", [1, 99]), ("counts_1", [[1.0]]), ("ranked", [3])])
def test_a_damaged_description_is_refused(task_of, name, value):
    task = task_of([Feature("f", "numeric")], [[0], [1]], [0, 1], classes=("x", "y"))
    description = Table().fit(task, positions(task), NOTHING).describe()
    with pytest.raises(ValueError):
        Table.restore(Description("table", description.facts, {**description.arrays, name: np.array(value)}))


def test_a_column_that_explains_less_than_by_luck_comes_after_one_that_says_nothing() -> None:
    """ε² = 1 − (1 / 2) / (1 / 3) = −½ of halves whose means are equal; 0 of a column of one value."""
    target, codes = np.array([0.0, 1.0, 0.0, 1.0]), np.array([[0, 0], [0, 0], [1, 0], [1, 0]])
    assert _share_explained(codes[:, 0], target - 0.5, np.ones(4), 4) == -0.5
    assert _ranked_by_variance(codes, target, np.ones(4), None).tolist() == [1, 0]
