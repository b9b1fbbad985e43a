"""One fit answers each learner that differs from it in path parameters, exactly as that learner fitted alone would.

*Exactly*: equal classes, equal complexity, class scores to 1e-12, against a plain twin that knows nothing of paths: it stops
inside the growing loop, prunes afresh, searches neighbours per k. A learner joins by an entry in `LEARNERS`: a function that
draws a task, learners of equal growing, and a twin.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from modelsel.core.fingerprint import canonical
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Task, positions
from modelsel.learner._leaf import Leaf
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.assemble import assemble
from modelsel.tree.columns import columns
from modelsel.tree.growth import Growth
from modelsel.tree.node import LEAF, Cut
from modelsel.tree.numpy_grower import grow as grow_in_numpy
from modelsel.tree.numpy_router import walk
from modelsel.tree.rows import Rows

Twin = Callable[[Any, Task, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, float]]
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


def trees(rng: np.random.Generator) -> Drawn:
    task = random_task(rng)
    missing = str(rng.choice(["node_mode", "class_mode", "fractional", "branch", "surrogate"]))
    nominal = str(rng.choice(["equality", "subset"] if missing == "surrogate" else ["multiway", "equality", "subset"]))
    share = {"share": float(rng.choice([0.2, 0.4]))} if rng.random() < 0.3 else None
    fixed = {
        "criterion": make("criterion", str(rng.choice(["entropy", "gini", "gain_ratio", "chi_square"]))),
        "splits": Splits(nominal=nominal),
        "missing": missing,
        "min_leaf": float(rng.choice([1, 2])),
        "min_leaf_rule": str(rng.choice(["plain", "c45"])),
    }
    return task, [_tree(rng, fixed, share) for _ in range(6)], tree_twin


def _tree(rng: np.random.Generator, fixed: dict[str, Any], share: dict[str, float] | None) -> Tree:
    return Tree(
        **fixed,
        max_depth=rng.choice([None, 1, 2, 4]),
        min_split=float(rng.choice([2, 5, 12])),
        min_gain=float(rng.choice([0, 0.02, 0.2])),
        purity=float(rng.choice([1.0, 0.8])),
        significance=rng.choice([None, 0.3, 0.05]),
        collapse=bool(rng.random() < 0.3),
        pruner=make("pruner", "reduced_error", **share, relabel=bool(rng.random() < 0.5)) if share else _pruner(rng),
        leaf=Leaf(
            str(rng.choice(["frequency", "laplace", "m_estimate"])), prior=str(rng.choice(["root", "parent", "uniform"]))
        ),
    )


def _pruner(rng: np.random.Generator) -> Any:
    kind = str(rng.choice(["unpruned", "cost_complexity", "minimum_error", "pessimistic", "critical_value"]))
    strength = {
        "cost_complexity": {"alpha": float(rng.choice([0, 0.01, 0.05]))},
        "minimum_error": {"m": float(rng.choice([0.5, 2, 10]))},
        "pessimistic": {"standard_errors": float(rng.choice([0, 1, 2]))},
        "critical_value": {"threshold": float(rng.choice([0.01, 0.1]))},
    }
    return make("pruner", kind, **strength.get(kind, {}))


def tree_twin(learner: Tree, task: Task, rows: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Grow with the limits inside the loop, prune, and send each row down by itself."""
    from modelsel.learner._held_back import held_back
    from modelsel.tree.evidence import Evidence

    growing, pruning = held_back(task, rows, learner.pruner.growing().get("share"), generator_of(learner))
    tree = _halted(learner, task, growing)
    counts = _with_parents(tree)
    shares = np.round(counts / counts.sum(axis=1, keepdims=True), 12)
    cut = Cut(tree, tree.test == LEAF, shares.argmax(axis=1).astype(np.int32), counts)
    if learner.collapse:
        _collapse(cut, 0)
    held = None if pruning is None else _weights_of(tree, task, pruning)
    cut = learner.pruner.path(cut, Evidence(float(tree.weight[0]), held)).cut(learner.pruner)
    table = _scores(cut, learner.leaf)
    classes, scores = [], []
    for row in asked:
        fragments = walk(tree, task, np.array([row]))
        ends = [_end(cut, int(leaf)) for leaf in fragments.leaf]
        scores.append(sum(part * table[end] for part, end in zip(fragments.part, ends)))
        shares = sum(part * cut.counts[end] / cut.counts[end].sum() for part, end in zip(fragments.part, ends))
        classes.append(cut.prediction[ends[0]] if len(ends) == 1 else int(np.argmax(np.round(shares, 12))))
    return np.array(classes), np.array(scores), float(_leaves(cut, 0))


def _halted(learner: Tree, task: Task, growing: np.ndarray) -> Any:
    def halt(counts: np.ndarray, depth: int, goodness: float, children: np.ndarray) -> bool:
        if round(goodness, 12) < learner.min_gain or counts.max() >= learner.purity * counts.sum() - 1e-9:
            return True
        if learner.significance is None:
            return False
        table = children[children.sum(axis=1) > 0][:, counts > 0]
        return bool(chi2_contingency(table, correction=False).pvalue > learner.significance)

    growth = Growth(
        learner.missing, learner.splits.nominal, learner.splits.threshold, learner.min_leaf, learner.min_leaf_rule,
        learner.min_split, learner.max_depth,
    )  # fmt: skip
    chosen, ranked = Rows.of(task, growing), columns(task)
    return assemble(grow_in_numpy(chosen, ranked, learner.criterion, growth, halt), task, ranked, None)


