"""A tree as one SQL expression: nested CASE over the columns, exact where each row goes down one path.

A missing value (NULL) goes where the tree sends it, a level that training had not declared goes with the majority. A tree that
divides rows, asks surrogates, softens its splits or prepares its features has no such expression and is refused.
"""

from modelsel.core.types import Feature
from modelsel.learner.trees.model import TreeModel
from modelsel.record.export.one_path import one_path
from modelsel.record.model.model import Predictor
from modelsel.tree.structure.node import EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree


def sql(predictor: Predictor, table: str) -> str:
    """A SELECT that adds the predicted class to the rows of a table."""
    return f"SELECT *,\n{_case(one_path(predictor, 'sql'))} AS prediction\nFROM {name(table)};\n"


def name(word: str) -> str:
    """
    >>> print(name('the "size" of it'))
    "the ""size"" of it"
    """
    return '"' + word.replace('"', '""') + '"'


def text(word: str) -> str:
    """
    >>> print(text("don't"))
    'don''t'
    """
    return "'" + word.replace("'", "''") + "'"


def _case(model: TreeModel) -> str:
    """Children stand after their parents, so the expressions are put together from the last node to the first."""
    cut, tree = model.cut, model.cut.tree
    said = [""] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        if cut.leaf[node]:
            said[node] = text(tree.classes[cut.prediction[node]])
        else:
            said[node] = _branches(tree, node, said)
    return said[0]


def _branches(tree: DecisionTree, node: int, said: list[str]) -> str:
    """The last branch of the CASE takes what no condition names: unseen levels go with the majority."""
    children = tree.children(node)
    conditions = [*_conditions(tree, node), *["0 = 1"] * len(children)][: len(children)]  # the last may be for missing values
    assert tree.missing_to is not None
    column = name(tree.features[tree.feature[node]].name)
    rest = int(tree.majority[node]) if tree.test[node] != THRESHOLD else 1
    if (missing := int(tree.missing_to[node])) != rest:
        conditions[missing] = f"{conditions[missing]} OR {column} IS NULL"
    whens = [f"WHEN {said_if} THEN {said[children[i]]}" for i, said_if in enumerate(conditions) if i != rest]
    return f"CASE {' '.join(whens)} ELSE {said[children[rest]]} END"


def _conditions(tree: DecisionTree, node: int) -> list[str]:
    """What sends a row to each child."""
    feature, threshold = tree.features[tree.feature[node]], tree.threshold[node]
    column, test = name(feature.name), tree.test[node]
    if test == THRESHOLD and feature.kind == "numeric":
        return [f"{column} <= {float(threshold)!r}", f"{column} > {float(threshold)!r}"]
    return [_in(column, levels) for levels in _levels(tree, node, feature, test, threshold)]


def _levels(tree: DecisionTree, node: int, feature: Feature, test: int, threshold: float) -> list[list[str]]:
    """The levels that go to each child."""
    if test == MULTIWAY:
        return [[level] for level in feature.levels]
    if test == SUBSET:
        first = [bool(mark) for mark in tree.subset[node]]
    elif test == EQUALITY:
        first = [index == int(threshold) for index in range(len(feature.levels))]
    else:
        first = [index <= threshold for index in range(len(feature.levels))]
    pairs = list(zip(feature.levels, first, strict=True))
    return [[level for level, mark in pairs if mark], [level for level, mark in pairs if not mark]]


def _in(column: str, levels: list[str]) -> str:
    return f"{column} IN ({', '.join(map(text, levels))})" if levels else "0 = 1"
