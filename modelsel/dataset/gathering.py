"""One finding, or one problem, of many columns of which the same is said: the first as it is, the others by their names.

A table of 200 constant columns says so in one line, whose setting names all of them.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from modelsel.core.errors import Problem
from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|, \.\.\.|, (?=')")  # what columns hold, as examples quote it
NAMED = 5  # columns that a message names before it counts the rest
WRITTEN = 20  # columns that a setting in a message names before a file is the place for it
Said = TypeVar("Said", Finding, Problem)


def gather(found: Iterable[tuple[str, Said]]) -> list[Said]:
    """Put together what is said of columns in the same words, but for names and what they hold, and proposes the same.

    >>> said = [(name, Finding("CONSTANT_COLUMN", "low", f"column '{name}' has one value", f"set {one}", (one,)))
    ...         for name in "abc" for one in [Proposal("dataset.ignore", (name,))]]
    >>> [one] = gather(said)
    >>> print(one.message, one.do, sep="; ")
    column 'a' has one value; likewise 2 more columns: 'b', 'c'; set 'dataset.ignore=["a","b","c"]'
    """
    groups: dict[tuple[object, ...], list[tuple[str, Said]]] = {}
    for name, said in found:
        groups.setdefault(_alike(name, said), []).append((name, said))
    return [_together([name for name, _ in group], [said for _, said in group]) for group in groups.values()]


def _alike(name: str, said: Finding | Problem) -> tuple[object, ...]:
    """What two findings, or problems, have in common that are to be put together."""
    remedy = _remedy(said)
    for proposed in said.proposes:
        remedy = remedy.replace(str(proposed), proposed.setting)
    remedy = QUOTED.sub("", remedy)
    values = [None if isinstance(one.value, tuple) or one.value == name else str(one.value) for one in said.proposes]
    return said.code, getattr(said, "severity", ""), remedy.replace(f"dataset.features.{name}", ""), *values


def _remedy(said: Finding | Problem) -> str:
    return said.do if isinstance(said, Finding) else said.fix


def _together(names: list[str], said: list[Any]) -> Any:
    """The first of several, with the names and settings of all."""
    first, *others = said
    if not others:
        return first
    proposes = tuple(_joint_setting([one.proposes[place] for one in said]) for place in range(len(first.proposes)))
    remedy = _remedy(first)
    for own, joined in zip(first.proposes, proposes):
        remedy = remedy.replace(str(own), _show_setting(joined))
    listed = ", ".join(f"'{name}'" for name in names[1 : NAMED + 1]) + (", ..." if len(others) > NAMED else "")
    more = f"likewise {len(others):,} more column{'s' if len(others) > 1 else ''}: {listed}"
    if isinstance(first, Problem):
        where = f"{first.where}, and {more}"
        return replace(first, where=where, fix=remedy, proposes=proposes)
    return replace(first, message=f"{first.message}; {more}", do=remedy, proposes=proposes)


def _joint_setting(proposed: list[Proposal]) -> Proposal:
    """The setting that says of all columns what each of several says of its own."""
    if all(one.value == proposed[0].value for one in proposed) or proposed[0].setting == "dataset.time":  # there is one time
        return proposed[0]
    values = [one.value if isinstance(one.value, tuple) else (str(one.value),) for one in proposed]
    every = tuple(dict.fromkeys(entry for value in values for entry in value))
    return replace(proposed[0], value=every, sure=all(one.sure for one in proposed))


def _show_setting(proposed: Proposal) -> str:
    """A setting as it is typed; of very many columns the beginning, and where to have it whole."""
    if not isinstance(proposed.value, tuple) or len(proposed.value) <= WRITTEN:
        return str(proposed)
    beginning = str(replace(proposed, value=proposed.value[:2])).rstrip("']")
    return f"{beginning},...]' (`modelsel plan FILE TARGET --write t.yaml` writes all {len(proposed.value):,})"
