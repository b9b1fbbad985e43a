"""Build a recorded candidate again from its text in candidates.csv; its id says whether it was read back right."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from modelsel.config.build import learner as build
from modelsel.config.merge import nest
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Candidate
from modelsel.record.candidates import Row
from modelsel.record.folder import RunFolder

WORDS = {"none": None, "true": True, "false": False}


def candidate(row: Row, plugins: Sequence[str] = ()) -> Candidate:
    """The candidate of a row; ConfigurationError where what is built is not what was recorded (another version, a plugin)."""
    made = Candidate(*_learner_and_steps(row, plugins), entry=row.entry)
    if made.id != row.id:
        fix = "run the study again with this version"
        raise ConfigurationError(Problem("MSEL-805", "its parameters mean something else here", f"candidate {row.id}", fix))
    return made


def plugins_of(folder: RunFolder) -> tuple[str, ...]:
    """Return the parts of other packages that a run's study allowed."""
    return tuple(folder.config().get("plugins") or ())


def _learner_and_steps(row: Row, plugins: Sequence[str]) -> tuple[object, tuple[object, ...]]:
    """Learner and steps; `none` is no value, and where a value is needed the word."""
    try:
        return build(specification(row), None, plugins)
    except ConfigurationError as error:
        wanted = {problem.where.removeprefix("learner.") for problem in error.problems}
        words = frozenset(name for name in wanted if row.parameters.get(name) == "none")
        if not words:
            raise
        return build(specification(row, words), None, plugins)


def specification(row: Row, words: Collection[str] = ()) -> dict[str, Any]:
    """Learner, settings and preparation steps as `conf/learner/` writes them; `words` are settings whose text is a word."""
    given = {name: text for name, text in row.parameters.items() if name.partition(".")[0] != "preparer"}
    own = {name: text if name in words else value(text) for name, text in given.items()}
    steps = _steps(row.parameters)
    return {"kind": row.learner, **nest(own), **({"preparer": steps} if steps else {})}


def value(text: str) -> Any:
    """Parse a value of candidates.csv.

    >>> [value(text) for text in ("none", "0.5", "gini", "[1, 2]")]
    [None, 0.5, 'gini', [1, 2]]
    """
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _steps(parameters: Mapping[str, str]) -> list[dict[str, object]]:
    """Rebuild the settings of the preparation steps from a candidate's texts."""
    kinds = [kind for kind in parameters.get("preparer", "").split(", ") if kind]
    steps = []
    for index, kind in enumerate(kinds):
        again = kinds[: index + 1].count(kind)
        prefix = f"preparer.{kind}{f'_{again}' if again > 1 else ''}."
        own = {name.removeprefix(prefix): value(text) for name, text in parameters.items() if name.startswith(prefix)}
        steps.append({"kind": kind, **nest(own)})
    return steps
