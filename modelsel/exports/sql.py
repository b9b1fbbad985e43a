"""A tree as one SQL expression: nested CASE over the columns, where rows are divided sums of weights.

A missing value (NULL) goes where the tree sends it: down one branch, where the first surrogate that is known says, or down
every branch with its share of the row; a tree of numbers then answers the mean of its leaves. A level that training had not
declared goes with the majority. A leaf of a model tree is a sum of products. A tree that softens its splits or prepares its
features has no such expression and is refused. A forest adds up its trees.

A tree deeper than DEEPEST is written flat, a WHEN per leaf with the conditions of its path: parsers keep nested expressions on
a stack, which in SQLite overflows from 23 nested CASE on.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats
from modelsel.exports.shipped import Shipped
from modelsel.exports.sql_reading import GIVEN, asked_of_read, name, number, text
from modelsel.exports.trees import hard_tree, node_input, unprepared_forest
from modelsel.kernels.forests.forest_layout import AT, LOST, RIGHT, TEST
from modelsel.kernels.layout import LEAF
from modelsel.learner.forests.model import ForestModel, NumberForestModel
from modelsel.learner.trees.leaf import frequencies
from modelsel.learner.trees.model import NumberTreeModel, TreeModel
from modelsel.tree.cutting import reached
from modelsel.tree.node import BY_SURROGATES, DIVIDED, EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree, NodeModels, Term

# A forest as one SQL expression: a CASE for each tree, whose votes are added up.

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
        condition, to = _node_condition(model, start + node)
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
            condition, to = _node_condition(model, start + node)
            waiting += [(children[node][1 - to], asked), (children[node][to], (*asked, condition))]
        else:
            whens.append(f"WHEN {' AND '.join(dict.fromkeys(asked))} THEN {said[node]}" if asked else f"ELSE {said[node]}")
    return f"CASE {' '.join(whens)} END"


def _node_condition(model: ForestModel, node: int) -> tuple[str, int]:
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


# Conditions, and sums that are not deep.


def among(column: str, levels: Sequence[str]) -> str:
    """Say that a column has one of some levels; that of none never holds."""
    return f"{column} IN ({', '.join(map(text, levels))})" if levels else "0 = 1"


def or_missing(condition: str, column: str, also: bool) -> str:
    """Put a condition in brackets, which holds for a missing value as well where `also` says so."""
    return f"({condition} OR {column} IS NULL)" if also else f"({condition})"


def bracketed_sum(terms: Sequence[str]) -> str:
    """A sum in brackets that halve it, so that it is as deep as its logarithm.

    >>> bracketed_sum(["1", "2", "3"])
    '(1 + (2 + 3))'
    """
    if len(terms) < 2:
        return terms[0]
    half = len(terms) // 2
    return f"({bracketed_sum(terms[:half])} + {bracketed_sum(terms[half:])})"


AnyTree = TreeModel | NumberTreeModel


def sql(predictor: Shipped, table: str) -> str:
    """A SELECT that adds the predicted class, or number, to the rows of a table."""
    said = _expression(predictor)
    if predictor.read_as.decided:
        said = asked_of_read(predictor.read_as, said)
        return f"SELECT *,\n{said} AS prediction\nFROM {name(table)} AS {GIVEN};\n"
    return f"SELECT *,\n{said} AS prediction\nFROM {name(table)};\n"


def _expression(predictor: Shipped) -> str:
    """What a tree or a forest says. Raises ConfigurationError where SQL cannot say it."""
    if isinstance(predictor.model, NumberForestModel):
        unprepared_forest(predictor, "sql")
        return number_expression(predictor.model)
    if isinstance(predictor.model, ForestModel):
        return class_expression(unprepared_forest(predictor, "sql"), predictor.classes)
    return _prediction(hard_tree(predictor, "sql"))


def _prediction(model: AnyTree) -> str:
    """What its leaf answers for a row that goes down one path; else the best class, or the mean, of its leaves."""
    divided, numbers = _divides_missing(model), isinstance(model, NumberTreeModel)
    if model.cut.models is not None:
        leaves = [_model(model.cut.models, node, model.cut.tree.features) for node in range(len(model.cut.tree))]
    else:
        leaves = [number(one) if numbers else text(model.cut.tree.classes[one]) for one in model.cut.prediction]
    whole = _whole(model, leaves, ["NULL" if one else "" for one in divided])
    if not divided.any():
        return whole
    parted = _mean(model, model.cut.prediction, divided) if isinstance(model, NumberTreeModel) else _best(model, divided)
    return f"COALESCE({whole},\n{parted})"


def _model(models: NodeModels, node: int, features: tuple[Feature, ...]) -> str:
    """The linear model of a node, added up from left to right as the model does."""
    factors = models.coefficients[node]
    terms = (f" + {number(factors[place])} * {_value(models.terms[place], features)}" for place in np.flatnonzero(factors))
    return f"({number(models.intercept[node])}{''.join(terms)})"


def _value(term: Term, features: tuple[Feature, ...]) -> str:
    """The value of a term; what is missing, or was not declared, counts as its `fill`."""
    feature, fill = features[term.feature], number(term.fill)
    column = name(feature.name)
    if term.levels is not None:
        marked = [level for level, mark in zip(feature.levels, term.levels, strict=True) if mark == (term.fill == 0.0)]
        return f"CASE WHEN {among(column, marked)} THEN {1 - int(term.fill)} ELSE {int(term.fill)} END"
    if feature.is_number:
        return f"COALESCE({column}, {fill})"
    ranks = " ".join(f"WHEN {text(level)} THEN {rank}" for rank, level in enumerate(feature.levels))
    return f"CASE {column} {ranks} ELSE {fill} END"


def _divides_missing(model: AnyTree) -> Booleans:
    """Say at which nodes a missing value goes down several branches, because more than one has training weight."""
    tree = model.cut.tree
    assert tree.missing_to is not None
    several = [np.count_nonzero(tree.share[tree.children(node)] > 0) > 1 for node in range(len(tree))]
    return np.asarray(~model.cut.leaf & (tree.missing_to == DIVIDED) & several)


def _whole(model: AnyTree, leaves: Sequence[str], missing: Sequence[str]) -> str:
    """Nested CASE from what leaves say; `missing`: what a node says of a missing value itself, empty where a child does.

    Children stand after their parents, so the expressions are put together from the last node to the first.
    """
    cut, tree = model.cut, model.cut.tree
    if _deep(model):
        whens = [f"WHEN {_all(_path(tree, leaf, model)) or '1 = 1'} THEN {leaves[leaf]}" for leaf in _leaves(model)]
        return "\n".join(["CASE", *whens, "END"])
    said = list(leaves)
    for node in range(len(tree) - 1, -1, -1):
        if not cut.leaf[node]:
            said[node] = _branches(tree, node, [said[child] for child in tree.children(node)], missing[node])
    return said[0]


def _best(model: TreeModel, divided: Booleans) -> str:
    """The class of largest mean share (least mean cost) over the leaves that a row reaches; ties go to the first."""
    shares = frequencies(model.cut.counts)
    merit = shares if model.costs is None else -(shares @ model.costs)
    rows = [
        f"SELECT {text(label)} AS prediction, {_mean(model, merit[:, place], divided)} AS score, {place} AS place"
        for place, label in enumerate(model.cut.tree.classes)
    ]
    scored = "\nUNION ALL ".join(rows)
    return f"(SELECT prediction FROM ({scored}) AS scored ORDER BY ROUND(score, 12) DESC, place LIMIT 1)"  # noqa: S608  names and levels are quoted


def _mean(model: AnyTree, of_node: Floats, divided: Booleans) -> str:
    """Mean of a number over the leaves that a row reaches, each with its part of the row."""
    tree = model.cut.tree
    if _deep(model):
        return bracketed_sum([_term(model, leaf, float(of_node[leaf]), divided) for leaf in _leaves(model)])
    said = [number(value) for value in of_node]
    for node in range(len(tree) - 1, -1, -1):
        children = [said[child] for child in tree.children(node)]
        if divided[node]:
            parts = [number(tree.share[child]) for child in tree.children(node)]
            here = [["1" if own == each else "0" for each in range(len(parts))] for own in range(len(parts))]
            weights = [_branches(tree, node, marks, part) for marks, part in zip(here, parts, strict=True)]
            said[node] = f"({' + '.join(f'{weight} * {child}' for weight, child in zip(weights, children, strict=True))})"
        elif not model.cut.leaf[node]:
            said[node] = _branches(tree, node, children)
    return said[0]


def _deep(model: AnyTree) -> bool:
    """Say whether the tree is too deep for nested expressions."""
    return any(model.cut.tree.depth[leaf] > DEEPEST for leaf in _leaves(model))


def _leaves(model: AnyTree) -> list[int]:
    """The leaves that stand, in preorder."""
    return np.flatnonzero(reached(model.cut) & model.cut.leaf).tolist()


def _steps(tree: DecisionTree, leaf: int) -> Iterator[tuple[int, int]]:
    """Nodes above a leaf, with the position of the child on the path, from the root on."""
    path: list[tuple[int, int]] = []
    while tree.parent[leaf] >= 0:
        node = int(tree.parent[leaf])
        path.append((node, tree.children(node).tolist().index(leaf)))
        leaf = node
    return iter(path[::-1])


def _path(tree: DecisionTree, leaf: int, model: AnyTree, but: Booleans | None = None) -> list[str]:
    """The conditions on the way to a leaf, of thresholds of a column the narrowest; those of nodes in `but` are left out."""
    narrowest: dict[tuple[int, int], tuple[float, bool]] = {}
    others = []
    divided = _divides_missing(model)
    for node, place in _steps(tree, leaf):
        feature = tree.features[tree.feature[node]]
        if but is not None and but[node]:
            continue
        cuts_numbers = tree.test[node] == THRESHOLD and feature.is_number and np.isfinite(tree.threshold[node])
        if cuts_numbers and not _asks_surrogates(tree, node):
            at, key = float(tree.threshold[node]), (int(tree.feature[node]), place)
            empty = not divided[node] and _child_of_missing(tree, node) == place
            known, also = narrowest.get(key, (at, True))
            narrowest[key] = (max(known, at) if place else min(known, at), also and empty)
        else:
            others.append(_condition(tree, node, place, bool(divided[node])))
    cuts = [
        or_missing(f"{name(tree.features[f].name)} {'>' if place else '<='} {at!r}", name(tree.features[f].name), empty)
        for (f, place), (at, empty) in narrowest.items()
    ]
    return [*cuts, *dict.fromkeys(others)]


def _condition(tree: DecisionTree, node: int, place: int, divided: bool) -> str:
    """The condition under which a row goes from a node to one of its children."""
    if _asks_surrogates(tree, node):
        return f"{_by_surrogates(tree, node, ['0', '1'])} = {place}"
    column, conditions = name(tree.features[tree.feature[node]].name), _conditions(tree, node)
    said = conditions[place] if place < len(conditions) else "0 = 1"
    if place == _rest(tree, node) and tree.features[tree.feature[node]].has_levels:
        named = [one for other, one in enumerate(conditions) if other != place and one != "0 = 1"]
        said = f"{column} IS NOT NULL{''.join(f' AND NOT {one}' for one in named)}"
    return or_missing(said, column, not divided and _child_of_missing(tree, node) == place)


def _asks_surrogates(tree: DecisionTree, node: int) -> bool:
    assert tree.missing_to is not None
    return bool(tree.missing_to[node] <= BY_SURROGATES)


def _all(conditions: Sequence[str]) -> str:
    return " AND ".join(conditions)


def _term(model: AnyTree, leaf: int, value: float, divided: Booleans) -> str:
    """A leaf's part of the mean: its number times the part of the row that comes there."""
    tree, parts = model.cut.tree, [number(value)]
    for node, place in _steps(tree, leaf):
        if divided[node]:
            column = name(tree.features[tree.feature[node]].name)
            share, here = number(tree.share[tree.children(node)[place]]), _condition(tree, node, place, True)
            parts.append(f"CASE WHEN {column} IS NULL THEN {share} WHEN {here} THEN 1 ELSE 0 END")
    whole = _all(_path(tree, leaf, model, but=divided))
    product = " * ".join(parts)
    return f"CASE WHEN {whole} THEN {product} ELSE 0 END" if whole else product


