"""Bases of data sets: the protocol that a study reads, bundled and generated sets, settings of the columns of any source."""

import difflib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.spec import number, one_of, plain, whole
from modelsel.core.types import ABSENT, ClassTask, Feature, Floats, Integers, Loaded, Task


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
    features = tuple(Feature(column, "nominal", tuple(names)) for column, names in levels.items())
    values = [[float(feature.levels.index(cell)) for feature, cell in zip(features, row)] for row in rows]
    target = np.array([list(classes).index(label) for label in labels], np.int32)
    return ClassTask(
        name=name, features=features, values=np.array(values), rows=np.arange(len(rows)), classes=tuple(classes), target=target
    )


def numeric_task(
    name: str, columns: Sequence[str], values: Floats, classes: Sequence[str], target: NDArray[np.integer]
) -> Task:
    """A task of numeric features."""
    features = tuple(Feature(column, "numeric") for column in columns)
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


KINDS = ("numeric", "nominal", "ordered", "text", "ignore")
ROLES = ("target", "weights", "groups", "unit", "id", "time", "fold", "held_out")


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """Columns by name. `features` declares kinds; what it does not name is inferred, and said (`others=ignore`: left out)."""

    target: str | None = plain(None, help="the column to predict")
    measured_in: str | None = plain(None, help="the unit of a target that is a number (euro, mm), for words alone")
    features: Mapping[str, Any] = plain(
        {}, help="name: numeric | nominal | ordered | text | ignore, or {ordered: [low, mid, high]}"
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
            yield Problem("MSEL-304", "no target is set", "dataset.target", f"choose one of {_some(names)}")
        for role in ROLES:
            for name in as_names(getattr(self, role)):
                if name not in names:
                    yield _unknown_setting(name, f"dataset.{role}", names)
        for setting in ("features", "costs"):
            for name in getattr(self, setting):
                if name not in names:
                    yield _unknown_setting(name, f"dataset.{setting}", names)
        yield from self._own_problems()

    def _own_problems(self) -> Iterator[Problem]:
        """Yield problems within the settings: kinds, costs, and a target with two roles."""
        for name, said in self.features.items():
            if read_declaration(said)[0] not in KINDS or (isinstance(said, Mapping) and len(said) != 1):
                hint = f"use one of {', '.join(KINDS)}, or {{ordered: [levels]}}"
                yield Problem("MSEL-305", f"'{said}' is no kind", f"dataset.features.{name}", hint)
        for name, cost in self.costs.items():
            if not (isinstance(cost, int | float) and cost > 0):
                yield Problem("MSEL-305", f"cost {cost!r} is not above 0", f"dataset.costs.{name}", "give a number above 0")
        others = [role for role in ROLES[1:] if self.target in as_names(getattr(self, role))]
        if others:
            yield Problem(
                "MSEL-305", f"'{self.target}' has two roles", f"dataset.target and dataset.{others[0]}", "give it one"
            )


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


def nearest(name: str, names: Sequence[str]) -> str:
    """Suggest the nearest name, or nothing."""
    close = difflib.get_close_matches(name, names, n=1) or [n for n in names if n.casefold() == name.casefold()]
    return f"did you mean '{close[0]}'? " if close else ""


def _unknown_setting(name: str, where: str, names: Sequence[str]) -> Problem:
    return Problem("MSEL-303", f"there is no column '{name}'", where, f"{nearest(name, names)}columns: {_some(names)}")


def _some(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f", +{len(names) - most} more" if len(names) > most else "")
