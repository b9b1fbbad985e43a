"""Columns as lists of a study name them: an exact name first, then a pattern of `*` and `?`; a number is a position.

    ignore=["Interest.Rate", "is member?", "raw_*"]     numeric=[3]     missing_in=["temp=-200", "*_code=999"]

Every other sign is itself: `price[USD]` is no pattern. A pattern leaves the target and columns with a role alone.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from modelsel.core.errors import Problem
from modelsel.core.proposal import Proposal


@dataclass(frozen=True)
class NamedColumns:
    """The columns that entries of a list name, those that only a pattern covers apart, and what is wrong with the list."""

    exact: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.exact, *self.covered)))


@dataclass(frozen=True)
class Columns:
    """The columns of a table in their order, and those that no pattern covers."""

    names: tuple[str, ...]
    apart: Collection[str] = field(default_factory=tuple)

    def choose(self, entries: Iterable[object], setting: str) -> NamedColumns:
        """The columns that a list names.

        >>> Columns(("a.b", "a.c", "price[USD]", "y"), {"y"}).choose(["a*", "price[USD]"], "dataset.ignore").names
        ('price[USD]', 'a.b', 'a.c')
        >>> [problem.what for problem in Columns(("a", "b")).choose([True, 3, "z*"], "dataset.ignore").problems]
        ['true is not a name of a column', 'there is no column at position 3', "no column is called 'z*'"]
        """
        exact: list[str] = []
        covered: list[str] = []
        problems: list[Problem] = []
        for entry in entries:
            if isinstance(entry, str):
                found = [entry] if entry in self.names else self._columns_covered_by(entry)
                (exact if entry in self.names else covered).extend(found)
                problems += [] if found else [self._unknown(entry, setting)]
            elif wrong := self._why_misplaced(entry, setting):
                problems.append(wrong)
            else:
                exact.append(self.names[int(str(entry)) - 1])
        return NamedColumns(tuple(exact), tuple(covered), tuple(problems))

    def pairs(self, said: object, setting: str) -> "tuple[dict[str, tuple[str, ...]], tuple[Problem, ...]]":
        """What is said by column: a mapping, or a list of NAME=VALUE, parted after the longest name that there is.

        >>> Columns(("a", "a=b")).pairs(["a=b=-1", "a=2", "?=3"], "dataset.missing_in")[0]
        {'a=b': ('-1',), 'a': ('2', '3')}
        """
        found: dict[str, tuple[str, ...]] = {}
        problems: list[Problem] = []
        for name, value in self._split_entries(said, setting, problems):
            chosen = self.choose([name], setting)
            problems += chosen.problems
            for column in chosen.names:
                found[column] = (*found.get(column, ()), *(value if isinstance(value, tuple) else (value,)))
        return found, tuple(problems)

    def _split_entries(
        self, said: object, setting: str, problems: list[Problem]
    ) -> Iterator[tuple[str, str | tuple[str, ...]]]:
        """Yield a name or pattern with what is said of it."""
        if isinstance(said, Mapping):
            for name, value in said.items():
                yield str(name), tuple(map(_word, value)) if isinstance(value, list | tuple) else _word(value)
            return
        for entry in as_list(said):
            known = [name for name in self.names if isinstance(entry, str) and entry.startswith(f"{name}=")]
            if known:
                longest = max(known, key=len)
                yield longest, str(entry)[len(longest) + 1 :]
            elif isinstance(entry, str) and entry.partition("=")[0] and "=" in entry:
                yield entry.partition("=")[0], entry.partition("=")[2]
            else:
                fix = f"write {Proposal(setting, ('NAME=VALUE',))}"
                problems.append(Problem("MSEL-305", f"{entry!r} says nothing of a column", setting, fix))

    def _columns_covered_by(self, pattern: str) -> list[str]:
        """The columns that a pattern covers, and that have no role."""
        if not set("*?") & set(pattern):
            return []
        signs = {"*": ".*", "?": "."}
        shape = re.compile("".join(signs.get(sign) or re.escape(sign) for sign in pattern), re.DOTALL)
        return [name for name in self.names if shape.fullmatch(name) and name not in self.apart]

    def _why_misplaced(self, entry: object, setting: str) -> Problem | None:
        """Return what is wrong with an entry that is not a text: it should be a position, and may not be a name as well."""
        word, places = _word(entry), len(self.names)
        quoted = f"positions are whole numbers from 1; a name is written in quotes: {Proposal(setting, (word,))}"
        if isinstance(entry, bool) or not isinstance(entry, int):
            return Problem("MSEL-305", f"{word} is not a name of a column", setting, quoted)
        if not 1 <= entry <= places:
            return Problem("MSEL-303", f"there is no column at position {entry}", setting, f"there are {places}; {quoted}")
        if word in self.names and self.names[entry - 1] != word:
            what = f"{word} is the position of column '{self.names[entry - 1]}', and the name of another"
            return Problem("MSEL-305", what, setting, quoted)
        return None

    def _unknown(self, name: str, setting: str) -> Problem:
        fix = f"{nearest(name, self.names)}columns: {some(self.names)}"
        return Problem("MSEL-303", f"no column is called '{name}'", setting, fix)


def as_list(said: object) -> Sequence[object]:
    """A list as it is, nothing as an empty one, anything else as a list of one."""
    if said is None:
        return ()
    return said if isinstance(said, list | tuple) else (said,)


def _word(value: object) -> str:
    """A code or form as text; of a number that is whole, without a point."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def nearest(name: str, names: Sequence[str]) -> str:
    """Suggest the nearest name, or nothing."""
    close = difflib.get_close_matches(name, names, n=1) or [n for n in names if n.casefold() == name.casefold()]
    return f"did you mean '{close[0]}'? " if close else ""


def some(names: Sequence[str], most: int = 20) -> str:
    """Some names, and how many more there are."""
    return ", ".join(names[:most]) + (f", +{len(names) - most} more" if len(names) > most else "")
