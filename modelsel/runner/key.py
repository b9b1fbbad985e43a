"""What a cell's result depends on, and so the key under which the journal keeps it.

    key = digest(rows, fold, growing specification without path parameters, study seed, learner code, package version)

Path parameters are no part: a record answers some candidates of the cell, and a larger space adds a second record.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from modelsel.core.fingerprint import digest
from modelsel.core.types import Candidate

ROOMS = (
    "learner",
    "foreign",
    "sharing",
    "preparer",
    "criterion",
    "pruner",
    "softener",
    "distance",
    "tree",
    "kernels",
    "statistics",
)
WHAT_CHANGED = {
    "version": "another version of modelsel computed it",
    "code": "the learner's code has changed since",
    "seed": "it was computed with another seed",
}  # in the order in which it is said


@dataclass(frozen=True)
class Key:
    """`place` (rows, fold, growing) says which cell it is, the other fields under which circumstances it was computed."""

    rows: str
    fold: str
    growing: str
    seed: int
    code: str
    version: str = metadata.version("modelsel")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The fields by name, as a record describes its cell."""
        return {name: getattr(self, name) for name in FIELDS}

    @cached_property
    def text(self) -> str:
        return digest(self.facts)

    @property
    def place(self) -> tuple[str, str, str]:
        return self.rows, self.fold, self.growing

    def difference(self, other: Mapping[str, Any]) -> str:
        """Why a record of the same place does not answer this key."""
        return next((why for field, why in WHAT_CHANGED.items() if other.get(field) != getattr(self, field)), "")


FIELDS = tuple(field.name for field in fields(Key))


def code(candidate: Candidate) -> str:
    """Digest of the source that the fit of this candidate runs: our rooms, the module of every part from elsewhere, and the
    versions of other libraries whose parts it uses."""
    modules = {type(part).__module__ for part in (candidate.learner, *candidate.preparers)}
    foreign = tuple(sorted(name for name in modules if not name.startswith("modelsel.")))
    own = _code(foreign, ours=len(foreign) < len(modules))
    sources = sorted({getattr(part, "source", "") for part in (candidate.learner, *candidate.preparers)} - {""})
    return digest([own, sources]) if sources else own


@cache
def _code(foreign: tuple[str, ...], ours: bool) -> str:
    package = Path(__file__).parents[1]
    own = (file for room in ROOMS for file in sorted((package / room).rglob("*.py"))) if ours else ()
    theirs = (Path(file) for name in foreign if (file := getattr(import_module(name), "__file__", None)))
    return _sources([*own, *theirs])


def _sources(files: Iterable[Path]) -> str:
    state = hashlib.sha256()
    for file in files:
        state.update(f"{file.name}\0".encode() + file.read_bytes())
    return state.hexdigest()[:32]
