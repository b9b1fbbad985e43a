"""The entries that the gate writes into the ledger: who, when, under which terms, and what was sealed."""

import getpass
import hashlib
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from typing import Any, TypedDict

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest
from modelsel.core.spec import kind_of, spec_of
from modelsel.core.system.installed import version_of
from modelsel.core.types import Finding, Integers
from modelsel.guard.copied_units import COPIES_OF_ROWS, declared_units, sealed_copies
from modelsel.guard.facts import EntryOrigin, Look, Note, Seal, SealTerms
from modelsel.guard.findings import row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History
from modelsel.guard.policy.base import Policy
from modelsel.guard.release import CAPPED, COUNTED
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.matching import table_set
from modelsel.ledger.rows.row_set import FULL, RowSet, assignment
from modelsel.statistics.prices import steps_near

FIXED = ("delta", "release", "resolution", "target", "budget", "steps")  # what a seal decides for good
CHOSEN = ("metric", "measure")  # what development rows are judged by is free; a look by another measure is flagged
ONLY_ERRORS = ("passfail", "ladder", "thresholdout", "better")


def origin() -> EntryOrigin:
    """Time, person, machine and version, as every entry states them."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # no name for this user id
        user = "unknown"
    return {"at": now(), "user": user, "host": platform.node(), "version": version_of("modelsel")}


def now() -> str:
    """Return the time in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def terms_of(policy: Policy, sealing: TestSetDeclaration) -> SealTerms:
    """The settings as a seal keeps them. ConfigurationError where they do not go together."""
    metric = kind_of(sealing.measure)
    weighted = metric not in COUNTED
    if policy.release in ONLY_ERRORS and weighted:
        fix = "leave guard.beside out" if metric == CAPPED else "use measure=error"
        _refuse(f"guard.release={policy.release} shows error rates, and the measure is {metric}", fix)
    if policy.release == "passfail" and policy.target is None:
        _refuse("guard.release=passfail needs a target", "set guard.target, for example guard.target=0.2")
    return SealTerms(
        policy=kind_of(policy), rank=policy.rank, delta=policy.delta, release=policy.release, resolution=policy.resolution,
        steps=_steps(policy, len(sealing.sealed)), target=policy.target, quota=_quota(policy), budget=policy.budget,
        max_looks=policy.max_looks, metric=metric, measure=digest(spec_of(sealing.measure)),
    )  # fmt: skip


def seal_facts(subject: RowFingerprints, sealing: TestSetDeclaration, terms: SealTerms, key_id: str, space: int | None) -> Seal:
    """The facts of a seal, but for the row sets that are stored beside it."""
    sealed = Seal(
        **origin(), testset=subject.digest, train=subject.train, source=subject.source, n=len(subject.test.bound),
        rows_in_all=len(subject), u=round(subject.u["bound"], 6), key_id=key_id, names=list(subject.names), space=space,
        seed=sealing.seed, study=sealing.study, folder=sealing.folder, spec_id=sealing.spec_id,
        terms=terms.but(noise=secrets.randbits(62)), **seal_of(sealing, subject),
    )  # fmt: skip
    return sealed.but(searched=sealing.searched) if sealing.searched else sealed


def intent_to_burn(subject: RowFingerprints, sealing: TestSetDeclaration, price: float, history: History) -> Look:
    """The intent of giving all labels away."""
    past = history.looks_at([subject.digest])
    return Look(
        **origin(), testset=subject.digest, train=subject.train, metric="labels", spec_id=sealing.spec_id,
        predictions="", study=sealing.study, folder=sealing.folder, n=len(subject.test.bound), certified=False,
        look=1 + len(past), spent=sum(look.price for look in past), worst=price, release="labels", policy="burn",
        flags=(row_findings.labels_released_now(),),
    )  # fmt: skip


def note_of(found: Finding) -> Note:
    """The note that puts a finding on record."""
    return Note(**origin(), code=found.code, text=found.message)


def declared_space(declared: int | str, candidates: int) -> int:
    """A size that was typed: at least that of the plan, or its members would pay too little."""
    if not str(declared).isdecimal() or int(declared) < max(1, candidates):
        _refuse(f"guard.declared_space={declared}", f"use auto, null or a number of at least {max(1, candidates)}, the plan's")
    return int(declared)


def space_set(ids: tuple[str, ...]) -> RowSet:
    """The declared candidates, as they are stored."""
    return RowSet({"n": len(ids)}, {"ids": space_hashes(ids)})


def space_hashes(ids: tuple[str, ...]) -> Hashes:
    """Hash candidate ids to 64 bits each, sorted."""
    return np.array(sorted(int(digest(one)[:16], 16) for one in set(ids)), np.uint64)


def weaker(policies: Sequence[SealTerms], now: SealTerms) -> list[str]:
    """List settings in which a policy is weaker than the seal's or the strictest since: fixed terms, kind, looks."""
    sealed, said = policies[0].part(FIXED), now.part(FIXED)
    changed = [name for name in FIXED if sealed[name] != said[name]]
    if now.rank < max(before.rank for before in policies):
        changed.append("policy")
    limits = [before.max_looks for before in policies if before.max_looks is not None]
    if limits and "policy" not in changed and (now.max_looks or inf) > min(limits):
        changed.append("max_looks")
    if any(_looser(before.quota, now.quota) for before in policies):
        changed.append("quota")
    return changed


