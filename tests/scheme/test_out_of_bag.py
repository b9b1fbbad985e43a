"""Out of bag: each row is judged by the trees that have not drawn it, as a plain loop over plainly grown trees says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.errors import ConfigurationError
from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task
from modelsel.learner.forest import Forest
from modelsel.runner.evaluation.cell import evaluate
from modelsel.runner.evaluation.cell_result import OK
from modelsel.runner.evaluation.preprocessing import rows_digest
from tests.forest.plain_forest import grow_plainly, plain_rows


def some_task(rows: int = 60) -> Task:
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, rows), rng.normal(size=rows)])
    target = (values[:, 0] + values[:, 1] + rng.normal(size=rows) > 1).astype(np.int32)
    features = tuple(Feature(f"f{i}", "numeric") for i in range(3))
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def judged_plainly(task: Task, forest: Forest, seed: int, rows: np.ndarray, growing: str) -> tuple[np.ndarray, int]:
    """Classes by the trees that have not drawn a row, and how many rows all have drawn."""
    path = forest.fit_path(task, rows, generator(seed, rows_digest(task, rows), growing))
    votes, judges = np.zeros((len(task), 2)), np.zeros(len(task), int)
    for number in range(forest.trees):
        times, _ = plain_rows(path.ground.seed, number, len(rows), path.growth)
        drawn = np.flatnonzero(times > 0).astype(np.int32)
        tree = grow_plainly(path.ground, path.growth, number, drawn, times.astype(float), most_depth=forest.max_depth)
        column, right = tree.nodes[:, 1], tree.nodes[:, 3]
        for row in np.flatnonzero(times == 0):
            node = 0
            while not tree.terminal[node]:
                node = right[node] if task.values[row, column[node]] > tree.threshold[node] else node + 1
            votes[row] += np.floor(tree.counts[node] / tree.counts[node].sum() * 2**40)
            judges[row] += 1
    votes[judges == 0] = np.bincount(task.target)
    return votes.argmax(axis=1), int((judges == 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["bootstrap", 0.95])
def test_a_cell_out_of_bag_says_what_a_plain_loop_says(rows: str | float) -> None:
    task = some_task()
    (fold,) = make("scheme", "out_of_bag").instantiate(task, 0).folds
    forests = [Forest(trees=50, rows=rows, max_depth=depth) for depth in (2, 4)]
    result = evaluate(task, fold, [Candidate(forest) for forest in forests], "growing", 5, scores=False)
    for k, forest in enumerate(forests):
        classes, never = judged_plainly(task, forest, 5, fold.analysis, "growing")
        assert result.predicted[k].tolist() == classes.tolist()
        assert result.never_judged[k] == never
    assert (result.never_judged > 0).all() == (rows == 0.95)


def test_what_has_seen_its_rows_is_not_judged_on_them() -> None:
    task = some_task()
    (fold,) = make("scheme", "out_of_bag").instantiate(task, 0).folds
    prepared = Candidate(Forest(trees=50), (make("preparer", "discretise_width"),))
    for candidate in (Candidate(make("learner", "tree")), Candidate(Forest(rows="all")), Candidate(Forest(rows=1.0)), prepared):
        result = evaluate(task, fold, [candidate], "g", 0, scores=False)
        assert "has seen every row" in result.reasons[0]
    assert evaluate(task, fold, [Candidate(make("learner", "majority"))], "g", 0, scores=False).status.tolist() == [OK]


def test_rows_without_weight_are_judged_by_every_tree() -> None:
    task = replace(some_task(), weights=np.r_[np.zeros(5), np.ones(55)])
    (fold,) = make("scheme", "out_of_bag").instantiate(task, 0).folds
    forest = Forest(trees=50, max_depth=3)
    result = evaluate(task, fold, [Candidate(forest)], "g", 0, scores=False)
    path = forest.fit_path(task, fold.analysis, generator(0, rows_digest(task, fold.analysis), "g"))
    assert result.predicted[0, :5].tolist() == path.outputs([forest], task, np.arange(5), False).predicted[0].tolist()
    assert result.predicted[0, 5:].tolist() == path.out_of_bag([forest])[0].predicted[0].tolist()


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"tree": "cart"}, "only bagged learners"),
        ({"f": {"learner": "forest", "trees": 20}}, "fewer than 50 trees"),
        ({"f": {"learner": "forest", "sweep": {"trees": "choice(50, 100)"}}}, "numbers of trees are not compared"),
        ({"f": {"learner": "extra_trees"}}, "no row is out of bag"),
        ({"f": {"learner": "forest", "preparer": "discretise_width"}}, "steps before the learner"),
    ],
)
def test_what_cannot_be_compared_out_of_bag_is_refused(space: dict, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        modelsel.plan("scheme=out_of_bag", "final_test=false", data=frame(), target="y", space=space)
    assert len(raised.value.problems) == 1


def frame() -> pd.DataFrame:
    task = some_task(120)
    return pd.DataFrame(task.values, columns=["a", "b", "c"]).assign(y=np.array(task.classes)[task.target])


@pytest.mark.slow
def test_a_study_out_of_bag_shows_the_correction_and_the_rows_never_judged(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    space = {"f": {"learner": "forest", "trees": 50, "rows": 0.95, "sweep": {"max_depth": "choice(1, 3, none)"}}}
    outcome = modelsel.run("scheme=out_of_bag", "final_test=false", data=frame(), target="y", space=space)
    assert outcome.winner["corrected"]["method"] == "bbc"
    assert outcome.winner["never_out_of_bag"] > 0
