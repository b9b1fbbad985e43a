"""Findings about `modelsel.lock`, the file in which a review sees looks: held against the ledger, and against git."""

from collections.abc import Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, FindingKind

# The file is no lock file, or was edited.

LOCK_UNREADABLE = FindingKind(
    "G080", "LOCK_UNREADABLE", "high", "settle its merge conflict (keep the larger look counts), or take it as it was from git"
)


def lock_unreadable(why: str) -> Finding:
    return LOCK_UNREADABLE.finding(why)


# No ledger is at hand that the file could be held against.

NO_MEMORY = FindingKind(
    "G081", "NO_MEMORY", "low", "give the runner a memory (docs/guard/ci.md): the team's ledger, or a home that is kept"
)


def no_memory(sets: int, place: str) -> Finding:
    many = "1 test set" if sets == 1 else f"{sets} test sets"
    return NO_MEMORY.finding(f"there is no ledger at {place}: {many} of the lock file cannot be held against one")


# A test set of the file is in another ledger than the one at hand.

OTHER_LEDGER = FindingKind(
    "G082", "OTHER_LEDGER", "low", "ask the ledger that wrote it (--ledger), or take its entries over: modelsel audit --merge"
)


def other_ledger(testset: str) -> Finding:
    return OTHER_LEDGER.finding(f"test set {testset[:8]} was looked at in another ledger, which is not at hand")


# The ledger has looks that the file does not show.

LOCK_BEHIND = FindingKind("G083", "LOCK_BEHIND", "high", "commit modelsel.lock as modelsel wrote it after the last look")


def lock_behind(testset: str, shown: int, known: int, studies: Sequence[str]) -> Finding:
    """Report looks that a review would not see, and the studies that made them."""
    by = f" (made by {', '.join(studies)})" if studies else ""
    shows = "does not name it" if shown < 0 else f"shows {shown}"
    return LOCK_BEHIND.finding(f"the ledger has {known} looks at test set {testset[:8]}{by}, and the lock file {shows}")


# A change makes more looks at a test set.

MORE_LOOKS = FindingKind("G084", "MORE_LOOKS", "medium", QUOTE)


def more_looks(testset: str, before: int, now: int, since: str) -> Finding:
    return MORE_LOOKS.finding(f"looks at test set {testset[:8]}: {before} at {since}, {now} now")


def first_looks(testset: str, now: int, since: str) -> Finding:
    looks = "1 look" if now == 1 else f"{now} looks"
    return MORE_LOOKS.finding(f"test set {testset[:8]} is new since {since}: {looks}", "info" if now <= 1 else "medium")


# A change takes looks away.

LOOKS_TAKEN_AWAY = FindingKind("G085", "LOOKS_TAKEN_AWAY", "high", "take the file as it was from git: a look is not unmade")


def looks_taken_away(testset: str, before: int, now: int, since: str) -> Finding:
    says = "its line is gone" if now < 0 else f"{now} now"
    return LOOKS_TAKEN_AWAY.finding(f"looks at test set {testset[:8]}: {before} at {since}, {says}")