def _looser(before: float | None, now: float | None) -> bool:
    """Say whether a quota allows more than before; what cannot be compared counts as looser."""
    return before is not None and (now is None or (before >= 1) != (now >= 1) or now > before)


def _quota(policy: Policy) -> float | None:
    """Check the quota: a number of answers, or a half width."""
    quota = policy.quota
    if quota is not None and not (0 < quota <= 0.5 or (quota >= 1 and quota == int(quota))):
        _refuse(f"guard.quota={quota:g}", "give a number of answers (1, 2, ...), a half width up to 0.5, or null")
    return quota


def _steps(policy: Policy, n: int) -> int | None:
    """Return the steps to which answers are rounded; None for exact counts."""
    if policy.resolution == "auto":
        return steps_near(0.5 / max(1, n) ** 0.5)
    if policy.resolution == "count":
        return None
    if isinstance(policy.resolution, str) or not 0 < policy.resolution <= 0.5:
        _refuse(f"guard.resolution={policy.resolution}", "use count, auto or a step such as 0.01")
    return round(1 / float(policy.resolution))


def _refuse(what: str, fix: str) -> None:
    raise ConfigurationError(Problem("MSEL-272", what, "guard", fix))


# Independence, as a seal states it: that rows are in time, which of them make up a unit, or nothing, where rows are units.


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
        """Read the statement of a seal on record; earlier versions made none."""
        return cls(str(seal.facts.get("independent") or ""), seal.facts.get("assignment"))


class StatedUnits(TypedDict, total=False):
    """What a seal states about independence; nothing where rows are units."""

    independent: str
    assignment: str | None
    sizes: dict[str, int]
    unit: str | None


def seal_of(sealing: TestSetDeclaration, subject: RowFingerprints) -> StatedUnits:
    """The statement of a seal about independence, with the sizes of units."""
    said, units = Statement.of(sealing, subject), units_of(sealing)
    if not said.says:
        return {}
    stated: StatedUnits = {"independent": said.says, "assignment": said.assignment}
    return stated if said.says != UNITS or units is None else {**stated, "sizes": sizes_of(units), "unit": unit_of(sealing)}


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
    """The unit of each sealed row: as declared, else rows that are copies of each other; None where each row is one."""
    declared = declared_units(sealing.sealed)
    return sealed_copies(sealing).unit if declared is None else declared


def unit_of(sealing: TestSetDeclaration) -> str | None:
    """What units are called; None where they are not called anything."""
    return COPIES_OF_ROWS if declared_units(sealing.sealed) is None else sealing.sealed.unit


IN_TIME = ("time_split", "group_time_split", "purged_kfold")  # schemes


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


# Row sets that a ledger stores for sealed rows: both sides, the whole table, the declared space.
#
# How much is asked of the session: the home's own ledger keeps hashes of all rows, whatever others store.


def keep_all(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """Digests of everything that a seal stores, by name; None for what the policy does not store."""
    n = len(subject.test.bound)
    table = table_set(subject.sketches, n + len(subject.development.bound))
    space = space_set(sealing.candidates) if sealing.candidates else None
    drawn = subject.portrait.stored() if subject.portrait else None
    rows = store != "digest_only"
    return {
        "rows": keep(writing, store, key, subject, "test"),
        "development": keep(writing, store, key, subject, "development"),
        "table": writing.keep(table.pack(), key.id, n, "table") if rows else None,
        "portrait": writing.keep(drawn.pack(), key.id, n, "portrait") if drawn else None,
        "candidates": writing.keep(space.pack(), key.id, len(space), "space") if space else None,
        **_keep_units(writing, store, key, sealing, subject),
    }


def _keep_units(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """The digest of the units of sealed rows, and the same where they are stored; nothing where each row is one."""
    said, n = Statement.of(sealing, subject), len(subject.test.bound)
    packed = packed_units(sealing, subject) if said.assignment else None
    if packed is None:
        return {}
    whole = store == "full" and n <= FULL
    stored = writing.keep(packed, key.id, n, "units") if whole else None
    return {"assignment": said.assignment, "units": stored}


def keep_chosen(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """Digests of the rows that chose, of the candidates that a search asked for, and of the table where no seal keeps it."""
    kept = {"development": keep(writing, store, key, subject, "development")}
    if sealing.asked:
        space = space_set(sealing.asked)
        kept["candidates"] = writing.keep(space.pack(), key.id, len(space), "space")
    if len(sealing.sealed) or store == "digest_only":
        return kept
    n = len(subject.development.bound)
    return {**kept, "table": writing.keep(table_set(subject.sketches, n).pack(), key.id, n, "table")}


def keep(writing: WriteTransaction, store: str, key: IdentityKey, subject: RowFingerprints, side: str) -> str | None:
    """Digest of the stored rows of one side, `test` or `development`, in the form that is asked for."""
    if store == "digest_only":
        return None
    rows = (subject.test if side == "test" else subject.development).stored(subject.names, key)
    rows = rows.sketch(most=0) if store == "sketch" else rows
    return writing.keep(rows.pack(), key.id, len(rows), side)
