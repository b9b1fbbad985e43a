"""Findings about the ledger: entries, anchors and keys; and about `modelsel.lock`, in which a review sees looks."""

from collections.abc import Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, RESTORE, FindingKind

# An anchor could not be told or asked.

ANCHOR_UNREACHED = FindingKind(
    "G077", "ANCHOR_UNREACHED", "low", "look after the anchor: without it a lost ledger may go unnoticed"
)


def anchor_unreached_not_told(name: str, error: object) -> Finding:
    return ANCHOR_UNREACHED.finding(f"the anchor {name} was not told: {error}")


def anchor_unreached_not_asked(name: str, error: object) -> Finding:
    return ANCHOR_UNREACHED.finding(f"the anchor {name} cannot be asked: {error}")


def anchor_unreached_none_told(problem: str) -> Finding:
    return ANCHOR_UNREACHED.finding(f"no anchor could be told: {problem}")


def anchor_unreached_after_answer(error: Exception) -> Finding:
    return ANCHOR_UNREACHED.finding(f"the answer is on record, but what follows it failed: {type(error).__name__}: {error}")


# Entries are dated out of order.

CLOCK_BACKWARDS = FindingKind("G075", "CLOCK_BACKWARDS", "low", "set the clock; entries are ordered by number, not by time")


def clock_backwards() -> Finding:
    return CLOCK_BACKWARDS.finding("an entry of the ledger is dated after now")


def clock_backwards_out_of_order(seq: int, replica: str) -> Finding:
    return CLOCK_BACKWARDS.finding(f"entry {seq} of replica {replica} is dated before the one it follows")


# An entry is not to be believed; it is counted at its worst.

ENTRY_QUARANTINED = FindingKind(
    "G079",
    "ENTRY_QUARANTINED",
    "medium",
    "ask who wrote it; the ledger's owner may rule it void (docs/guard/teams.md)",
    loss=True,
)


def entry_quarantined(why: str) -> Finding:
    return ENTRY_QUARANTINED.finding(why)


def entry_quarantined_contradicted(look: int, place: str) -> Finding:
    return ENTRY_QUARANTINED.finding(f"the answer on record of look {look} ({place[:40]}) is not what the labels say")


def entry_quarantined_forged_row_set(digest: str) -> Finding:
    return ENTRY_QUARANTINED.finding(f"under the digest {digest[:16]} stands a row set that it is not the digest of")


def entry_quarantined_charged(why: str, testset: str, worst: float) -> Finding:
    return ENTRY_QUARANTINED.finding(f"{why}: {_entry_quarantined_price(testset, worst)}")


def _entry_quarantined_price(testset: str, worst: float) -> str:
    if not testset:
        return "it names no test set, and nothing is certified until it is ruled void"
    return f"counted as a look at test set {testset[:8]} at its highest price, {worst:.2f} nats"


# Rows were hashed under a key that is not at hand.

KEY_GAP = FindingKind(
    "G074", "KEY_GAP", "medium", "use the key that the earlier rows were hashed with; overlap with them is unknown"
)


def key_gap(keys: int) -> Finding:
    return KEY_GAP.finding(f"{keys} other key(s) hashed rows in this ledger: overlap with those rows is unknown")


def key_gap_merged_apart(looks: int, testset: str) -> Finding:
    """Report that merged looks cannot be compared with these rows."""
    return KEY_GAP.finding(
        f"{looks} look(s) of another ledger that was merged in did not know of those at test set {testset[:8]}, and their rows "
        "cannot be compared with it (stored as a digest only, or under another key): if they are the same rows, its intervals "
        "are too narrow"
    )


def key_gap_no_rows(sets: int) -> Finding:
    """Report earlier test sets of which neither rows nor portraits are kept."""
    return KEY_GAP.finding(
        f"{sets} earlier test set(s) were stored by a digest alone, and their tables have no portrait: whether rows of "
        "them are among these cannot be told",
        do="ask who looked at them, or keep hashes of rows (guard.identity.store=full)",
    )


