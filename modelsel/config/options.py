"""Options of a configuration as a tree: values, intervals, alternatives, and parts whose fields are chosen independently.

`all` lists every combination in declared order (the first field varies slowest); `draw` takes one at random, `suggest` the one
that somebody asks for, choice by choice; `corners` are a few in which every value and every end of an interval stands. A part
below is built once for all the combinations that share it, so that a large space costs one constructor call per candidate.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise, product
from typing import Generic, Protocol, TypeVar

import numpy as np

from modelsel.foreign import objects

Chosen = TypeVar("Chosen")
Offered = TypeVar("Offered", covariant=True)


class Choosing(Protocol):
    """A source of choices by name, each within what is declared: a random generator, or a search."""

    def place(self, name: str, count: int, ordered: bool) -> int:
        """Choose one of `count` options by its number from 0; `ordered` says that neighbouring options are alike."""
        ...

    def number(self, name: str, low: float, high: float, logarithmic: bool, whole: bool) -> float:
        """Choose a number between two ends, both included where it is whole."""
        ...


class Options(Protocol[Offered]):
    """A set of things to choose from."""

    @property
    def finite(self) -> bool:
        """False when there is an interval below: it can only be drawn from."""
        ...

    def count(self) -> int: ...

    def all(self) -> Iterator[Offered]: ...

    def draw(self, rng: np.random.Generator) -> Offered: ...

    def suggest(self, ask: Choosing, name: str) -> Offered: ...

    def corners(self) -> Iterator[Offered]: ...

    def outline(self) -> object:
        """Return what there is to choose, as plain data; the values are told by the corners."""
        ...


@dataclass(frozen=True)
class ListedValues(Generic[Chosen]):
    """Some values."""

    values: tuple[Chosen, ...]
    finite: bool = True

    def count(self) -> int:
        return len(self.values)

    def all(self) -> Iterator[Chosen]:
        return iter(self.values)

    def draw(self, rng: np.random.Generator) -> Chosen:
        return self.values[int(rng.integers(len(self.values)))]

    def suggest(self, ask: Choosing, name: str) -> Chosen:
        """Choose a value; one alone is no choice."""
        return self.values[ask.place(name, len(self.values), _rising(self.values)) if len(self.values) > 1 else 0]

    def corners(self) -> Iterator[Chosen]:
        return iter(self.values)

    def outline(self) -> object:
        return len(self.values)


@dataclass(frozen=True)
class Interval:
    """All numbers between two: uniform, or uniform in the logarithm; whole numbers include both ends."""

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False
    finite: bool = False

    def count(self) -> int:
        return 1

    def all(self) -> Iterator[float]:
        raise ValueError("an interval needs `draw`")

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a number of the interval."""
        if self.logarithmic:
            value = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
            return min(max(round(value), math.ceil(self.low)), math.floor(self.high)) if self.whole else value
        if self.whole:
            return int(rng.integers(math.ceil(self.low), math.floor(self.high), endpoint=True))
        return float(rng.uniform(self.low, self.high))

    def suggest(self, ask: Choosing, name: str) -> float:
        if self.whole:
            return int(ask.number(name, math.ceil(self.low), math.floor(self.high), self.logarithmic, True))
        return float(ask.number(name, self.low, self.high, self.logarithmic, False))

    def corners(self) -> Iterator[float]:
        return iter((math.ceil(self.low), math.floor(self.high)) if self.whole else (self.low, self.high))

    def outline(self) -> object:
        return [self.low, self.high, self.logarithmic, self.whole]