def _branches(tree: DecisionTree, node: int, said: Sequence[str], missing: str = "") -> str:
    """Write the CASE that gives the answer of a row's child, or `missing` for a missing value, where that is not empty.

    The last branch of the CASE takes what no condition names: unseen levels go with the majority.
    """
    assert tree.missing_to is not None
    if tree.missing_to[node] <= BY_SURROGATES:
        return _by_surrogates(tree, node, said)
    conditions = [*_conditions(tree, node), *["0 = 1"] * len(said)][: len(said)]  # the last may be for missing values
    column, rest = name(tree.features[tree.feature[node]].name), _rest(tree, node)
    whens = [f"WHEN {column} IS NULL THEN {missing}"] if missing else []
    if not missing and (to := _child_of_missing(tree, node)) != rest:
        conditions[to] = f"{conditions[to]} OR {column} IS NULL"
    whens += [f"WHEN {said_if} THEN {said[i]}" for i, said_if in enumerate(conditions) if i != rest]
    return f"CASE {' '.join(whens)} ELSE {said[rest]} END"


def _rest(tree: DecisionTree, node: int) -> int:
    """The child that takes levels that training had not declared."""
    return int(tree.majority[node]) if tree.test[node] != THRESHOLD else int(tree.threshold[node] < np.inf)


