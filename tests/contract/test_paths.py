"""One fit answers each learner that differs from it in path parameters, exactly as that learner fitted alone would.

*Exactly*: equal classes, equal complexity, class scores to 1e-12, against a plain twin that knows nothing of paths: it stops
inside the growing loop, prunes afresh, searches neighbours per k. A learner joins by an entry in `LEARNERS`: a function that
draws a task, learners of equal growing, and a twin.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from modelsel.core.fingerprint import canonical
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.learner.trees.leaf import Leaf
from modelsel.tree.node import PrunedView
from tests.contract.plain_tree import Place, PlainTree

Twin = Callable[[Any, Task, np.ndarray, Table], tuple[np.ndarray, np.ndarray, float]]
Drawn = tuple[Task, Sequence[Any], Twin]


def random_task(rng: np.random.Generator) -> Task:
    """Mixed features of few values, so that ties are many; missing values; weights; a class that may be absent."""
    rows, classes = int(rng.integers(6, 45)), int(rng.integers(2, 4))
    features, values = [], []
    for index in range(int(rng.integers(1, 5))):
        kind = str(rng.choice(["numeric", "nominal", "ordered"]))
        many = int(rng.integers(2, 6))
        features.append(Feature(f"f{index}", kind, () if kind == "numeric" else tuple("abcdef"[:many])))
        column = rng.integers(0, many, rows) if kind != "numeric" else rng.integers(0, rng.choice([3, 40]), rows) / 4
        lost = rng.random(rows) < rng.choice([0.0, 0.2])
        values.append(np.where(lost, np.nan, column))
    weights = None if rng.random() < 0.6 else rng.choice([0.5, 1.0, 2.0], rows)
    return Task(
        name="random", features=tuple(features), values=np.column_stack(values), rows=np.arange(rows),
        classes=tuple("ABC"[:classes]), target=rng.integers(0, classes, rows).astype(np.int32), weights=weights,
    )  # fmt: skip


# Trees

EVERY = sorted(path.stem for path in (Path(__file__).parents[2] / "conf/criterion").glob("*.yaml"))
CRITERIA = [kind for kind in EVERY if "classes" in make("criterion", kind).reads]


def trees(rng: np.random.Generator) -> Drawn:
    task = random_task(rng)
    missing = str(rng.choice(["node_mode", "class_mode", "fractional", "branch", "surrogate", "surrogate_count"]))
    nominal = str(rng.choice(["equality", "subset"] if missing.startswith("surrogate") else ["multiway", "equality", "subset"]))
    share = {"share": float(rng.choice([0.2, 0.4]))} if rng.random() < 0.4 else None
    held_back = str(rng.choice(["reduced_error", "deviance_sequence"]))
    criterion = make("criterion", str(rng.choice(CRITERIA)))
    fixed = {
        "criterion": criterion,
        "splits": Splits(nominal="subset" if nominal == "multiway" and criterion.binary else nominal),
        "missing": missing,
        "min_leaf": float(rng.choice([1, 2])),
        "min_leaf_rule": str(rng.choice(["plain", "c45"])),
    }
    return task, [_tree(rng, fixed, held_back, share, len(task.classes)) for _ in range(6)], tree_twin


def _tree(
    rng: np.random.Generator, fixed: dict[str, Any], held_back: str, share: dict[str, float] | None, classes: int
) -> Tree:
    asked = {
        "reduced_error": {"relabel": bool(rng.random() < 0.5)},
        "deviance_sequence": {"step": int(rng.integers(1, 5)), "trees": 4, "smallest": int(rng.integers(1, 4))},
    }
    pruner = make("pruner", held_back, **share, **asked[held_back]) if share else _pruner(rng)
    costs = [row[:classes] for row in COSTS[:classes]] if rng.random() < 0.3 and not list(pruner.problems(costs=True)) else ()
    return Tree(
        **fixed,
        max_depth=rng.choice([None, 1, 2, 4]),
        min_split=float(rng.choice([2, 5, 12])),
        min_gain=float(rng.choice([0, 0.02, 0.2])),
        purity=float(rng.choice([1.0, 0.8])),
        significance=rng.choice([None, 0.3, 0.05]),
        collapse=bool(rng.random() < 0.3),
        pruner=pruner,
        costs=costs,
        leaf=Leaf(
            str(rng.choice(["frequency", "laplace", "m_estimate"])), prior=str(rng.choice(["root", "parent", "uniform"]))
        ),
    )


COSTS = ((0, 1, 3), (2, 0, 1), (0.5, 4, 0))
STRENGTHS: dict[str, tuple[dict[str, Any], ...]] = {
    "unpruned": ({},),
    "cost_complexity": tuple(
        {"alpha": a, "impurity": i} for a in (0, 0.01, 0.05) for i in ("misclassification", "gini", "entropy")
    ),
    "minimum_error": tuple({"m": m, "prior": p} for m in (0.5, 2, 10, "laplace") for p in ("root", "uniform")),
    "pessimistic": tuple({"standard_errors": s} for s in (0, 0.5, 1, 2)),
    "critical_value": tuple({"threshold": t} for t in (0.01, 0.1, 1.0)),
    "mdl": tuple({"weight": w} for w in (0, 0.2, 1, 3)),
    "error_based": tuple(
        {"confidence": c, "raising": r, "bound": b}
        for c in (0.5, 0.25, 0.05) for r in (True, False) for b in ("normal", "c45_table", "exact")
    ),
}  # fmt: skip


def test_every_pruner_takes_part() -> None:
    kinds = {path.stem for path in (Path(__file__).parents[2] / "conf/pruner").glob("*.yaml")}
    assert kinds == {*STRENGTHS, "reduced_error", "deviance_sequence"}


def _pruner(rng: np.random.Generator) -> Any:
    kind = str(rng.choice(sorted(STRENGTHS)))
    return make("pruner", kind, **STRENGTHS[kind][int(rng.integers(len(STRENGTHS[kind])))])


def tree_twin(learner: Tree, task: Task, rows: np.ndarray, asked: Table) -> tuple[np.ndarray, np.ndarray, float]:
    plain = PlainTree(learner, task, rows, generator_of(learner))
    classes, scores = zip(*(plain.answer(asked, row) for row in range(len(asked))), strict=True)
    return np.array(classes), np.array(scores), float(len(plain.root.leaves()))


def softened_trees(rng: np.random.Generator) -> Drawn:
    task, learners, twin = trees(rng)
    soft = [make("softener", "range_fraction", q=float(q)) for q in (0, 1, 3)]
    return task, [replace(learner, softener=soft[i % 3]) for i, learner in enumerate(learners)], twin


def trees_softened_as_c45(rng: np.random.Generator) -> Drawn:
    """C4.5's widths are checked against release 8 in tests/reference; here, that a path and a model say the same."""
    task, learners, twin = trees(rng)
    return task, [replace(learner, softener=make("softener", "c45")) for learner in learners], twin


