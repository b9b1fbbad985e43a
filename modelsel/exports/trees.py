"""Trees and forests as other systems take them: which can be exported as they are fitted, and what their nodes ask for.

Exported as they are fitted are those on features as they are, with hard splits. A row with a missing value may be divided
(`missing=fractional`) or sent by surrogates (`missing=surrogate`): SQL says both, the tree ensembles of ONNX neither.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, Floats, Integers
from modelsel.exports.shipped import Shipped
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.forests.model import ForestModel, NumberForestModel, QuantileForestModel
from modelsel.learner.transformed_target import TransformedModel
from modelsel.learner.trees.model import ModelTree, NumberTreeModel, TreeModel
from modelsel.tree.conditions import paths
from modelsel.tree.nested import digraph, dot_lines
from modelsel.tree.node import DIVIDED, DecisionTree

KEPT_ROWS = "it says quantiles of the rows that its leaves keep (leaf.statistic of a forest)"
PREPARED = "the features are prepared before the tree sees them (preparer)"


def one_path(predictor: Shipped, to: str) -> TreeModel | NumberTreeModel:
    """Return the tree of a predictor that sends each row down a single path by the test's own column.

    Raises ConfigurationError with every reason why `--to` cannot express it.
    """
    if isinstance(predictor.model, ModelTree):
        what = "its leaves are linear models, and the leaves of a tree in ONNX say one number"
        said = "take --to rules, dot or json" if predictor.steps else "take --to sql, rules, dot or json"
        raise ConfigurationError(Problem("MSEL-255", what, f"--to {to}", said))
    model = hard_tree(predictor, to)
    _refuse(to, list(_holes(predictor)), "take --to sql, or a tree with missing=node_mode")
    return model


def hard_tree(predictor: Shipped, to: str) -> TreeModel | NumberTreeModel:
    """The tree of a predictor whose splits are hard, rows with missing values sent as they may be."""
    refuse_other_answers(predictor, to)
    _refuse(to, list(_reasons(predictor)), "take --to json, or a tree without these settings")
    assert isinstance(predictor.model, TreeModel | NumberTreeModel)
    return predictor.model


def unprepared_forest(predictor: Shipped, to: str) -> ForestModel:
    """The forest of a predictor (of numbers the votes), or ConfigurationError where its features are prepared."""
    reasons = [PREPARED.replace("tree", "forest")] if predictor.steps else []
    fix = "take --to json, or a forest without a preparer"
    ConfigurationError.raise_if(Problem("MSEL-255", reason, f"--to {to}", fix) for reason in reasons)
    model = predictor.model.votes if isinstance(predictor.model, NumberForestModel) else predictor.model
    assert isinstance(model, ForestModel)
    return model


def refuse_other_answers(predictor: Shipped, to: str) -> None:
    """Raise for a model whose answers are more than the numbers of its leaves.

    A transform is turned back by exponentials, which differ from system to system in their last digits; a quantile of a forest
    is one of the rows that its leaves keep.
    """
    model = predictor.model
    if isinstance(model, TransformedModel):
        what = f"its answers are turned back by target.transform={model.name}, which systems round differently"
        raise ConfigurationError(Problem("MSEL-255", what, f"--to {to}", "take --to json, or target.transform=none"))
    if isinstance(model, QuantileForestModel):
        fix = "take --to json, or leaf.statistic=mean"
        raise ConfigurationError(Problem("MSEL-255", KEPT_ROWS, f"--to {to}", fix))


def _refuse(to: str, reasons: list[str], fix: str) -> None:
    ConfigurationError.raise_if(Problem("MSEL-255", reason, f"--to {to}", fix) for reason in reasons)


def _reasons(predictor: Shipped) -> Iterator[str]:
    """Yield why the model is not a single tree with hard tests on unprepared features."""
    model = predictor.model
    if not isinstance(model, TreeModel | NumberTreeModel):
        yield f"{type(model).__name__} is not a tree"
        return
    if predictor.steps:
        yield PREPARED
    if isinstance(model, TreeModel) and model.widths is not None:
        yield "the splits are softened (softener other than hard): a row reaches several leaves"


def _holes(predictor: Shipped) -> Iterator[str]:
    """Yield why its rows with missing values cannot be sent down one path."""
    model = predictor.model
    if not isinstance(model, TreeModel | NumberTreeModel) or model.cut.tree.missing_to is None:
        return
    to = model.cut.tree.missing_to[~model.cut.leaf]
    if (to == DIVIDED).any():
        yield "rows with missing values are divided (missing=fractional)"
    if ((to < 0) & (to != DIVIDED)).any():
        yield "rows with missing values are sent by surrogates (missing=surrogate)"


# What the nodes of a forest ask for, whatever system is to ask it, and its trees one by one, for words and drawings.


@dataclass(frozen=True)
class NodeInput:
    """The input of a test: a number as it is (`child` is None), or the position of the child that takes a level."""

    feature: int
    child: tuple[int, ...] | None = None  # by level
    missing: int = 0
    rest: int = 0  # for levels that training had not declared


def node_input(model: ForestModel, node: int) -> NodeInput:
    """The input that a node which is no leaf tests."""
    own = model.nodes[node]
    index = int(own[COLUMN])
    levels = len(model.features[index].levels)
    if model.features[index].is_number:
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