def _with_parents(tree: Any) -> np.ndarray:
    counts = tree.counts.copy()
    for node in range(1, len(tree)):
        if counts[node].sum() == 0:
            counts[node] = counts[tree.parent[node]]
    return counts


def _collapse(cut: Cut, node: int) -> float:
    own = float(cut.tree.counts[node].sum() - cut.tree.counts[node][cut.prediction[node]])
    if cut.leaf[node]:
        return own
    below = sum(_collapse(cut, int(child)) for child in cut.tree.children(node))
    if own <= below + 1e-3:
        cut.leaf[node] = True
        return own
    return below


def _weights_of(tree: Any, task: Task, rows: np.ndarray) -> np.ndarray:
    counts = np.zeros(tree.counts.shape)
    for row in rows:
        fragments = walk(tree, task, np.array([row]))
        for leaf, part in zip(fragments.leaf, fragments.part):
            node = int(leaf)
            while node >= 0:
                counts[node, task.target[row]] += part * task.row_weights[row]
                node = int(tree.parent[node])
    return counts


def _end(cut: Cut, node: int) -> int:
    above = [node]
    while (node := int(cut.tree.parent[node])) >= 0:
        above.append(node)
    return next(each for each in reversed(above) if cut.leaf[each])


def _leaves(cut: Cut, node: int) -> int:
    return 1 if cut.leaf[node] else sum(_leaves(cut, int(child)) for child in cut.tree.children(node))


def _scores(cut: Cut, leaf: Leaf) -> np.ndarray:
    table = np.empty(cut.counts.shape)
    for node, counts in enumerate(cut.counts):
        n, k = counts.sum(), len(counts)
        parent = cut.counts[max(int(cut.tree.parent[node]), 0)]
        root = cut.tree.counts[0]
        prior = {"root": root / root.sum(), "parent": parent / parent.sum(), "uniform": np.full(k, 1 / k)}[leaf.prior]
        if leaf.score == "laplace":
            table[node] = (counts + leaf.l) / (n + leaf.l * k)
        else:
            m = leaf.m if leaf.score == "m_estimate" else 0.0
            table[node] = (counts + m * prior) / (n + m)
    return table


def softened_trees(rng: np.random.Generator) -> Drawn:
    """Softening is checked row by row in its own tests; here, that a path and a model say the same."""
    task, learners, twin = trees(rng)
    soft = [make("softener", "range_fraction", q=float(q)) for q in (0, 1, 3)] + [make("softener", "c45")]
    return task, [replace(learner, softener=soft[i % 4]) for i, learner in enumerate(learners)], twin


LEARNERS: dict[str, Callable[[np.random.Generator], Drawn]] = {"tree": trees}
CHECKED_ELSEWHERE = {"softened_tree": softened_trees}
ALL = {**LEARNERS, **CHECKED_ELSEWHERE}


def generator_of(learner: Any) -> np.random.Generator:
    """Numbers that depend on the growing specification alone."""
    return np.random.default_rng(list(canonical(learner.growing()).encode()))


def outputs_of(task: Task, learners: Sequence[Any], rows: np.ndarray, asked: np.ndarray) -> tuple[Any, Outputs]:
    path = learners[0].fit_path(task, rows, generator_of(learners[0]))
    return path, path.outputs(learners, task, asked, True)


@pytest.mark.parametrize("name", sorted(LEARNERS))
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_one_fit_answers_every_path_candidate_exactly(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task, learners, twin = LEARNERS[name](rng)
    rows = np.sort(
        rng.integers(0, len(task), len(task)) if rng.random() < 0.3 else rng.permutation(len(task))[: len(task) * 2 // 3 + 2]
    )
    asked = positions(task)
    path, outputs = outputs_of(task, learners, rows, asked)
    assert outputs.scores is not None
    for index, learner in enumerate(learners):
        classes, scores, size = twin(learner, task, rows, asked)
        assert outputs.predicted[index].tolist() == classes.tolist()
        np.testing.assert_allclose(outputs.scores[index], scores, rtol=0, atol=1e-12)
        assert path.complexity([learner])[0] == size


@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_model_says_what_its_path_says_also_when_read_back(name: str, seed: int) -> None:
    task, learners, _ = ALL[name](np.random.default_rng(seed))
    rows, asked = positions(task), positions(task)
    path, outputs = outputs_of(task, learners, rows, asked)
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
    rows = asked = positions(task)
    path, together = outputs_of(task, learners, rows, asked)
    order = rng.permutation(len(learners))
    shuffled = path.outputs([learners[i] for i in order], task, asked, True)
    assert (shuffled.predicted == together.predicted[order]).all()
    assert (shuffled.scores == together.scores[order]).all()