LEARNERS: dict[str, Callable[[np.random.Generator], Drawn]] = {"tree": trees, "softened_tree": softened_trees}
CHECKED_ELSEWHERE = {"tree_softened_as_c45": trees_softened_as_c45}
ALL = {**LEARNERS, **CHECKED_ELSEWHERE}


def generator_of(learner: Any) -> np.random.Generator:
    """Numbers that depend on the growing specification alone."""
    return np.random.default_rng(list(canonical(learner.fit_key()).encode()))


def with_strange_levels(task: Task, rng: np.random.Generator) -> Table:
    """The rows to predict: the task's own, and in some a level that was never declared."""
    values = task.values.copy()
    for index, feature in enumerate(task.features):
        if feature.kind == "nominal":
            values[rng.random(len(task)) < 0.05, index] = len(feature.levels)
    return task.with_features(task.features, values)


def outputs_of(task: Task, learners: Sequence[Any], rows: np.ndarray, asked: Table) -> tuple[Any, Outputs]:
    path = learners[0].fit_path(task, rows, generator_of(learners[0]))
    return path, path.outputs(learners, asked, positions(asked), True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(LEARNERS))
@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))  # a seed shrinks to nothing
@given(seed=st.integers(0, 2**32 - 1))
def test_one_fit_answers_every_path_candidate_exactly(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners, twin = LEARNERS[name](rng)
    rows = np.sort(
        rng.integers(0, len(task), len(task)) if rng.random() < 0.3 else rng.permutation(len(task))[: len(task) * 2 // 3 + 2]
    )
    asked = with_strange_levels(task, rng)
    path, outputs = outputs_of(task, learners, rows, asked)
    assert outputs.scores is not None
    for index, learner in enumerate(learners):
        classes, scores, size = twin(learner, task, rows, asked)
        assert outputs.predicted[index].tolist() == classes.tolist()
        np.testing.assert_allclose(outputs.scores[index], scores, rtol=0, atol=1e-12)
        assert path.complexity([learner])[0] == size


@pytest.mark.slow
@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(seed=st.integers(0, 2**32 - 1))
def test_the_tree_that_is_left_is_the_one_that_was_grown_and_pruned_alone(seed: int) -> None:
    """Node by node: tests, children, weights; at leaves what is predicted from which counts."""
    rng = np.random.default_rng(seed)
    task, learners, _ = trees(rng)
    rows = np.sort(rng.permutation(len(task))[: len(task) * 2 // 3 + 2])
    path = learners[0].fit_path(task, rows, generator_of(learners[0]))
    for learner in learners:
        plain = PlainTree(learner, task, rows, generator_of(learner))
        _assert_same(plain, plain.root, path.model(learner).cut, 0)


def _assert_same(plain: PlainTree, place: Place, cut: PrunedView, node: int) -> None:
    ours, theirs = cut.tree, plain.tree
    np.testing.assert_allclose(ours.counts[node], place.weight, rtol=0, atol=1e-9)
    assert cut.leaf[node] == (not place.below)
    if not place.below:
        assert cut.prediction[node] == place.label
        assert not place.weight.sum() or np.allclose(cut.counts[node], place.counts, rtol=0, atol=1e-9)
        return
    assert (ours.test[node], ours.feature[node]) == (theirs.test[place.node], theirs.feature[place.node])
    np.testing.assert_equal(ours.threshold[node], theirs.threshold[place.node])
    np.testing.assert_equal(ours.subset.get(node), theirs.subset.get(place.node))
    children = ours.children(node)
    assert len(children) == len(place.below)
    for child, below in zip(children, place.below, strict=True):
        _assert_same(plain, below, cut, int(child))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_model_says_what_its_path_says_also_when_read_back(name: str, seed: int) -> None:
    task, learners, _ = ALL[name](np.random.default_rng(seed))
    rows = positions(task)
    path, outputs = outputs_of(task, learners, rows, task)
    for index, learner in enumerate(learners):
        alone = learner.fit(task, rows, generator_of(learner))
        for model in (path.model(learner), alone, type(learner).restore(alone.describe())):
            assert model.predict(task).tolist() == outputs.predicted[index].tolist()
            np.testing.assert_allclose(model.scores(task), outputs.scores[index], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_do_not_depend_on_who_else_is_asked(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners, _ = ALL[name](rng)
    path, together = outputs_of(task, learners, positions(task), task)
    order = rng.permutation(len(learners))
    shuffled = path.outputs([learners[i] for i in order], task, positions(task), True)
    assert (shuffled.predicted == together.predicted[order]).all()
    assert (shuffled.scores == together.scores[order]).all()
    errors, sizes = path.training_error(learners), path.complexity(learners)
    for i in order[:4]:
        fresh, alone = outputs_of(task, [learners[i]], positions(task), task)
        assert (alone.predicted[0] == together.predicted[i]).all()
        assert (alone.scores[0] == together.scores[i]).all()
        np.testing.assert_array_equal(fresh.training_error([learners[i]]), errors[i : i + 1])
        np.testing.assert_array_equal(fresh.complexity([learners[i]]), sizes[i : i + 1])
