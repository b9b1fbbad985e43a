"""Shows, which a study has beside its scores: the modules that `SHOWS` names.

A show has a `TITLE`; `facts(studied)`, plain data kept in details.json, or {"reason": why there is nothing to show}; and two
forms of these facts, `text` for the terminal and `html` for the page.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from textwrap import fill, indent
from types import ModuleType
from typing import Any, NotRequired, TypedDict, get_type_hints

from modelsel.config.settings import EXPERIMENTS, SHOWS
from modelsel.core.selection import Selection
from modelsel.core.stored import conforming
from modelsel.core.types import Candidate, Task
from modelsel.record.folder import DETAILS, RunFolder
from modelsel.runner.final_fit import Final
from modelsel.runner.results import Results

# The data that a show may read when a study ends: development rows, the selection, the final model. Never the sealed rows.


@dataclass(frozen=True, eq=False)
class SectionContext:
    """A finished study in memory."""

    task: Task
    selection: Selection
    final: Final
    seed: int
    measure: str
    results: Results  # the cells fold by fold

    @property
    def winner(self) -> Candidate:
        return self.selection.candidates[self.selection.winner]


# The shows.

ALWAYS = ("pruning_path",)  # on the page of every study that has one
WIDTH = 110


def facts(names: Iterable[str], studied: SectionContext) -> dict[str, Any]:
    """The facts of the shows asked for, in their order, and of those that are kept wherever there is something to show."""
    asked = tuple(names)
    found = {name: {"asked": name in asked, **_show(name).facts(studied)} for name in dict.fromkeys((*asked, *ALWAYS))}
    return {name: one for name, one in found.items() if one["asked"] or "reason" not in one}


def text(folder: RunFolder) -> str:
    """The note of a recorded study and the shows that it asked for; nothing where it asked for none."""
    note = folder.config().get("note")
    blocks = [fill(note, WIDTH)] if note else []
    with folder.reading(DETAILS):
        blocks += [_text(name, one) for name, one in _conforming(folder.details().shows) if one["asked"]]
    return "".join(f"{block.rstrip()}\n\n" for block in blocks)


def sections(folder: RunFolder) -> list[dict[str, object]]:
    """Name, title and body of each show that is kept, as the page puts them (bodies are safe: what came from data is escaped).

    `asked`: it was asked for, and stands unfolded.
    """
    with folder.reading(DETAILS):
        return [
            {"name": name, "title": _title(name), "html": _html(name, one), "asked": one["asked"]}
            for name, one in _conforming(folder.details().shows)
        ]


def _conforming(kept: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The facts of each show; ValueError where they are not of the type that its `text` asks for."""
    for name, one in kept.items():
        conforming(ShowFacts, one)
        if name in SHOWS and "reason" not in one:
            conforming(get_type_hints(_show(name).text)["one"], {key: value for key, value in one.items() if key != "asked"})
        yield name, one


class ShowFacts(TypedDict):
    """What every show has: whether it was asked for, and the reason why there is nothing to show."""

    asked: bool
    reason: NotRequired[str]


def _title(name: str) -> str:
    return str(_show(name).TITLE) if name in SHOWS else name


def _text(name: str, one: Mapping[str, Any]) -> str:
    reason = _reason(name, one)
    return f"{_title(name)}\n{indent(_show(name).text(one) if reason is None else reason, '  ')}"


def _html(name: str, one: Mapping[str, Any]) -> str:
    reason = _reason(name, one)
    return str(_show(name).html(one)) if reason is None else f"<p class='soft'>{escape(reason)}</p>"


def _reason(name: str, one: Mapping[str, Any]) -> str | None:
    """Why there is nothing to show: the facts say it, or the show is of a program that does not run now."""
    return one.get("reason") if name in SHOWS else f"shown by `{EXPERIMENTS} report RUN`, in the sources"


def _show(name: str) -> ModuleType:
    """The module of a show; a name out of a record leads nowhere else."""
    return importlib.import_module(SHOWS[name])
