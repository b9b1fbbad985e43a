"""A forest as one SQL expression: a CASE for each tree, whose votes are added up.

Votes are whole numbers, of which no sum loses a digit, whatever the order: of numbers the mean that is read from their sum is
the model's to the last bit. Of classes there is a sum for each, and the largest says the class (ties: the first of them).
"""

from collections.abc import Sequence

import numpy as np

from modelsel.kernels.forests.forest_layout import AT, LOST, RIGHT, TEST
from modelsel.kernels.layout import LEAF
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.number_model import NumberForestModel
from modelsel.record.export.forest_trees import node_input
from modelsel.record.export.sql_words import among, bracketed_sum, name, number, or_missing, text

DEEPEST = 10  # tests on a path of nested CASE


def number_expression(forest: NumberForestModel) -> str:
    """The mean of what the trees say."""
    model, ballot = forest.votes, forest.ballot
    voters = (len(model.trees) - 1) * ballot.fine
    total = _votes(model, 0)
    return f"({number(ballot.base)} + ({total} / {number(voters)} + {number(ballot.centre)}) / {number(ballot.scale)})"


def class_expression(model: ForestModel, classes: Sequence[str]) -> str:
    """The class of most votes."""
    rows = [
        f"SELECT {text(label)} AS prediction, {_votes(model, place)} AS votes, {place} AS place"
        for place, label in enumerate(classes)
    ]
    polled = "\nUNION ALL ".join(rows)
    return f"(SELECT prediction FROM ({polled}) AS polled ORDER BY votes DESC, place LIMIT 1)"  # noqa: S608  labels and levels are quoted


def _votes(model: ForestModel, place: int) -> str:
    """The votes of all trees for a class, as a whole number of 64 binary digits."""
    votes = np.zeros(len(model.nodes), np.int64)
    own = model.voted == place
    votes[np.repeat(np.arange(len(model.nodes)), np.diff(model.first))[own]] = model.shares[own]
    trees = [_tree(model, start, end, votes) for start, end in zip(model.trees[:-1].tolist(), model.trees[1:].tolist())]
    return bracketed_sum([f"CAST({tree} AS BIGINT)" for tree in trees if tree != "0"] or ["0"])


def _tree(model: ForestModel, start: int, end: int, votes: np.ndarray) -> str:
    """The votes of nodes start … end − 1; subtrees that say the same are one."""
    said = [str(vote) for vote in votes[start:end].tolist()]
    depth, children = np.zeros(end - start, np.int64), dict[int, tuple[int, int]]()
    for node in range(end - start):
        if model.nodes[start + node, TEST] != LEAF:
            children[node] = node + 1, int(model.nodes[start + node, RIGHT])
            depth[list(children[node])] = depth[node] + 1
    if depth.max() > DEEPEST:
        return _flat(model, start, children, said)
    for node in reversed(children):
        condition, to = _condition(model, start + node)
        one, other = (said[children[node][place]] for place in (to, 1 - to))
        said[node] = one if one == other else f"CASE WHEN {condition} THEN {one} ELSE {other} END"
    return said[0]


def _flat(model: ForestModel, start: int, children: dict[int, tuple[int, int]], said: Sequence[str]) -> str:
    """A WHEN per leaf, those first that a condition leads to: no other has to say that a condition does not hold.

    Parsers keep nested expressions on a stack, which in SQLite overflows from 23 nested CASE on.
    """
    whens, waiting = list[str](), [(0, tuple[str, ...]())]
    while waiting:
        node, asked = waiting.pop()
        if node in children:
            condition, to = _condition(model, start + node)
            waiting += [(children[node][1 - to], asked), (children[node][to], (*asked, condition))]
        else:
            whens.append(f"WHEN {' AND '.join(dict.fromkeys(asked))} THEN {said[node]}" if asked else f"ELSE {said[node]}")
    return f"CASE {' '.join(whens)} END"


def _condition(model: ForestModel, node: int) -> tuple[str, int]:
    """A condition, and the child of the rows for which it holds; all others go to the other one, a missing value too."""
    asked, lost = node_input(model, node), int(model.nodes[node, TEST] & LOST != 0)
    feature = model.features[asked.feature]
    column = name(feature.name)
    if asked.child is None:
        cut = float(model.cuts[asked.feature][model.nodes[node, AT]])
        if np.isinf(cut):  # known values from missing ones
            return (f"({column} IS NULL)", 1) if lost else ("(1 = 1)", 0)
        return (f"({column} <= {number(cut)})", 0) if lost else (f"({column} > {number(cut)})", 1)
    to = 1 - asked.rest
    levels = [level for level, child in zip(feature.levels, asked.child, strict=True) if child == to]
    return or_missing(among(column, levels), column, asked.missing == to), to
