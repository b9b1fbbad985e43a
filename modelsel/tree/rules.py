"""A tree as rules: one per leaf, each feature named once, with how many rows it covers and how often it is right.

coverage = share of the training weight at the leaf; confidence = share of that weight in the leaf's class (of an empty
branch: none). The rules of a tree exclude each other, so that their order means nothing; they stand in the tree's order.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Feature, Floats
from modelsel.tree.conditions import Condition, branch_words, path_conditions, paths
from modelsel.tree.cutting import reached
from modelsel.tree.node import BY_SURROGATES, DIVIDED, NodeModels, PrunedView
from modelsel.tree.routing import Routed


@dataclass(frozen=True)
class TreeRule:
    """If all `conditions` hold, the class (or number) is `prediction`; `off`: of numbers, the root mean squared error."""

    conditions: tuple[Condition, ...]
    prediction: int | float  # index of a class, or a number
    weight: float
    coverage: float
    confidence: float | None
    leaf: int  # its node
    off: float | None = None


def to_rules(cut: PrunedView) -> tuple[TreeRule, ...]:
    """A rule per leaf; conditions on one feature are merged into the narrowest."""
    counts, nodes = own_counts(cut), np.flatnonzero(reached(cut)).tolist()
    told = zip(nodes, paths(cut.tree, nodes), strict=True)
    return tuple(_rule(cut, counts, leaf, tuple(path.values())) for leaf, path in told if cut.leaf[leaf])


def rules_text(cut: PrunedView, most: int | None = None) -> str:
    """The rules in words, a line each; of more than `most` those that cover most, and how many are left out.

    if outlook = sunny and humidity = high then no   [covers 3 (21.4 %), right 100.0 %]
    """
    rules = to_rules(cut)
    if most is None or len(rules) <= most:
        return "".join(f"{_words(cut, rule)}\n" for rule in rules)
    heaviest = sorted(rules, key=lambda rule: -rule.weight)[:most]
    left = f"and {len(rules) - most} more, which cover {1 - sum(rule.coverage for rule in heaviest):.1%}".replace("%", " %")
    return "".join(f"{_words(cut, rule)}\n" for rule in heaviest) + f"{left}\n"


def missing_words(cut: PrunedView) -> str:
    """Say what becomes of a missing value, of which the conditions of the rules do not speak; nothing of a single leaf."""
    assert cut.tree.missing_to is not None
    inner = reached(cut) & ~cut.leaf
    to, usual = cut.tree.missing_to[inner], cut.tree.majority[inner]
    if not len(to):
        return ""
    if (to == DIVIDED).any():
        how = "goes down every branch, weighted by the training rows of each"
    elif (to <= BY_SURROGATES).any():
        how = "is decided by surrogate tests on other columns; `sql` and `json` name them"
    elif (to == usual).all():
        how = "takes the branch of most training rows"
    else:
        how = "takes the branch that was learned for it; `sql` and `json` name it"
    return f"a missing value {how}\n"


def _rule(cut: PrunedView, counts: Floats, leaf: int, conditions: tuple[Condition, ...]) -> TreeRule:
    """Make the rule of a leaf."""
    weight, total = float(counts[leaf].sum()), float(counts[0].sum())
    if cut.tree.numbers is not None:
        share = weight / total if total > 0 else 0.0
        return TreeRule(conditions, float(cut.prediction[leaf]), weight, share, None, leaf, off(cut, leaf))
    prediction = int(cut.prediction[leaf])
    return TreeRule(
        conditions=conditions,
        prediction=prediction,
        weight=weight,
        coverage=weight / total if total > 0 else 0.0,
        confidence=float(counts[leaf, prediction]) / weight if weight > 0 else None,
        leaf=leaf,
    )


def _words(cut: PrunedView, rule: TreeRule) -> str:
    """Write a rule in words."""
    tree = cut.tree
    reasons = " and ".join(condition.words(tree.features[condition.feature]) for condition in rule.conditions)
    if tree.numbers is not None:
        covers = f"covers {rule.weight:.6g} ({rule.coverage:.1%})".replace("%", " %")
        wrong = "" if rule.off is None else f", off by {rule.off:.3g}"
        return f"if {reasons or 'anything'} then {number_words(cut, rule.leaf)}   [{covers}{wrong}]"
    right = "no training rows" if rule.confidence is None else f"right {rule.confidence:.1%}".replace("%", " %")
    covers = f"covers {rule.weight:.6g} ({rule.coverage:.1%}), ".replace("%", " %") if rule.confidence is not None else ""
    return f"if {reasons or 'anything'} then {tree.classes[int(rule.prediction)]}   [{covers}{right}]"


# A tree as indented text: the test of each branch, and at its end the class with (weight / weight misclassified).

BAR = "|   "


def to_text(cut: PrunedView) -> str:
    """Write a tree as text, a line per branch; a tree that is a single leaf is one line.

    outlook = sunny
    |   humidity = high: no (3)
    |   humidity = normal: yes (2)
    outlook = overcast: yes (4)
    """
    counts = own_counts(cut)
    if cut.leaf[0]:
        return leaf_words(cut, counts, 0) + "\n"
    lines: list[str] = []
    waiting = [(0, position, 0) for position in reversed(range(len(cut.tree.children(0))))]
    while waiting:
        node, position, depth = waiting.pop()
        child = int(cut.tree.children(node)[position])
        line = BAR * depth + branch_words(cut.tree, node, position)
        lines.append(f"{line}: {leaf_words(cut, counts, child)}" if cut.leaf[child] else line)
        if not cut.leaf[child]:
            below = range(len(cut.tree.children(child)))
            waiting.extend((child, below_position, depth + 1) for below_position in reversed(below))
    return "\n".join(lines) + "\n"


def own_counts(cut: PrunedView) -> Floats:
    """Weights that the class scores come from; 0 where no row arrived and the scores are the parent's."""
    empty = (cut.tree.weight == 0) & (cut.counts == cut.tree.filled).all(axis=1)
    return np.where(empty[:, None], 0.0, cut.counts)


