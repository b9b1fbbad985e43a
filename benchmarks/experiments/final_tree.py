"""The final tree as indented text."""

from collections.abc import Mapping
from html import escape

from modelsel.learner.trees.model import TreeModel
from modelsel.reporting.show import SectionContext
from modelsel.tree.rules import to_text

TITLE = "The tree"


def tree_of(studied: SectionContext) -> TreeModel | None:
    """The final model where it is a tree of classes."""
    return studied.final.model if isinstance(studied.final.model, TreeModel) else None


def no_tree(studied: SectionContext) -> dict[str, str]:
    return {"reason": f"the winner is not a tree of classes ({studied.final.kind})"}


def facts(studied: SectionContext) -> Mapping[str, object]:
    tree = tree_of(studied)
    return {"text": to_text(tree.cut)} if tree else no_tree(studied)


def text(one: Mapping[str, str]) -> str:
    return one["text"]


def html(one: Mapping[str, str]) -> str:
    return f"<pre>{escape(one['text'])}</pre>"