def key_gap_of_home(sets: int, place: object) -> Finding:
    """Report that the home's own ledger was written under keys that are gone."""
    return KEY_GAP.finding(
        f"{sets} test set(s) of the home's own ledger were hashed under keys that are not here, and another signing key wrote "
        f"it: whether these rows were looked at before cannot be told, and nothing is certified",
        severity="high",
        do=f"restore the whole home ({place}) from a backup: own.key, keys, signing.key and state.json beside the ledger",
    )


def key_gap_in_anchor(path: object) -> Finding:
    return KEY_GAP.finding(f"{path} counts looks made with another key: overlap is unknown")


# A ledger that held looks is gone.

LEDGER_MISSING = FindingKind("G072", "LEDGER_MISSING", "critical", RESTORE, loss=True)


def ledger_missing_elsewhere(anchor: str, look: int | str, rows: str) -> Finding:
    return LEDGER_MISSING.finding(f"{anchor} saw look {look} at {rows} in another ledger, which is not here")


def ledger_missing_of_unknown_rows(looks: int) -> Finding:
    """Report looks that the home remembers, at rows that no ledger at hand keeps."""
    return LEDGER_MISSING.finding(
        f"this home remembers {looks} look(s) at rows that no ledger at hand keeps: whether they are these cannot be told, and "
        "nothing is certified"
    )


def ledger_missing_another_one(place: str) -> Finding:
    return LEDGER_MISSING.finding(f"the ledger that stood at {place} is gone; this is another one")


# Entries that were seen before are gone.

LEDGER_ROLLED_BACK = FindingKind("G071", "LEDGER_ROLLED_BACK", "critical", RESTORE, loss=True)


def ledger_rolled_back(damage: str) -> Finding:
    return LEDGER_ROLLED_BACK.finding(damage)


def ledger_rolled_back_look_is_gone(anchor: str, seq: str, replica: str, rows: str) -> Finding:
    return LEDGER_ROLLED_BACK.finding(f"{anchor} saw entry {seq} of replica {replica}, a look at {rows}, which is gone")


def ledger_rolled_back_end_is_gone(replica: str, seq: int) -> Finding:
    return LEDGER_ROLLED_BACK.finding(f"replica {replica} had {seq} entries when last seen; its end is gone")


# An entry of the ledger was changed.

LEDGER_TAMPERED = FindingKind("G070", "LEDGER_TAMPERED", "critical", RESTORE, loss=True)


def ledger_tampered(damage: str) -> Finding:
    return LEDGER_TAMPERED.finding(damage)


def ledger_tampered_rewritten(anchor: str, seq: str, replica: str, rows: str) -> Finding:
    return LEDGER_TAMPERED.finding(
        f"{anchor} saw another entry {seq} of replica {replica}, a look at {rows}: the chain was written anew"
    )


def ledger_tampered_replaced(replica: str, seq: int) -> Finding:
    return LEDGER_TAMPERED.finding(f"entry {seq} of replica {replica} is another one than when last seen")


# A ledger that holds looks of others cannot be asked.

LEDGER_UNREACHED = FindingKind(
    "G078", "LEDGER_UNREACHED", "medium", "make the ledger reachable again; until then nothing is certified"
)


def ledger_unreached(url: str, problem: str) -> Finding:
    return LEDGER_UNREACHED.finding(f"{url} holds looks of others, and cannot be asked: {problem}")


# Settings were loosened after the rows were sealed.

POLICY_WEAKENED = FindingKind(
    "G073", "POLICY_WEAKENED", "high", "go back to the settings under which the set was sealed; they stay in force"
)


def policy_weakened(keys: Sequence[str]) -> Finding:
    return POLICY_WEAKENED.finding(f"{', '.join(keys)} changed since these rows were sealed; the sealed settings stay in force")


def policy_weakened_recorded(keys: Sequence[str], testset: str) -> Finding:
    return POLICY_WEAKENED.finding(f"{', '.join(keys)} changed after test set {testset[:8]} was sealed")


def policy_weakened_other_measure(sealed: str, now: str) -> Finding:
    return POLICY_WEAKENED.finding(f"these rows were sealed for {sealed}, looked at, and are now judged by {now}")


# `modelsel.lock`, held against the ledger and against git.

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
