"""A forest for readers: the rules of its trees, and a drawing for Graphviz.

A leaf says a number, or the share that each class has of its vote. How many rows came by is not kept in a forest.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from modelsel.core.types import Floats
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.number_model import NumberForestModel
from modelsel.record.export.forest_trees import forest_trees
from modelsel.tree.export.nested import digraph, dot_lines
from modelsel.tree.structure.conditions import paths
from modelsel.tree.structure.node import DecisionTree

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
