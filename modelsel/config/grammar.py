"""Hydra's sweep grammar, read by Hydra's own parser: `choice(1, 2)`, `range(1, 21)`, `glob(*)`, `interval(0, 1)`, `a,b`.

`tag(log, interval(1e-4, 1))` draws uniformly in the logarithm. Distributions have names of their own:

    uniform(0, 1)          real numbers                      interval(0, 1)
    log_uniform(1e-3, 1e3) real numbers, by their logarithm  tag(log, interval(1e-3, 1e3))
    integers(1, 20)        whole numbers, both ends included

Anything that is no sweep stays the plain value it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, IntervalSweep, Override
from hydra.errors import HydraException

from modelsel.config.options import Drawn, Interval, Swept
from modelsel.foreign import objects

_NUMBER = r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*"
_DISTRIBUTION = re.compile(rf"\s*(uniform|log_uniform|integers)\s*\({_NUMBER},{_NUMBER}\)\s*")
_NAMED = re.compile(r"\s*(uniform|log_uniform|integers)\s*\(")
_CALL = re.compile(r"\s*(choice|range|glob|interval|shuffle|sort|tag|int|float|str|bool)\s*\(")
Names = Callable[[], Sequence[str]]


class SweepError(Exception):
    """A sweep that cannot be read: `what` is wrong, and how to `fix` it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


def read_sweep(value: object, names: Names) -> object:
    """A sweep's value: `Swept` for a sweep in Hydra's grammar or a YAML list, mappings gone through, else the value itself.

    `names` gives what a `glob` chooses from. Raises SweepError.

    >>> read_sweep("range(1, 7, 2)", list).values
    (1, 3, 5)
    >>> read_sweep("path", list)
    'path'
    """
    if isinstance(value, Mapping):
        return {key: read_sweep(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return Swept(tuple(value))
    if isinstance(value, str) and _NAMED.match(value):
        return Swept(interval=_distribution(value))
    if isinstance(value, str) and objects.is_distribution(value):
        return Swept(interval=Drawn(value))
    if isinstance(value, str) and (_CALL.match(value) or "," in value):
        return _read(value, names)
    return value


def _distribution(text: str) -> Interval:
    """Read a distribution by its name, and refuse an empty one."""
    found = _DISTRIBUTION.fullmatch(text)
    if found is None:
        raise SweepError(f"{text!r} is not a distribution", "write uniform(0, 1), log_uniform(1e-3, 1e3) or integers(1, 20)")
    name, low, high = found[1], float(found[2]), float(found[3])
    if low > high or (name == "log_uniform" and low <= 0):
        raise SweepError(f"{text!r} is empty", f"give {name}(low, high){', above 0' if name == 'log_uniform' else ''}")
    if name == "integers" and not (low.is_integer() and high.is_integer()):
        raise SweepError(f"{text!r} has ends that are not whole numbers", "write integers(1, 20), or uniform(0.5, 2.5)")
    return Interval(low, high, name == "log_uniform", name == "integers")


def _read(text: str, names: Names) -> object:
    """Read a text of the sweep grammar: a plain value, listed values, or an interval."""
    override = _parse(text)
    if not override.is_sweep_override():
        return override.value()
    if override.is_interval_sweep():
        return Swept(interval=_interval(override))
    value: object = override.value()
    if isinstance(value, Glob):
        return Swept(tuple(_glob(value, names, text)))
    try:
        values = tuple(Override._convert_value(item) for item in override.sweep_iterator())
    except (HydraException, TypeError, ValueError, ArithmeticError) as error:
        raise SweepError(
            f"{text!r} cannot be listed ({error})", "a range is range(start, stop) or range(start, stop, step)"
        ) from error
    if not values:
        raise SweepError(f"{text!r} holds no value", "stop is not part of a range: range(1, 5) is 1, 2, 3, 4")
    return Swept(values)


def _parse(text: str) -> Override:
    """Parse a text by Hydra's parser; what it refuses becomes a `SweepError`."""
    try:
        return override_parser().parse_override(f"sweep={text}")
    except (HydraException, TypeError, ValueError) as error:
        raise SweepError(f"{text!r} is not in the sweep grammar", _remedy(text)) from error


def _remedy(text: str) -> str:
    """Guess how to mend a text that is not in the sweep grammar."""
    if "null" in text:
        return "write no limit as none: choice(none, 3, 5)"
    if re.search(r"choice\(.*(range|interval|glob)\(", text):
        return "a choice lists single values; make the sweep a list of alternatives instead"
    return "write choice(a, b), range(start, stop), interval(low, high) with draw, or a YAML list"


def _interval(override: Override) -> Interval:
    """Read an interval, and refuse an empty one."""
    sweep = override.value()
    assert isinstance(sweep, IntervalSweep)
    low, high = float(sweep.start or 0.0), float(sweep.end or 0.0)
    logarithmic = "log" in sweep.tags
    if low > high or (logarithmic and low <= 0):
        raise SweepError(
            f"the interval from {low:g} to {high:g} is empty", "give interval(low, high), above 0 for tag(log, ...)"
        )
    return Interval(low, high, logarithmic)


def _glob(glob: Glob, names: Names, text: str) -> list[str]:
    """List the names that a glob matches; none is an error."""
    known = list(names())
    if found := glob.filter(known):
        return list(found)
    raise SweepError(
        f"{text!r} matches nothing", f"there are: {', '.join(known)}" if known else "glob chooses among the parts of a group"
    )


@cache
def override_parser() -> OverridesParser:
    """Hydra's parser of overrides, made once: it looks through the signature of each of its functions."""
    return OverridesParser.create()
