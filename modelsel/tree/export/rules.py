"""A tree as rules: one per leaf, each feature named once, with how many rows it covers and how often it is right.

coverage = share of the training weight at the leaf; confidence = share of that weight in the leaf's class (of an empty
branch: none). The rules of a tree exclude each other, so that their order means nothing; they stand in the tree's order.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.tree.export.text import own_counts
from modelsel.tree.structure.conditions import Condition, paths
from modelsel.tree.structure.cutting import reached
from modelsel.tree.structure.node import PrunedView


@dataclass(frozen=True)
class TreeRule:
    """If all `conditions` hold, the class is `prediction`."""

    conditions: tuple[Condition, ...]
    prediction: int
    weight: float
    coverage: float
    confidence: float | None
    leaf: int  # its node


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


def _rule(cut: PrunedView, counts: Floats, leaf: int, conditions: tuple[Condition, ...]) -> TreeRule:
    """Make the rule of a leaf."""
    prediction = int(cut.prediction[leaf])
    weight, total = float(counts[leaf].sum()), float(counts[0].sum())
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
    right = "no training rows" if rule.confidence is None else f"right {rule.confidence:.1%}".replace("%", " %")
    covers = f"covers {rule.weight:.6g} ({rule.coverage:.1%}), ".replace("%", " %") if rule.confidence is not None else ""
    return f"if {reasons or 'anything'} then {tree.classes[rule.prediction]}   [{covers}{right}]"
