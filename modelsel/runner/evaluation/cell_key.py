"""The key under which the journal keeps a cell's result: a digest of everything that the result depends on.

    key = digest(rows, fold, growing specification without path parameters, study seed, code, package version)

Path parameters are no part: a record answers some candidates of the cell, and a larger space adds a second record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import metadata
from typing import Any

from modelsel.core.fingerprint import digest

WHAT_CHANGED = {
    "version": "another version of modelsel computed it",
    "code": "the code that a cell runs has changed since",
    "seed": "it was computed with another seed",
}  # in the order in which it is said


@dataclass(frozen=True)
class CellKey:
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
        """Say why a record of the same place does not answer this key."""
        return next((why for field, why in WHAT_CHANGED.items() if other.get(field) != getattr(self, field)), "")


FIELDS = tuple(field.name for field in fields(CellKey))
