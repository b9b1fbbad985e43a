"""Bases of data sets: the protocol that a study reads, bundled and generated sets, settings of the columns of any source."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from modelsel.core.column_kind.base import ColumnKind, kind_named, kind_names
from modelsel.core.errors import Problem
from modelsel.core.spec import number, one_of, optional, optional_whole, plain, whole
from modelsel.core.types import ABSENT, ClassTask, Feature, Floats, Integers, Loaded, Task
from modelsel.dataset.declarations import Columns, as_list, nearest, some


class DataSource(Protocol):
    """Source of a study's table: how it is read or made, and what is wrong with how it was asked for."""

    def read(self) -> Task:
        """Read the task."""
        ...

    def load(self) -> Loaded:
        """Read the task, with what was found about the table on the way."""
        ...

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the settings."""
        ...


class BundledDataset:
    """A data set of known form: `read()` makes it, and there is nothing to say about how."""

    @abstractmethod
    def read(self) -> Task:
        """The task."""

    def load(self) -> Loaded:
        return Loaded(self.read(), ())

    def problems(self) -> Iterator[Problem]:
        yield from ()


def nominal_task(
    name: str, levels: Mapping[str, Sequence[str]], rows: Sequence[Sequence[str]], classes: Sequence[str], labels: Sequence[str]
) -> Task:
    """A task of nominal features from rows of level names and one label each."""
    features = tuple(Feature.of_levels(column, tuple(names)) for column, names in levels.items())
    values = [[float(feature.levels.index(cell)) for feature, cell in zip(features, row)] for row in rows]
    target = np.array([list(classes).index(label) for label in labels], np.int32)
    return ClassTask(
        name=name, features=features, values=np.array(values), rows=np.arange(len(rows)), classes=tuple(classes), target=target
    )


def numeric_task(
    name: str, columns: Sequence[str], values: Floats, classes: Sequence[str], target: NDArray[np.integer]
) -> Task:
    """A task of numeric features."""
    features = tuple(Feature.of_numbers(column) for column in columns)
    return ClassTask(name=name, features=features, values=np.asarray(values, np.float64), rows=np.arange(len(values)),
                classes=tuple(classes), target=target.astype(np.int32))  # fmt: skip


# Several training sets judged on test rows: a column of folds per set, which scheme=predefined takes for repeats.
#
# In the column of a set, 0 is a row that is assessed, LEARN one that is analysed, ABSENT one that the set knows nothing of.

LEARN, ASSESS = -1, 0


def columns(rows: int, sets: Iterable[tuple[Integers, Integers]]) -> Integers:
    """Rows × sets from the rows that each set learns from and those that it is assessed on.

    >>> columns(4, [(np.array([0, 1]), np.array([3])), (np.array([2]), np.array([3]))]).tolist()
    [[-1, -2], [-1, -2], [-2, -1], [0, 0]]
    """
    made = []
    for learn, assess in sets:
        column = np.full(rows, ABSENT, np.int64)
        column[learn], column[assess] = LEARN, ASSESS
        made.append(column)
    return np.column_stack(made)


def scale_rows(rows: int, scale: float) -> int:
    """Scale a published number of rows, to at least 20.

    >>> scale_rows(12_000, 0.01), scale_rows(12_000, 1.0)
    (120, 12000)
    """
    return max(min(rows, 20), round(rows * scale))


# Settings for the columns of any source: the target, the kinds of the others, and their roles.


LISTS = ("ignore", "nominal", "numeric", "text")  # kinds that have a setting of their own, a list of columns
NUMERIC = "numeric"
DATES = ("ask", "day_first", "month_first")
FORMS = "write day, month and year as strptime has them: %d.%m.%Y, %Y/%m/%d, %d %b %y, %d/%m/%Y %H:%M"
ROLES = ("target", "weights", "groups", "unit", "id", "time", "fold", "held_out")


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """Columns by name. `features` declares kinds; what it does not name is inferred, and said (`others=ignore`: left out)."""

    target: str | None = plain(None, help="the column to predict")
    measured_in: str | None = plain(None, help="the unit of a target that is a number (euro, mm), for words alone")
    features: Mapping[str, Any] = plain(
        {}, help="name: numeric | nominal | ordered | text | ignore, or {ordered: [low, mid, high]}"
    )
    ignore: tuple[Any, ...] | None = optional(help="list of columns (names, patterns of * and ?) that are left out")
    nominal: tuple[Any, ...] | None = optional(help="list of columns that are nominal")
    numeric: tuple[Any, ...] | None = optional(help="list of columns that are numbers")
    text: tuple[Any, ...] | None = optional(help="list of columns of texts to be read")
    coerce: tuple[Any, ...] | None = optional(help="list of columns of numbers, where a cell that says none is missing")
    missing_in: Mapping[str, Any] | tuple[Any, ...] | None = optional(
        help="name: [codes] that count as missing in that column, or a list of NAME=CODE"
    )
    sample: int | None = optional_whole(least=20, help="rows that are drawn, by classes and in whole units; null: all")
    without_target: str = one_of("refuse", "drop", help="rows without target: an error, or left out and counted")
    thousands: str | None = optional(help="sign between groups of digits, which is left out of numbers")
    signs: str = one_of("refuse", "strip", help="strip: percent, currency and units beside numbers are left out")
    dates: Mapping[str, Any] | tuple[Any, ...] | str | None = optional(
        help="ask, day_first or month_first; or name: form (%d.%m.%Y), or a list of NAME=FORM"
    )
    others: str = one_of("infer", "ignore", help="columns that `features` does not name")
    missing: tuple[str, ...] = plain(("", "?"), help="cells that count as missing; NA is a level unless listed")
    weights: str | None = plain(None, help="column of row weights; rows of weight 0 are left out")
    weights_are: str = one_of(
        "auto", "repeats", "relative", help="auto: whole numbers repeat rows, all others are relative to their mean"
    )
    groups: str | None = plain(None, help="column of groups that must not be split (patients, documents)")
    unit: str | tuple[str, ...] | None = plain(
        None, help="column or columns whose equal values mark rows that are not independent (patient, shop and day)"
    )
    id: str | tuple[str, ...] | None = plain(None, help="column or columns that identify a row; never a feature")
    time: str | None = plain(None, help="column of times, numbers or ISO 8601")
    fold: str | None = plain(None, help="column of fold numbers for scheme=predefined, -1: never assessed")
    held_out: str | None = plain(None, help="column that marks the test rows for split=predefined")
    costs: Mapping[str, float] = plain({}, help="feature: what it costs to know, above 0; 1 where not said")
    rare: str = one_of("keep", "drop", "merge", help="classes below rare_below rows: keep, drop their rows, merge into one")
    rare_below: int = whole(2, least=2, help="rows below which a class is rare, for rare=drop and rare=merge")
    max_levels: int = whole(
        5000, least=2, help="a nominal column with more levels keeps its most frequent ones; the rest is one level"
    )
    near: float = number(
        0.9, least=0, most=1, help="a column with at least this share of numbers, but not all, is an error and no nominal"
    )

    def roles(self) -> dict[str, str]:
        """A role of each column that has one: such a column is no feature."""
        return {name: role for role in ROLES for name in as_names(getattr(self, role))}

    def header_problems(self, names: Sequence[str]) -> Iterator[Problem]:
        """Yield the problems of the settings, by themselves or against the names of the columns."""
        if self.target is None:
            yield Problem("MSEL-304", "no target is set", "dataset.target", f"choose one of {some(names)}")
        for role in ROLES:
            for name in as_names(getattr(self, role)):
                if name not in names:
                    yield _unknown_setting(name, f"dataset.{role}", names)
        for setting in ("features", "costs"):
            for name in getattr(self, setting):
                if name not in names:
                    yield _unknown_setting(name, f"dataset.{setting}", names)
        yield from self._own_problems()
        yield from self._read_lists(names)[1]

    def settle(self, names: Sequence[str]) -> Self:
        """The settings with each list of columns said by name, of these names: kinds in `features`, the others as mappings."""
        return self._read_lists(names)[0]

    def _read_lists(self, names: Sequence[str]) -> tuple[Self, list[Problem]]:
        """Read the lists of columns, and what is wrong with them."""
        columns = Columns(tuple(names), {*self.roles()})
        problems: list[Problem] = []
        exact: dict[str, str] = {}
        covered: dict[str, str] = {}
        for kind in (*LISTS, "coerce"):
            chosen = columns.choose(as_list(getattr(self, kind)), f"dataset.{kind}")
            problems += chosen.problems
            for found, said in ((chosen.exact, exact), (chosen.covered, covered)):
                for name in found:
                    if said.setdefault(name, kind) not in (kind, NUMERIC if kind == "coerce" else kind):
                        problems.append(_said_twice(name, said[name], kind))
        kinds = {**covered, **exact}
        for name in exact:
            if name in self.features and read_declaration(self.features[name])[0] != _kind(exact[name]):
                problems.append(_said_twice(name, "features", exact[name]))
        codes, wrong = columns.pairs(self.missing_in, "dataset.missing_in")
        forms, unread = self._date_forms(columns)
        made = replace(
            self, ignore=None, nominal=None, numeric=None, text=None, missing_in=codes, dates=forms,
            features={**{name: _kind(kind) for name, kind in kinds.items()}, **self.features},
            coerce=tuple(name for name in names if name in columns.choose(as_list(self.coerce), "").names),
        )  # fmt: skip
        return made, [*problems, *wrong, *unread]

    def _date_forms(self, columns: Columns) -> tuple[dict[str, str], list[Problem]]:
        """How dates are written, by column: a form, or which of day and month comes first."""
        words = [word for word in as_list(self.dates) if word in DATES] if not isinstance(self.dates, Mapping) else []
        said = self.dates if isinstance(self.dates, Mapping) else [one for one in as_list(self.dates) if one not in DATES]
        found, problems = columns.pairs(said, "dataset.dates")
        wrong = [Problem("MSEL-305", f"{form!r} is not a form of dates", f"dataset.dates, column '{name}'", FORMS)
                 for name, forms in found.items() for form in forms if form not in DATES and "%" not in form]  # fmt: skip
        everywhere = dict.fromkeys(columns.names, words[-1]) if words and words[-1] != DATES[0] else {}
        return {**everywhere, **{name: forms[-1] for name, forms in found.items()}}, [*problems, *wrong]

    def missing_of(self, name: str) -> tuple[str, ...]:
        """The words for missing in a column, once the settings are settled."""
        return (*self.missing, *(self.missing_in.get(name, ()) if isinstance(self.missing_in, Mapping) else ()))

    @property
    def coerce_names(self) -> tuple[str, ...]:
        """The columns in which a cell that says no number is missing, once the settings are settled."""
        return tuple(map(str, self.coerce or ()))

    def date_form(self, name: str) -> str:
        """The form of the dates in a column, or which of day and month comes first; empty where nobody has said it."""
        return str(self.dates.get(name, "")) if isinstance(self.dates, Mapping) else ""

    def _own_problems(self) -> Iterator[Problem]:
        """Yield problems within the settings: kinds, costs, a sign, and a target with two roles."""
        for name, said in self.features.items():
            if read_declaration(said)[0] not in declarable() or (isinstance(said, Mapping) and len(said) != 1):
                hint = f"use one of {', '.join(declarable())}, or {{ordered: [levels]}}"
                yield Problem("MSEL-305", f"'{said}' is not a kind", f"dataset.features.{name}", hint)
        for name, cost in self.costs.items():
            if not (isinstance(cost, int | float) and cost > 0):
                yield Problem("MSEL-305", f"cost {cost!r} is not above 0", f"dataset.costs.{name}", "give a number above 0")
        if self.thousands is not None and len(self.thousands) != 1:
            yield Problem("MSEL-305", f"{self.thousands!r} is not one character", "dataset.thousands", "give one, in quotes")
        others = [role for role in ROLES[1:] if self.target in as_names(getattr(self, role))]
        if others:
            yield Problem(
                "MSEL-305", f"'{self.target}' has two roles", f"dataset.target and dataset.{others[0]}", "give it one"
            )


def _kind(setting: str) -> str:
    return NUMERIC if setting == "coerce" else setting


def _said_twice(name: str, first: str, second: str) -> Problem:
    what = f"column '{name}' is said to be {first} and {second}"
    return Problem("MSEL-305", what, f"dataset.{first} and dataset.{second}", "name it in one of them")


def as_names(value: Any) -> tuple[str, ...]:
    """Return one name, several or none as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def read_declaration(said: object) -> tuple[str, tuple[str, ...]]:
    """Kind and levels of a declaration: `nominal` or `{ordered: [low, high]}`.

    >>> read_declaration({"ordered": ["low", 2]})
    ('ordered', ('low', '2'))
    """
    if isinstance(said, Mapping) and said:
        kind, levels = next(iter(said.items()))
        return str(kind), tuple(str(level) for level in levels)
    return str(said), ()


def declarable() -> tuple[str, ...]:
    """The words that declare a column: a kind, a text, or that it is left out."""
    return (*kind_names(), "text", "ignore")


def declared_kind(said: object) -> ColumnKind | None:
    """The kind that a declaration names; None for texts, for columns that are left out, and where nothing is said."""
    name = read_declaration(said)[0]
    return kind_named(name) if name in kind_names() else None


def are_plain_numbers(said: object) -> bool:
    """Say whether a declaration is of numbers that are written as any are."""
    kind = declared_kind(said)
    return kind is not None and not kind.has_levels and not kind.writes_its_own


def _unknown_setting(name: str, where: str, names: Sequence[str]) -> Problem:
    return Problem("MSEL-303", f"there is no column '{name}'", where, f"{nearest(name, names)}columns: {some(names)}")
