"""A study as a notebook shows it: verdict, the head of the leaderboard, fold scores of the best; light and dark."""

import re

from modelsel.record.folder import RunFolder
from modelsel.reporting.page import environment
from modelsel.reporting.picture import style
from modelsel.reporting.sections import leaderboard, strips
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.verdict import verdict

HEAD = 8  # rows


def card(folder: RunFolder) -> str:
    """HTML to be shown among other things: its style touches nothing else."""
    view = View(folder)
    rows = leaderboard.section(view)["rows"][:HEAD]
    drawn = strips.section(view)["svg"] if view.ranked else ""
    return environment().get_template("card.html").render(
        verdict=folder.redactor.text(verdict(folder)), rows=rows, more=len(view.rows) - HEAD, measure=view.outcome.measure,
        drawing=drawn, style=_scope_rules(style()),
    )  # fmt: skip


def _scope_rules(css: str) -> str:
    """The drawings' rules, for drawings in a card alone."""
    return re.sub(r"(^|[},\s])svg(?=[ .{,])", r"\1.modelsel-card svg", css)
