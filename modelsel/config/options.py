"""Options of a configuration as a tree: values, intervals, alternatives, and parts whose fields are chosen independently.

`all` lists every combination in declared order (the first field varies slowest); `draw` takes one at random. A part below
is built once for all the combinations that share it, so that a large space costs one constructor call per candidate.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Protocol

import numpy as np

from modelsel.foreign import objects


class Options(Protocol):
    """A set of things to choose from."""

    @property
    def finite(self) -> bool:
        """False when there is an interval below: it can only be drawn from."""
        ...

    def count(self) -> int: ...

    def all(self) -> Iterator[Any]: ...

    def draw(self, rng: np.random.Generator) -> Any: ...


@dataclass(frozen=True)
class ListedValues:
    """Some values."""

    values: tuple[Any, ...]
    finite: bool = True

    def count(self) -> int:
        return len(self.values)

    def all(self) -> Iterator[Any]:
        return iter(self.values)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.values[int(rng.integers(len(self.values)))]


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

    def all(self) -> Iterator[Any]:
        raise ValueError("an interval needs `draw`")

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a number of the interval."""
        if self.logarithmic:
            value = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
            return min(max(round(value), math.ceil(self.low)), math.floor(self.high)) if self.whole else value
        if self.whole:
            return int(rng.integers(math.ceil(self.low), math.floor(self.high), endpoint=True))
        return float(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class Drawn:
    """What a distribution that was handed over in Python draws: one of SciPy's, or anything with `rvs`."""

    name: str  # by which `foreign.objects` knows it
    finite: bool = False

    def count(self) -> int:
        return 1

    def all(self) -> Iterator[Any]:
        raise ValueError("a distribution is drawn from")

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a value: it depends on the generator alone."""
        found = objects.read(self.name).rvs(random_state=np.random.RandomState(int(rng.integers(2**32))))
        return objects.written(found.item() if isinstance(found, np.generic | np.ndarray) and np.ndim(found) == 0 else found)


@dataclass(frozen=True)
class Swept:
    """Several values in the place of one, as a sweep declares them; an interval stands for all numbers in it."""

    values: tuple[Any, ...] = ()
    interval: Interval | Drawn | None = None


@dataclass(frozen=True)
class Either:
    """One of several sets, each as likely as the others."""

    sets: tuple[Options, ...]

    @property
    def finite(self) -> bool:
        return all(options.finite for options in self.sets)

    def count(self) -> int:
        return sum(options.count() for options in self.sets)

    def all(self) -> Iterator[Any]:
        return chain.from_iterable(options.all() for options in self.sets)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.sets[int(rng.integers(len(self.sets)))].draw(rng)


@dataclass(frozen=True)
class Combined:
    """`make(**fixed, **chosen)` for every combination of the fields' options."""

    make: Callable[..., Any]
    fixed: Mapping[str, Any]
    fields: Mapping[str, Options]

    @property
    def finite(self) -> bool:
        return all(options.finite for options in self.fields.values())

    def count(self) -> int:
        return math.prod(options.count() for options in self.fields.values())

    def all(self) -> Iterator[Any]:
        names, make, fixed = tuple(self.fields), self.make, self.fixed
        for values in product(*(options.all() for options in self.fields.values())):
            yield make(**fixed, **dict(zip(names, values, strict=True)))

    def draw(self, rng: np.random.Generator) -> Any:
        return self.make(**self.fixed, **{name: options.draw(rng) for name, options in self.fields.items()})


def only(value: object) -> ListedValues:
    """No choice."""
    return ListedValues((value,))


def settled(options: Options) -> bool:
    """True when there is nothing to choose."""
    return options.finite and options.count() == 1
