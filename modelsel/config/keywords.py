"""Settings given in Python, beside overrides: `space=["trees"]`, `scheme={"kind": "kfold", "folds": 5}`, `rule="best"`.

A name of a group goes to Hydra as an override, so that its file is read and a wrong name is answered as on the command line;
everything else is put over what Hydra composed, as plain data, and checked with it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from modelsel.config.build import LEARNER
from modelsel.config.expand import SPACE
from modelsel.config.folders import Folders
from modelsel.config.merge import KIND, merge, nest
from modelsel.config.overrides import COMPOSED, OUTER
from modelsel.config.references import reference
from modelsel.config.settings import RENAMED
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.foreign import objects
from modelsel.foreign.written import AsGiven, NotPlainError, space

SCHEME = "scheme"
# settings that refine what stands there; the others take its place
MERGED = (*COMPOSED, OUTER, "limit", "explanations", "search", "ensemble", "optimal", *RENAMED)


@dataclass(frozen=True)
class Keywords:
    """Settings given by keyword: overrides for Hydra, values to put over its composition, and problems."""

    lines: tuple[str, ...] = ()
    values: Mapping[str, object] | None = None
    problems: tuple[Problem, ...] = ()

    def over(self, composed: Mapping[str, object]) -> dict[str, object]:
        """A composed configuration with the values put over it."""
        values = self.values or {}
        done = {key: merge(composed.get(key), value) if key in MERGED else value for key, value in values.items()}
        return {**composed, **done}


def sort_keywords(settings: Mapping[str, object], folders: Folders, typed: Collection[str] = ()) -> Keywords:
    """Sort keyword settings; `typed` are the keys that overrides set, which may not say the opposite."""
    problems: list[Problem] = []
    given = _undot({key: _plain(_written_space(value, key, problems), key, problems) for key, value in settings.items()})
    keys = {*typed, *given}
    if {SPACE, LEARNER} & set(given) and SPACE in keys and LEARNER in {key.split(".")[0] for key in keys}:
        fix = "learner=NAME is a space of one entry: give one of them"
        problems.append(Problem("MSEL-244", "both a space and a learner are given", f"{SPACE}=, {LEARNER}=", fix))
    lines, values = [], {}
    for key, value in given.items():
        name = _name(key, value, folders)
        if name is not None:
            lines.append(f"{key}='{name}'")
            value = {k: v for k, v in value.items() if k != KIND} if isinstance(value, Mapping) else {}
        if name is None or value:
            values[key] = _referring(key, value)
    return Keywords(tuple(lines), values, tuple(problems))


def _name(key: str, value: object, folders: Folders) -> str | None:
    """The name of a group's file that Hydra has to read; a mapping may name a kind that has none."""
    if key not in COMPOSED:
        return None
    if isinstance(value, Mapping):
        kind = value.get(KIND)
        return kind if isinstance(kind, str) and kind in folders.options(key) else None
    return value.replace("'", "\\'") if isinstance(value, str) else None


def plain(value: object, where: str, as_given: AsGiven = lambda _: False) -> object:
    """A setting given in Python as plain data; ConfigurationError for what is none.

    `as_given(estimator)`: an estimator of a space is fitted as it is, also where its plain values would do.
    """
    problems: list[Problem] = []
    found = _plain(_written_space(value, where, problems, as_given), where, problems)
    ConfigurationError.raise_if(problems)
    return found


def _written_space(value: object, where: str, problems: list[Problem], as_given: AsGiven = lambda _: False) -> object:
    """A space in which estimators with their grids have become entries; a splitter by the name of what it is."""
    if where == SCHEME and callable(getattr(value, "split", None)) and not isinstance(value, str):
        return _splitter(value, problems)
    if where != SPACE:
        return value
    try:
        return space(value, as_given)
    except NotPlainError as error:
        problems.append(Problem("MSEL-217", str(error), where, "hand over what scikit-learn's clone copies, or leave it out"))
        return {}


def _splitter(value: object, problems: list[Problem]) -> object:
    """Name a splitter object that this process holds from now on."""
    try:
        return {KIND: "splitter", "identity": objects.hold(value), "splitter": objects.describe_object(value)}
    except objects.NotClonableError as error:
        problems.append(Problem("MSEL-217", str(error), SCHEME, "hand over a splitter whose parameters are plain"))
        return {}


def _undot(settings: Mapping[str, object]) -> dict[str, object]:
    """`{"scheme.folds": 5}` as `{"scheme": {"folds": 5}}`; names further down keep their dots (columns have them)."""
    out: dict[str, object] = {}
    for key in sorted(settings, key=lambda name: name.count(".")):
        first, *rest = key.split(".")
        out[first] = settings[key] if not rest else merge(_as_mapping(out.get(first)), nest({".".join(rest): settings[key]}))
    return out


def _as_mapping(value: object) -> object:
    return {KIND: value} if isinstance(value, str) else {} if value is None else value


def _referring(key: str, value: object) -> object:
    """An address with a password goes into the environment, as one that is typed."""
    if not isinstance(value, Mapping):
        return value
    found = {name: reference(f"{key}.{name}", text) for name, text in value.items() if isinstance(text, str)}
    return {**value, **{name: text for name, text in found.items() if text}}


def _plain(value: object, where: str, problems: list[Problem]) -> object:
    """Plain data: NumPy's scalars and arrays, ranges, tuples and paths as what they say."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}.{key}", problems) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple | range | set | frozenset):
        return [_plain(item, where, problems) for item in _in_order(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    name = type(value).__name__
    fix = "settings are plain data: names, numbers, lists and mappings"
    if hasattr(value, "get_params"):
        fix = f'an estimator stands in a space, with its grid: space={{"{name}": ({name}(), {{"PARAMETER": [...]}})}}'
    problems.append(Problem("MSEL-216", f"a {name} is not a setting", where, fix))
    return None


def _in_order(values: Iterable[object]) -> Iterator[object]:
    return iter(sorted(values, key=str) if isinstance(values, set | frozenset) else values)
