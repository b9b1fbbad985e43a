"""A table of one's own, read as far as its advice is sure: the settings are tried, and written as a file that `run` takes.

`modelsel plan loans.csv default --write t.yaml` puts down what every sure proposal sets, each with its reason, and as comments
what is left to decide; `modelsel run t.yaml` reads the table so.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

from modelsel.config.compose import Config
from modelsel.core.errors import ConfigurationError, DataError, ModelselError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.spec import spec_of, with_fields
from modelsel.core.system.disk import writing
from modelsel.core.types import Finding
from modelsel.dataset.files import File
from modelsel.runner.study_data import prepare

DATASET = "dataset."
MOST_TIMES = 12  # that a table is read: each time something new is sure
FORM = ("header", "skip_lines", "encoding", "delimiter", "target")  # what columns are, and are called, follows from these
WIDTH = 110
SHORT = 4  # entries of a list that stand in one line
PLAIN = re.compile(r"[A-Za-z_./][\w./-]*")
TAKEN = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}  # words that YAML takes for something else


@dataclass(frozen=True, eq=False)
class Settled:
    """A study with all that is sure said of its table: which settings were added and why, what is left, what still is wrong."""

    config: Config
    added: Mapping[str, str]  # settings and their reasons
    left: Sequence[Finding | Problem]
    error: ModelselError | None = None


Composed = TypeVar("Composed")


def compose_surely(compose: Callable[[list[str]], Composed]) -> tuple[Composed, dict[str, str]]:
    """What a function composes of overrides, to which what is sure is added where it refuses them; and why that was added."""
    more: list[str] = []
    added: dict[str, str] = {}
    while True:
        try:
            return compose(more), added
        except ConfigurationError as error:
            fresh = [(one, each) for one in error.problems for each in one.proposes if each.sure and each.override not in more]
            fresh = [(one, each) for one, each in fresh if each.setting.startswith(DATASET) and _field(each) not in added]
            if not fresh:
                raise
            more += [each.override for _, each in fresh]
            added |= {_field(each): _reason(one) for one, each in fresh}


def settle(config: Config, before: Mapping[str, str] | None = None) -> Settled:
    """Say of a table what is sure, as often as that makes something else sure; labels of sealed rows are not read.

    `before`: what was added already, and why.
    """
    if not isinstance(config.dataset, File):
        fix = "save it as a Parquet or CSV file, and plan that"
        raise ConfigurationError(Problem("MSEL-809", "a table without a file has no settings to write", "--write, write=", fix))
    added = dict(before or {})
    for _ in range(MOST_TIMES):
        said, error = _advice(config)
        sure = [(one, proposed) for one in said for proposed in one.proposes if proposed.sure and _new(config, proposed)]
        if not sure:
            break
        first = [(one, proposed) for one, proposed in sure if _field(proposed) in FORM]
        for one, proposed in first or sure:
            config = _with(config, proposed)
            added[_field(proposed)] = "; ".join(filter(None, [added.get(_field(proposed), ""), _reason(one)]))
    return Settled(config, added, [one for one in said if _is_open(one)], error)


def _is_open(one: Finding | Problem) -> bool:
    """Say whether a person has to decide: it is a problem, or a finding that proposes a setting or is graver than `info`."""
    if isinstance(one, Problem):
        return True
    sure = any(each.sure for each in one.proposes)
    return not sure and (bool(one.proposes) or one.severity not in ("info", "low"))


def _advice(config: Config) -> tuple[Sequence[Finding | Problem], ModelselError | None]:
    """What is said of a table: findings, or the problems that keep it from being read."""
    try:
        material = prepare(config)
    except (ConfigurationError, DataError) as error:
        return error.problems, error
    return material.findings, None


def _field(proposed: Proposal) -> str:
    return proposed.setting.removeprefix(DATASET)


def _new(config: Config, proposed: Proposal) -> bool:
    """Say whether a setting is one of the table's, and not said yet."""
    if not proposed.setting.startswith(DATASET) or not hasattr(config.dataset, _field(proposed)):
        return False
    there = getattr(config.dataset, _field(proposed))
    return bool(_merge_lists(there, proposed.value) != there)


def _merge_lists(there: Any, value: Any) -> Any:
    """A list with the entries of another, each once; anything else as it is proposed."""
    if not isinstance(value, tuple):
        return value
    known = () if there is None else there if isinstance(there, tuple | list) else (there,)
    return tuple(dict.fromkeys((*known, *value)))


def _with(config: Config, proposed: Proposal) -> Config:
    """The study with one more setting of its table."""
    name = _field(proposed)
    value = _merge_lists(getattr(config.dataset, name), proposed.value)
    recorded = list(value) if isinstance(value, tuple) else value
    resolved = {**config.resolved, "dataset": {**config.resolved["dataset"], name: recorded}}
    return replace(config, dataset=with_fields(config.dataset, **{name: value}), resolved=resolved)


def _reason(one: Finding | Problem) -> str:
    what = one.message if isinstance(one, Finding) else f"{one.what}{', ' if one.where else ''}{one.where}"
    return f"{one.code}: {what}"


def write_settings(settled: Settled, path: str | Path, command: str) -> str:
    """Write the settings of a table as a dataset file, and return what was done, in a line."""
    with writing(path):
        Path(path).write_text("\n".join(_lines(settled, Path(path).name, command)) + "\n", "utf-8")
    added, left = len(settled.added), len(settled.left)
    to_decide = f", {left} left to decide" if left else ""
    return f"written      {path}: {added} setting{'s' if added != 1 else ''} added{to_decide}; `modelsel run {path}` takes it"


def _lines(settled: Settled, name: str, command: str) -> Iterator[str]:
    """The lines of a dataset file."""
    yield from _comment(f"A table, as `{command}` found it; `modelsel run {name}` takes it.")
    defaults = spec_of(type(settled.config.dataset)())
    for key, value in spec_of(settled.config.dataset).items():
        if key == "kind" or key in settled.added or value != defaults.get(key):
            if key in settled.added:
                yield from _comment(settled.added[key])
            yield from _entry(key, value)
    if settled.left:
        yield ""
        yield from _comment("Left to decide: take away the sign before a line that is right.")
    for one in settled.left:
        yield "#"
        yield from _comment(str(one) if isinstance(one, Problem) else f"{_reason(one)}; {one.do}")
        for proposed in one.proposes:
            if proposed.setting.startswith(DATASET):
                yield from (f"# {line}" for line in _entry(_field(proposed), proposed.value))


def _comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(" ".join(text.split()), WIDTH, break_long_words=False))


def _entry(key: str, value: object) -> Iterator[str]:
    """A setting in YAML; a long list has a line for each entry."""
    if isinstance(value, list | tuple) and len(value) > SHORT:
        yield f"{key}:"
        yield from (f"  - {_scalar(item)}" for item in value)
    else:
        yield f"{key}: {_scalar(value)}"


def _scalar(value: object) -> str:
    """A value in YAML, in which JSON is contained; words without need of quotes have none."""
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in TAKEN:
        return value
    return json.dumps(value, ensure_ascii=False)