@dataclass(frozen=True)
class Drawn:
    """What a distribution that was handed over in Python draws: one of SciPy's, or anything with `rvs`."""

    name: str  # by which `foreign.objects` knows it
    finite: bool = False

    def count(self) -> int:
        return 1

    def all(self) -> Iterator[object]:
        raise ValueError("a distribution is drawn from")

    def draw(self, rng: np.random.Generator) -> object:
        """Draw a value: it depends on the generator alone."""
        return _plain(objects.read_parameter(self.name).rvs(random_state=np.random.RandomState(int(rng.integers(2**32)))))

    def suggest(self, ask: Choosing, name: str) -> object:
        """Choose a quantile of the distribution. AttributeError for one without `ppf`."""
        return _plain(objects.read_parameter(self.name).ppf(ask.number(name, 0.0, 1.0, False, False)))

    def corners(self) -> Iterator[object]:
        """The median, since its ends may be infinite. AttributeError for a distribution that knows no quantiles (`ppf`)."""
        yield _plain(objects.read_parameter(self.name).ppf(0.5))

    def outline(self) -> object:
        return self.name


@dataclass(frozen=True)
class Swept:
    """Several values in the place of one, as a sweep declares them; an interval stands for all numbers in it."""

    values: tuple[object, ...] = ()
    interval: Interval | Drawn | None = None


@dataclass(frozen=True)
class Either(Generic[Chosen]):
    """One of several sets, each as likely as the others."""

    sets: tuple[Options[Chosen], ...]

    @property
    def finite(self) -> bool:
        return all(options.finite for options in self.sets)

    def count(self) -> int:
        return sum(options.count() for options in self.sets)

    def all(self) -> Iterator[Chosen]:
        return chain.from_iterable(options.all() for options in self.sets)

    def draw(self, rng: np.random.Generator) -> Chosen:
        return self.sets[int(rng.integers(len(self.sets)))].draw(rng)

    def suggest(self, ask: Choosing, name: str) -> Chosen:
        """Choose one of the sets, then what stands in it."""
        place = ask.place(f"{name}?", len(self.sets), False) if len(self.sets) > 1 else 0
        return self.sets[place].suggest(ask, f"{name}?{place}")

    def corners(self) -> Iterator[Chosen]:
        return chain.from_iterable(options.corners() for options in self.sets)

    def outline(self) -> object:
        return {"either": [options.outline() for options in self.sets]}


@dataclass(frozen=True)
class Combined(Generic[Chosen]):
    """`make(**fixed, **chosen)` for every combination of the fields' options."""

    make: Callable[..., Chosen]
    fixed: Mapping[str, object]
    fields: Mapping[str, Options[object]]

    @property
    def finite(self) -> bool:
        return all(options.finite for options in self.fields.values())

    def count(self) -> int:
        return math.prod(options.count() for options in self.fields.values())

    def all(self) -> Iterator[Chosen]:
        names, make, fixed = tuple(self.fields), self.make, self.fixed
        for values in product(*(options.all() for options in self.fields.values())):
            yield make(**fixed, **dict(zip(names, values, strict=True)))

    def draw(self, rng: np.random.Generator) -> Chosen:
        return self.make(**self.fixed, **{name: options.draw(rng) for name, options in self.fields.items()})

    def suggest(self, ask: Choosing, name: str) -> Chosen:
        chosen = {field: options.suggest(ask, f"{name}.{field}") for field, options in self.fields.items()}
        return self.make(**self.fixed, **chosen)

    def corners(self) -> Iterator[Chosen]:
        """Each field's corners with the first corners of the others."""
        each = {name: list(options.corners()) for name, options in self.fields.items()}
        first = {name: values[0] for name, values in each.items()}
        yield self.make(**self.fixed, **first)
        for name, values in each.items():
            yield from (self.make(**self.fixed, **{**first, name: value}) for value in values[1:])

    def outline(self) -> object:
        return {name: options.outline() for name, options in self.fields.items()}


def _rising(values: tuple[object, ...]) -> bool:
    """Say whether values are numbers, each above the one before."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return len(numbers) == len(values) and all(one < other for one, other in pairwise(numbers))


def _plain(found: object) -> object:
    """What a distribution gave, as plain data."""
    return objects.write_parameter(
        found.item() if isinstance(found, np.generic | np.ndarray) and np.ndim(found) == 0 else found
    )


def only(value: Chosen) -> ListedValues[Chosen]:
    """The options that leave no choice: one value."""
    return ListedValues((value,))


def is_settled(options: Options[object]) -> bool:
    """True when there is nothing to choose."""
    return options.finite and options.count() == 1