def leaf_words(cut: PrunedView, counts: Floats, node: int) -> str:
    """`yes (9/2)`: class, weight of the rows that its scores come from, weight of those in other classes.

    Of numbers `12.5 (9, off by 1.2)`: mean (or model), weight, root mean squared error.
    """
    if cut.tree.numbers is not None:
        wrong = off(cut, node)
        told = "" if wrong is None else f", off by {wrong:.3g}"
        return f"{number_words(cut, node)} ({amount(float(counts[node].sum()))}{told})"
    prediction = int(cut.prediction[node])
    weight = float(counts[node].sum())
    wrong = weight - float(counts[node, prediction])
    errors = f"/{amount(wrong)}" if wrong > 1e-9 else ""
    return f"{cut.tree.classes[prediction]} ({amount(weight)}{errors})"


def number_words(cut: PrunedView, node: int) -> str:
    """Write the answer of a node of a tree of numbers: a number, or a model."""
    return f"{cut.prediction[node]:.6g}" if cut.models is None else model_words(cut.models, node, cut.tree.features)


def model_words(models: NodeModels, node: int, features: tuple[Feature, ...], digits: int = 6) -> str:
    """The model of a node: `40.5 - 3.1 wt + 2 [am = manual] + [sky: sunny 3; dull, rainy 1.2]`, levels without a figure 0.

    >>> from modelsel.tree.node import Term
    >>> sky, age = Feature("sky", "nominal", ("sunny", "dull", "rainy")), Feature("age", "numeric")
    >>> terms = Term(1, 17.5), Term(0, 0.0, np.array([True, False, True])), Term(0, 0.0, np.array([True, False, False]))
    >>> model_words(NodeModels(terms, np.array([40.5]), np.array([[-3.0, 2.0, 1.0]]), np.zeros(1)), 0, (sky, age))
    '40.5 - 3 age + [sky: sunny 3; rainy 2]'
    """
    said, offsets = f"{models.intercept[node]:.{digits}g}", dict[int, Floats]()
    for term, factor in zip(models.terms, models.coefficients[node].tolist(), strict=True):
        if factor and term.levels is None:
            said += f" {'-' if factor < 0 else '+'} {abs(factor):.{digits}g} {features[term.feature].name}"
        elif factor and term.levels is not None:
            offsets[term.feature] = offsets.get(term.feature, np.zeros(len(term.levels))) + factor * term.levels
    return said + "".join(_levels_words(features[place], own, digits) for place, own in offsets.items())


def _levels_words(feature: Feature, offsets: Floats, digits: int) -> str:
    """What the levels of a feature add."""
    told = {float(one): np.flatnonzero(offsets == one) for one in -np.unique(-offsets) if one}
    if len(told) == 1:
        ((factor, levels),) = told.items()
        marked = Condition(0, levels=frozenset(levels.tolist())).words(feature)
        return f" {'-' if factor < 0 else '+'} {abs(factor):.{digits}g} [{marked}]"
    each = (f"{', '.join(feature.levels[level] for level in own)} {one:.{digits}g}" for one, own in told.items())
    return f" + [{feature.name}: {'; '.join(each)}]"


def off(cut: PrunedView, node: int) -> float | None:
    """Root mean squared error of a node's training rows; None where it answers the mean of other rows, or has no rows."""
    numbers, weight = cut.tree.numbers, float(cut.tree.weight[node])
    if cut.models is not None and weight > 0:
        return float(np.sqrt(cut.models.squares[node] / weight))
    if numbers is None or weight <= 0 or cut.prediction[node] != numbers.mean[node]:
        return None
    return float(np.sqrt(numbers.squares[node] / weight))


def amount(weight: float) -> str:
    """Write a weight: whole numbers as such, fractions of divided rows to two digits."""
    return f"{weight:.0f}" if abs(weight - round(weight)) < 1e-9 else f"{weight:.2f}"


# The path of a row down a tree in words: what it was asked, and the leaf that answers; of a divided row, all its leaves.


def row_paths(cut: PrunedView, routed: Routed) -> list[str]:
    """Write the path of each row: `age <= 40 and job = b: yes (9/2)`; shares of a divided row stand before each of its leaves.

    In brackets, as in the tree's text, the training weight of the leaf and how much of it is of other classes.
    """
    words = {int(leaf): _leaf(cut, int(leaf)) for leaf in np.unique(routed.leaf)}
    if routed.whole:
        return [words[leaf] for leaf in routed.leaf.tolist()]
    told: list[list[str]] = [[] for _ in range(routed.rows)]
    fragments = np.bincount(routed.owner, minlength=routed.rows)
    for owner, leaf, part in zip(routed.owner.tolist(), routed.leaf.tolist(), routed.part.tolist(), strict=True):
        share = "" if fragments[owner] == 1 else f"{part:.3g} of it: "
        told[owner].append(share + words[leaf])
    return ["; ".join(one) for one in told]


def _leaf(cut: PrunedView, leaf: int) -> str:
    tree = cut.tree
    asked = " and ".join(condition.words(tree.features[condition.feature]) for condition in path_conditions(tree, leaf))
    return f"{asked or 'any row'}: {leaf_words(cut, own_counts(cut), leaf)}"