def _child_of_missing(tree: DecisionTree, node: int) -> int:
    """The child that takes a missing value: of a node that would divide it, the only one with training weight."""
    assert tree.missing_to is not None
    to = int(tree.missing_to[node])
    return int(np.argmax(tree.share[tree.children(node)] > 0)) if to == DIVIDED else to


def _by_surrogates(tree: DecisionTree, node: int, said: Sequence[str]) -> str:
    """The node's own test where its value is known, else the first surrogate that says something, else the larger side."""
    assert tree.missing_to is not None
    asked = [
        *zip(_conditions(tree, node), (0, 1)),
        (f"{name(tree.features[tree.feature[node]].name)} IS NOT NULL", _rest(tree, node)),
    ]
    found = tree.surrogates
    for each in range(0) if found is None else range(found.first[node], found.first[node + 1]):
        asked += zip(_stand_in(tree, each), (0, 1))
    places = " ".join(f"WHEN {said_if} THEN {place}" for said_if, place in asked)
    return f"CASE CASE {places} ELSE {BY_SURROGATES - int(tree.missing_to[node])} END WHEN 0 THEN {said[0]} ELSE {said[1]} END"


def _stand_in(tree: DecisionTree, each: int) -> list[str]:
    """List the conditions of a surrogate, one per child; none holds where its feature is missing too."""
    found = tree.surrogates
    assert found is not None
    feature, flipped = tree.features[found.feature[each]], bool(found.flipped[each])
    column, threshold = name(feature.name), float(found.threshold[each])
    if each in found.sides:
        sides = list(zip(feature.levels, found.sides[each], strict=True))
        return [among(column, [level for level, side in sides if side == child]) for child in (0, 1)]
    if feature.is_number:
        pair = [f"{column} <= {threshold!r}", f"{column} > {threshold!r}"]
    else:
        below = [level for place, level in enumerate(feature.levels) if place <= threshold]
        pair = [among(column, below), f"{column} NOT IN ({', '.join(map(text, below))})" if below else f"{column} IS NOT NULL"]
    return pair[::-1] if flipped else pair


def _conditions(tree: DecisionTree, node: int) -> list[str]:
    """List the conditions that send a row to each child."""
    feature, threshold = tree.features[tree.feature[node]], tree.threshold[node]
    column, test = name(feature.name), tree.test[node]
    if test == THRESHOLD and feature.is_number:
        if np.isinf(threshold):  # known values from missing ones
            return [f"{column} IS NOT NULL", "0 = 1"][:: 1 if threshold > 0 else -1]
        return [f"{column} <= {float(threshold)!r}", f"{column} > {float(threshold)!r}"]
    return [among(column, levels) for levels in _levels(tree, node, feature, test, threshold)]


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
