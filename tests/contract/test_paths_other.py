"""The path contract for learners that are no trees: neighbours, naive Bayes, tables, scikit-learn's.

For random spaces over random tasks: one fit says what a plain twin says that counts, searches and looks up afresh for every
candidate (the twins stand beside the learners, in tests/learner); one fit, a fit alone and a model read back say the same,
whoever else is asked and in whatever chunks. What every learner promises, new ones too, is in `test_promises.py`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.learner.base import SubsetPath
from modelsel.learner.knn import Knn
from modelsel.learner.majority import Majority
from modelsel.learner.naive_bayes import NaiveBayes
from modelsel.learner.sklearn import Sklearn
from modelsel.learner.table import Table
from modelsel.preparer.base import SelectedColumns
from tests.learner.test_knn import Twin as KnnTwin
from tests.learner.test_naive_bayes import Twin as BayesTwin
from tests.learner.test_table import plain_scores

DISTANCES = ("euclidean", "manhattan", "chebyshev", "minkowski", "heom", "hvdm", "gower", "overlap")
PRIORS = ("empirical", "uniform", (0.5, 0.3, 0.2))


def random_task(rng: np.random.Generator) -> Task:
    """Numbers that are tied and numbers that are not, names of 3 and of 1,000 levels, ranks; missing values; weights."""
    rows = int(rng.integers(12, 120))
    columns = {
        "tied": (("numeric", 0), rng.integers(-2, 3, rows)), "real": (("numeric", 0), rng.normal(size=rows) * 1e3),
        "few": (("nominal", 3), rng.integers(0, 4, rows)), "many": (("nominal", 1000), rng.integers(0, 1000, rows)),
        "rank": (("ordered", 4), rng.integers(0, 4, rows)), "constant": (("numeric", 0), np.full(rows, 7)),
    }  # fmt: skip
    names = rng.permutation(list(columns))[: int(rng.integers(1, 7))]
    features = tuple(Feature(str(name), columns[name][0][0], tuple(map(str, range(columns[name][0][1])))) for name in names)
    values = np.column_stack([columns[name][1].astype(float) for name in names])
    values[rng.random(values.shape) < rng.choice([0.0, 0.1])] = np.nan
    return Task(
        name="random", features=features, values=values, rows=np.arange(rows), classes=("A", "B", "C"),
        target=rng.integers(0, rng.integers(1, 4), rows).astype(np.int32),
        weights=None if rng.random() < 0.5 else rng.choice([0.5, 1.0, 3.0], rows),
    )  # fmt: skip


def neighbours(rng: np.random.Generator) -> Sequence[Any]:
    distance, normalise = make("distance", str(rng.choice(DISTANCES))), str(rng.choice(["none", "range", "deviation"]))
    votes, priors = rng.choice(["uniform", "inverse", "rank"], 6), rng.integers(0, 3, 6)
    return [
        Knn(int(k), distance, normalise, str(vote), PRIORS[prior])
        for k, vote, prior in zip(rng.integers(1, 8, 6), votes, priors, strict=True)
    ]


def bayes(rng: np.random.Generator) -> Sequence[Any]:
    numeric = str(rng.choice(["gaussian", "kernel"]))
    m = lambda: None if rng.random() < 0.5 else float(rng.choice([0, 1, 5]))  # noqa: E731
    form = lambda: str(rng.choice(["marginal", "uniform"]))  # noqa: E731
    return [NaiveBayes(numeric, float(rng.choice([0, 0.5, 2])), m(), form(), PRIORS[int(rng.integers(3))]) for _ in range(6)]


def tables(rng: np.random.Generator) -> Sequence[Any]:
    return [Table(back_off, smoothing) for back_off in ("symmetric_uncertainty", "majority") for smoothing in (0.0, 0.5)]


def majority(rng: np.random.Generator) -> Sequence[Any]:
    return [Majority()]


LEARNERS: dict[str, Callable[[np.random.Generator], Sequence[Any]]] = {
    "knn": neighbours, "naive_bayes": bayes, "table": tables, "majority": majority,
}  # fmt: skip
Said = list[tuple[int, Sequence[float], float]]  # class, class scores, digits that the twin itself may lose


def knn_twin(learner: Any, task: Task, rows: np.ndarray, asked: np.ndarray) -> Said:
    twin = KnnTwin(learner, task, rows)
    return [(*twin.answer(task.values[row]), 1e-12) for row in asked]


def bayes_twin(learner: Any, task: Task, rows: np.ndarray, asked: np.ndarray) -> Said:
    twin = BayesTwin(learner, task, rows)
    scores = [twin.scores(task.values[row]) for row in asked]
    return [(int(np.argmax(np.round(own, 9))), own, twin.lost) for own in scores]


def table_twin(learner: Any, task: Task, rows: np.ndarray, asked: np.ndarray) -> Said:
    found = [plain_scores(learner, task, rows, task.values[row]) for row in asked]
    return [(cls, scores, 1e-12) for scores, cls in found]


def majority_twin(learner: Any, task: Task, rows: np.ndarray, asked: np.ndarray) -> Said:
    weight = [math.fsum(task.row_weights[row] for row in rows if task.target[row] == cls) for cls in range(3)]
    return [(weight.index(max(weight)), [own / math.fsum(weight) for own in weight], 1e-12)] * len(asked)


TWINS = {"knn": knn_twin, "naive_bayes": bayes_twin, "table": table_twin, "majority": majority_twin}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(TWINS))
@settings(max_examples=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))  # a seed shrinks to nothing
@given(seed=st.integers(0, 2**32 - 1))
def test_one_fit_answers_every_path_candidate_exactly(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners = random_task(rng), LEARNERS[name](rng)
    rows, asked = rng.integers(0, len(task), len(task)), rng.permutation(len(task))[:10]
    path = learners[0].fit_path(task, rows, rng)
    outputs = path.outputs(learners, task, asked, True)
    for index, learner in enumerate(learners):
        for row, (cls, scores, lost) in enumerate(TWINS[name](learner, task, rows, asked)):
            assert outputs.predicted[index, row] == cls
            np.testing.assert_allclose(outputs.scores[index, row], scores, rtol=0, atol=lost)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(LEARNERS))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_path_fit_alone_and_model_read_back_say_the_same(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners = random_task(rng), LEARNERS[name](rng)
    rows, asked = rng.integers(0, len(task), len(task)), positions(task)
    path = learners[0].fit_path(task, rows, rng)
    together = path.outputs(learners, task, asked, True)
    np.testing.assert_allclose(together.scores.sum(axis=2), 1.0, atol=1e-12)
    for index, learner in enumerate(learners):
        alone = learner.fit(task, rows, rng)
        for model in (path.model(learner), alone, type(learner).restore(alone.describe())):
            assert model.predict(task).tolist() == together.predicted[index].tolist()
            np.testing.assert_allclose(model.scores(task), together.scores[index], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", sorted(LEARNERS))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_do_not_depend_on_who_else_is_asked_about_which_rows(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners = random_task(rng), LEARNERS[name](rng)
    path = learners[0].fit_path(task, positions(task), rng)
    together = path.outputs(learners, task, positions(task), True)
    order, some = rng.permutation(len(learners))[:3], np.flatnonzero(rng.random(len(task)) < 0.4)
    fewer = path.outputs([learners[i] for i in order], task, some, True)
    assert (fewer.predicted == together.predicted[order][:, some]).all()
    np.testing.assert_allclose(fewer.scores, together.scores[order][:, some], rtol=0, atol=1e-12)
    assert (path.outputs(learners, task, positions(task), False).predicted == together.predicted).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_selection_read_off_the_counts_is_a_fit_behind_the_selection(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners = random_task(rng), bayes(rng)
    path = learners[0].fit_path(task, positions(task), rng)
    assert isinstance(path, SubsetPath)
    for n in range(1, len(task.features) + 1):
        step = make("preparer", "select_top", n=n).fit(task, positions(task), rng)
        assert isinstance(step, SelectedColumns)
        read, left = path.subset(step.columns).outputs(learners, task, positions(task), True), step.apply(task)
        for index, learner in enumerate(learners):
            alone = learner.fit(left, positions(left), rng)
            assert alone.predict(left).tolist() == read.predicted[index].tolist()
            np.testing.assert_allclose(alone.scores(left), read.scores[index], rtol=0, atol=1e-12)


def test_a_scikit_learn_candidate_says_the_same_alone_and_as_a_path() -> None:
    task = random_task(np.random.default_rng(3))
    learner = Sklearn(estimator="DecisionTreeClassifier", params={"max_features": 0.5})
    path = learner.fit_path(task, positions(task), np.random.default_rng(5))
    alone = learner.fit(task, positions(task), np.random.default_rng(5))
    outputs = path.outputs([learner, learner], task, positions(task), True)
    assert outputs.predicted.tolist() == [alone.predict(task).tolist()] * 2
    np.testing.assert_array_equal(outputs.scores[1], alone.scores(task))
