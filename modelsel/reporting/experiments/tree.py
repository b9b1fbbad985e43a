"""The final tree as indented text."""

from collections.abc import Mapping
from html import escape
from typing import Any

from modelsel.reporting.context import SectionContext, no_tree
from modelsel.tree.export.rules import to_text

TITLE = "The tree"


def facts(studied: SectionContext) -> Mapping[str, Any]:
    """Write the final tree as text, where it is one."""
    return {"text": to_text(studied.tree.cut)} if studied.tree else no_tree(studied)


def text(one: Mapping[str, object]) -> str:
    """Write the section for the terminal."""
    return str(one["text"])


def html(one: Mapping[str, Any]) -> str:
    """Write the section for the page."""
    return f"<pre>{escape(one['text'])}</pre>"
