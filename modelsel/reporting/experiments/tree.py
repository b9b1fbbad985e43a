"""The final tree as indented text."""

from collections.abc import Mapping
from html import escape
from typing import TypedDict

from modelsel.reporting.show import SectionContext, no_tree
from modelsel.tree.rules import to_text

TITLE = "The tree"


class TreeFacts(TypedDict):
    """The final tree as indented text."""

    text: str


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Write the final tree as text, where it is one."""
    return {"text": to_text(studied.tree.cut)} if studied.tree else no_tree(studied)


def text(one: TreeFacts) -> str:
    """Write the section for the terminal."""
    return one["text"]


def html(one: TreeFacts) -> str:
    """Write the section for the page."""
    return f"<pre>{escape(one['text'])}</pre>"
