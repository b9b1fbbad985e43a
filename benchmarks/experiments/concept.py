"""The concept of each class as the final tree has learnt it: a disjunction of conjunctions, one per leaf of the class.

    class c  ⇔  ⋁ over leaves of class c ⋀ over tests on the way to it

Mitchell 1997, *Machine learning*, section 3.2.
"""

from collections.abc import Iterator, Mapping
from html import escape
from typing import TypedDict

from benchmarks.experiments.final_tree import no_tree, tree_of
from modelsel.reporting.show import SectionContext
from modelsel.tree.node import PrunedView
from modelsel.tree.rules import TreeRule, to_rules

TITLE = "The concept of each class"


class Conjunction(TypedDict):
    """A leaf: the tests on the way to it, and the weight of the development rows that it covers."""

    all: list[str]
    weight: float


class Concept(TypedDict):
    """A class and its leaves."""

    name: str
    any: list[Conjunction]


class ConceptFacts(TypedDict):
    """The concepts of all classes."""

    classes: list[Concept]


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Per class the conjunctions in the tree's order, each with the weight of the development rows that it covers."""
    tree = tree_of(studied)
    return {"classes": list(_concepts(tree.cut))} if tree else no_tree(studied)


def text(one: ConceptFacts) -> str:
    """Write the section for the terminal."""
    return "\n".join(f"{concept['name']}\n{_lines(concept['any'])}" for concept in one["classes"])


def html(one: ConceptFacts) -> str:
    """Write the section for the page."""
    blocks = (f"<h3>{escape(concept['name'])}</h3><pre>{escape(_lines(concept['any']))}</pre>" for concept in one["classes"])
    return f"<p class='soft'>Any one of its lines makes a row a member of the class.</p>{''.join(blocks)}"


def _concepts(cut: PrunedView) -> Iterator[Concept]:
    """Yield each class with the rules of its leaves."""
    rules = to_rules(cut)
    for index, name in enumerate(cut.tree.classes):
        own = [rule for rule in rules if rule.prediction == index]
        yield {"name": name, "any": [{"all": _conjunction(cut, rule), "weight": rule.weight} for rule in own]}


def _conjunction(cut: PrunedView, rule: TreeRule) -> list[str]:
    return [condition.words(cut.tree.features[condition.feature]) for condition in rule.conditions]


def _lines(conjunctions: list[Conjunction]) -> str:
    if not conjunctions:
        return "  never\n"
    return "".join(f"  {'or' if i else 'if'} {_line(one)}\n" for i, one in enumerate(conjunctions))


def _line(conjunction: Conjunction) -> str:
    seen = "" if conjunction["weight"] else "   [no row of these]"
    return f"{' and '.join(conjunction['all']) or 'anything'}{seen}"
