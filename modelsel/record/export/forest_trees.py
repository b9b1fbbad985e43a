"""What the nodes of a forest ask for, whatever system is to ask it, and its trees one by one, for words and drawings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.forests.model import ForestModel, NumberForestModel
from modelsel.tree.conditions import paths
from modelsel.tree.nested import digraph, dot_lines
from modelsel.tree.node import DecisionTree


@dataclass(frozen=True)
class NodeInput:
    """The input of a test: a number as it is (`child` is None), or the position of the child that takes a level."""

    feature: int
    child: tuple[int, ...] | None = None  # by level
    missing: int = 0
    rest: int = 0  # for levels that training had not declared


def node_input(model: ForestModel, node: int) -> NodeInput:
    """What a node that is no leaf asks for."""
    own = model.nodes[node]
    index = int(own[COLUMN])
    levels = len(model.features[index].levels)
    if model.features[index].kind == "numeric":
        return NodeInput(index)
    if own[TEST] & KIND == THRESHOLD:  # undeclared levels stand above all declared ones; missing ones alone may stand above
        rest = int(levels > model.cuts[index][own[AT]])
    else:
        rest = int(own[TEST] & OTHERS != 0)
    return NodeInput(index, tuple(np.where(_first(model, node), 0, 1).tolist()), int(own[TEST] & LOST != 0), rest)


def _first(model: ForestModel, node: int) -> Booleans:
    """Mask the levels that take the first branch."""
    index, at, test = (int(model.nodes[node, place]) for place in (COLUMN, AT, TEST))
    levels = np.arange(len(model.features[index].levels))
    if test & KIND == SUBSET:
        return np.asarray(model.marks[at : at + len(levels)] != 0)
    return np.asarray(levels == at if test & KIND == EQUALITY else levels <= model.cuts[index][at])


def tree_and_place(model: ForestModel) -> tuple[Integers, Integers]:
    """The tree of each node, and its place in it."""
    sizes = np.diff(model.trees)
    return np.repeat(np.arange(len(sizes)), sizes), np.arange(len(model.nodes)) - np.repeat(model.trees[:-1], sizes)


def forest_trees(model: ForestModel, classes: tuple[str, ...]) -> Iterator[DecisionTree]:
    """The trees one by one: tests, and at leaves the shares of classes (of numbers nothing); weights are not known."""
    for start, end in zip(model.trees[:-1].tolist(), model.trees[1:].tolist(), strict=True):
        yield _tree(model, start, end, classes)


def _tree(model: ForestModel, start: int, end: int, classes: tuple[str, ...]) -> DecisionTree:
    """The tree of nodes start … end − 1."""
    nodes, size = model.nodes[start:end], end - start
    inner = nodes[:, TEST] != LEAF
    places, kind = np.flatnonzero(inner), np.where(inner, nodes[:, TEST] & KIND, LEAF)
    child = np.column_stack([places + 1, nodes[places, RIGHT]]).ravel()
    parent, threshold = np.full(size, -1, np.int32), np.full(size, np.nan)
    parent[child] = np.repeat(places, 2)
    for place in places[kind[places] != SUBSET].tolist():
        at = nodes[place, AT]
        threshold[place] = model.cuts[nodes[place, COLUMN]][at] if kind[place] == THRESHOLD else at
    counts = np.zeros((size, max(len(classes), 1)))
    first = model.first[start : end + 1]
    counts[np.repeat(np.arange(size), np.diff(first)), model.voted[first[0] : first[-1]]] = (
        model.shares[first[0] : first[-1]] / WHOLE
    )
    return DecisionTree(
        features=model.features, classes=classes, parent=parent, test=kind.astype(np.int8),
        feature=np.where(inner, nodes[:, COLUMN], -1).astype(np.int32), threshold=threshold,
        first=np.append(0, np.cumsum(2 * inner)).astype(np.int32), child=child.astype(np.int32), counts=counts,
        goodness=np.full(size, np.nan),
        subset={place: _first(model, start + place) for place in places[kind[places] == SUBSET].tolist()},
        missing_to=(nodes[:, TEST] & LOST != 0).astype(np.int32),
    )  # fmt: skip


# A forest for readers: the rules of its trees, and a drawing for Graphviz.

Forest = ForestModel | NumberForestModel


def forest_rules(forest: Forest, classes: tuple[str, ...]) -> str:
    """The rules of each tree below its number, a line each: `if 1.5 < age <= 4 then 12.5`, or `then yes 0.75, no 0.25`."""
    lines = []
    for number, (tree, said) in enumerate(_trees(forest, classes), 1):
        lines.append(f"tree {number}")
        for node, path in enumerate(paths(tree, range(len(tree)))):
            if tree.terminal[node]:
                asked = " and ".join(one.words(tree.features[one.feature]) for one in path.values())
                lines.append(f"if {asked or 'anything'} then {said[node]}")
    return "\n".join(lines) + "\n"


def forest_dot(forest: Forest, classes: tuple[str, ...]) -> str:
    """Graphviz: a cluster per tree, what is asked in the nodes and the answers along the branches."""
    lines = []
    for number, (tree, said) in enumerate(_trees(forest, classes), 1):
        labels = {node: said[node] or tree.features[tree.feature[node]].name for node in range(len(tree))}
        own = (f"  {line}" for line in dot_lines(tree, tree.terminal, labels, f"t{number}n"))
        lines += [f"  subgraph cluster_{number} {{", f'    label="tree {number}";', *own, "  }"]
    return digraph("forest", lines)


def _trees(forest: Forest, classes: tuple[str, ...]) -> Iterator[tuple[DecisionTree, Sequence[str]]]:
    """Each tree, and what its leaves say; nodes that are no leaves say nothing."""
    if isinstance(forest, ForestModel):
        for tree in forest_trees(forest, classes):
            yield tree, [_shares(own, classes) for own in tree.counts]
        return
    model = forest.votes
    votes = np.zeros(len(model.nodes), np.int64)
    votes[np.diff(model.first) > 0] = model.shares
    numbers = forest.ballot.read(votes, 1)
    for start, tree in zip(model.trees[:-1].tolist(), forest_trees(model, ()), strict=True):
        yield tree, [f"{numbers[start + node]:.6g}" if leaf else "" for node, leaf in enumerate(tree.terminal.tolist())]


def _shares(own: Floats, classes: Sequence[str]) -> str:
    """The classes that a leaf votes for, those of most votes first; a share where it is not all.

    >>> _shares(np.array([0.25, 0.75, 0.0]), ("no", "yes", "never")), _shares(np.array([0.0, 1.0]), ("no", "yes"))
    ('yes 0.75, no 0.25', 'yes')
    """
    voted = [place for place in np.argsort(-own, kind="stable").tolist() if own[place] > 0]
    if len(voted) == 1:
        return str(classes[voted[0]])
    return ", ".join(f"{classes[place]} {own[place]:.2g}" for place in voted)
