"""A tree as indented text: the test of each branch, and at its end the class with (weight / weight misclassified)."""

import numpy as np

from modelsel.core.types import Floats
from modelsel.tree.structure.conditions import branch_words
from modelsel.tree.structure.node import PrunedView

BAR = "|   "


def to_text(cut: PrunedView) -> str:
    """One line per branch; a tree that is a single leaf is one line.

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
    """`yes (9/2)`: class, weight of the rows that its scores come from, weight of those in other classes."""
    prediction = int(cut.prediction[node])
    weight = float(counts[node].sum())
    wrong = weight - float(counts[node, prediction])
    errors = f"/{amount(wrong)}" if wrong > 1e-9 else ""
    return f"{cut.tree.classes[prediction]} ({amount(weight)}{errors})"


def amount(weight: float) -> str:
    """Whole numbers as such, fractions of divided rows to two digits."""
    return f"{weight:.0f}" if abs(weight - round(weight)) < 1e-9 else f"{weight:.2f}"
