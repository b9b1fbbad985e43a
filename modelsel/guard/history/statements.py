"""What a seal says of independence: that rows are in time, which of them make up a unit, or nothing, where rows are units."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.types import Integers, Table
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.rows.units import assignment

TIME, UNITS = "time", "units"


@dataclass(frozen=True)
class Statement:
    """`says` is time, units, or empty for rows; `assignment` is the digest of the units."""

    says: str = ""
    assignment: str | None = None

    @classmethod
    def of(cls, sealing: TestSetDeclaration, subject: RowFingerprints) -> "Statement":
        """Read off a declaration what its seal says."""
        if in_time(sealing):
            return cls(TIME)
        packed = packed_units(sealing, subject)
        return cls() if packed is None else cls(UNITS, hashlib.sha256(packed).hexdigest())

    @classmethod
    def read(cls, seal: LedgerEntry) -> "Statement":
        """What a seal on record says; earlier versions said nothing."""
        return cls(str(seal.facts.get("independent") or ""), seal.facts.get("assignment"))

    @property
    def facts(self) -> dict[str, Any]:
        """What the seal states of it; nothing where rows are units."""
        return {"independent": self.says, "assignment": self.assignment} if self.says else {}


def seal_of(sealing: TestSetDeclaration, subject: RowFingerprints) -> dict[str, object]:
    """What a seal states of independence, with the sizes of units."""
    said, units = Statement.of(sealing, subject), units_of(sealing)
    sizes = {} if said.says != UNITS or units is None else {"sizes": sizes_of(units), "unit": sealing.sealed.unit}
    return {**said.facts, **sizes}


def sizes_of(units: Integers) -> dict[str, int]:
    """The number of units, their rows, the largest, and the sum of squared sizes.

    >>> sizes_of(np.array([7, 7, 7, 2]))
    {'count': 2, 'rows': 4, 'largest': 3, 'squares': 10}
    """
    sizes = np.unique(units, return_counts=True)[1]
    return {"count": len(sizes), "rows": len(units), "largest": int(sizes.max()), "squares": int((sizes**2).sum())}


def packed_units(sealing: TestSetDeclaration, subject: RowFingerprints) -> bytes | None:
    """The units of the sealed rows, as they are stored; None where each row is one."""
    if (UNITS,) not in subject.met:
        units = units_of(sealing)
        subject.met[(UNITS,)] = None if units is None else assignment(subject.test.bound, units).pack()
    packed: bytes | None = subject.met[(UNITS,)]
    return packed


def units_of(sealing: TestSetDeclaration) -> Integers | None:
    """The unit of each sealed row, as declared; None where each row is one."""
    return declared_units(sealing.sealed)


IN_TIME = ("time_split", "group_time_split", "purged_kfold")  # schemes


def declared_units(sealed: Table) -> Integers | None:
    """The unit of each row: units, else groups; None where each row is one."""
    units = sealed.groups if sealed.units is None else sealed.units
    return None if units is None or len(np.unique(units)) == len(units) else units


def in_time(sealing: TestSetDeclaration) -> bool:
    """Say whether rows are taken as ordered in time, and nobody says which of them are independent nevertheless."""
    return sealing.sealed.units is None and is_ordered_in_time(sealing.config)


def is_ordered_in_time(config: Mapping[str, object]) -> bool:
    """Say whether a study takes its rows as ordered in time.

    >>> is_ordered_in_time({"split": {"kind": "time"}}), is_ordered_in_time({})
    (True, False)
    >>> is_ordered_in_time({"split": "random", "scheme": {"kind": "time_split"}})
    True
    """
    return bool(_kind(config.get("split")) == "time" or _kind(config.get("scheme")) in IN_TIME)


def _kind(part: object) -> Any:
    return part.get("kind") if isinstance(part, Mapping) else part
