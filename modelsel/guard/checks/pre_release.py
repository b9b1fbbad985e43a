"""What is noticed about a look before labels are opened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelsel.core.types import Finding
from modelsel.guard.checks.declared_space import STRANGER
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.history.history import History, PastLook, differences, is_off
from modelsel.guard.history.quarantine import quarantined
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.policy.findings import flag

PROBABLE = {
    "C2": "a nearly unique column holds the same values", "C4": "the values rank the same",
}  # fmt: skip
NEARLY = 0.98  # share from which a set is another one's with a row more or less: the count of looks says enough
LARGE = 0.05  # share of the test rows from which an overlap is grave


@dataclass(frozen=True, eq=False)
class LookReview:
    """A look about to happen, and the past that it meets."""

    subject: RowFingerprints
    position: LookContext
    spec_id: str
    config: Mapping[str, Any]
    metric: str
    measure: str  # its digest
    predictions: str
    relabelled: bool  # is it said that labels were corrected
    keys: frozenset[str]  # that rows were compared under
    at: str
    leaks: tuple[Finding, ...] = ()  # what the features alone show
    since: str = ""  # the day from which the home remembers
    sitting: bool = False  # an answer to an exam, where each is another model by somebody else

    @property
    def history(self) -> History:
        return self.position.history

    @property
    def same(self) -> tuple[PastLook, ...]:
        """Looks at these very rows (a few more or less)."""
        sets = [self.subject.digest, *(r.testset for r in self.position.looked if r.same)]
        return self.history.looks_at(sets)


def noticed(seen: LookReview) -> tuple[Finding, ...]:
    """All findings, the gravest kinds of memory first."""
    return tuple(
        finding for check in (_rows_seen, _looks, _measure, _space, _duplicates, _store) for finding in check(seen)
    )  # fmt: skip


def _rows_seen(seen: LookReview) -> Iterator[Finding]:
    yield from _tables(seen)
    for relation in (one for one in seen.position.looked if not one.linked):
        if relation.channel in PROBABLE:
            where = f"test set {relation.testset[:8]}: {PROBABLE[relation.channel]}"
            yield flag("G022", f"{_counted(seen, relation.rows)} are probably those of {where}")
        elif not relation.same or relation.share < NEARLY:
            text = f"{_counted(seen, relation.rows)} were tested before, in test set {relation.testset[:8]}"
            yield flag("G020", text, "high" if relation.share >= LARGE else "medium")
    for relation in seen.position.relations:
        if relation.role == "selection" and not relation.linked:
            text = f"{_counted(seen, relation.rows)} helped to choose in an earlier study"
            yield flag("G021", text, "critical" if relation.share >= LARGE else "high")
    source = [one for one in seen.history.seals.values() if one.facts["source"] == seen.subject.source]
    if not seen.position.relations[1:] and any(one.facts["testset"] != seen.subject.digest for one in source):
        yield flag("G023", "the same table was sealed with another split before")


def _tables(seen: LookReview) -> Iterator[Finding]:
    for relation in seen.position.relations:
        if relation.linked:
            used = "looked at" if relation.role == "test" else "used to choose"
            yield flag(
                "G022", f"this is probably the table of test set {relation.testset[:8]}, which was {used}: its columns hang "
                "together as they did there, nearer than another sample would; no single row could be matched"
            )  # fmt: skip


def _looks(seen: LookReview) -> Iterator[Finding]:
    if not seen.position.past:
        yield flag("G001", f"the first look at these rows known to this home, which remembers since {seen.since}")
    if seen.position.commit is not None:
        yield flag("G013", f"this study was committed as look {seen.position.commit.facts['look']} before its score was known")
    revealed = [look for look in seen.same if look.status in ("revealed", "failed")]
    other = [look for look in revealed if look.facts["spec_id"] != seen.spec_id]
    if other and seen.position.commit is None and not seen.sitting:
        keys = differences(other[-1].facts.get("config", {}), seen.config)
        yield flag("G012", f"the study was changed after look {other[-1].facts['look']}: {_listed(keys)}")
    yield from _asked_again(seen, revealed)
    if any(look.facts["metric"] == "labels" for look in seen.position.past):
        yield flag("G061", "the labels of these rows were given away before")
    off = [look for look in seen.position.past if is_off(look.facts)]
    if off:
        yield flag("G076", f"these rows were opened without a guard {_times(len(off))}, and what was shown is charged in full")
    if any(look.status == "open" and look.id not in seen.position.at_work for look in seen.position.past):
        yield flag("G060", "an earlier look was interrupted between record and answer; it is counted at its highest price")


def _asked_again(seen: LookReview, revealed: list[PastLook]) -> Iterator[Finding]:
    if any(look.facts["spec_id"] == seen.spec_id and look.facts["train"] != seen.subject.train for look in revealed):
        yield flag("G011", "the same study was tested on these rows before, trained on other rows")
    asked = [
        look for look in revealed if look.same_question(seen.subject.digest, seen.metric, seen.spec_id, seen.subject.train)
    ]
    if any(look.facts["predictions"] != seen.predictions for look in asked):
        yield flag("G010", "the same study predicts otherwise than at its earlier look")
    if seen.relabelled and revealed:
        yield flag("G015", f"labels of these rows were corrected after look {revealed[-1].facts['look']}, it is said")


def _measure(seen: LookReview) -> Iterator[Finding]:
    """Another measure than the sealed one, once an answer is known; before, nothing can have suggested it."""
    sealed = seen.history.terms(seen.subject.digest)
    if seen.position.past and sealed["measure"] != seen.measure:
        yield flag("G073", f"these rows were sealed for {sealed['metric']}, looked at, and are now judged by {seen.metric}")


def _space(seen: LookReview) -> Iterator[Finding]:
    space, declared = seen.position.space, seen.position.declared
    if declared:
        yield flag("G016", f"the model is one of the {space} that were declared, {declared.how}")
    elif declared.why == STRANGER and space is not None:
        yield flag("G014", f"the chosen model is not one of the {space} that were declared when the rows were sealed")
    elif space is not None and seen.position.past:
        why = f"the chosen model pays as one that was not declared: {declared.why}"
        yield flag("G014", why, "info", do="declare before the first look, and test with the data and the version declared")


def _duplicates(seen: LookReview) -> Iterator[Finding]:
    rows = int(seen.subject.duplicated.sum())
    if rows:
        share = rows / seen.position.n
        severity = "low" if share < 0.01 else "medium" if share < LARGE else "high"
        text = f"{_counted(seen, rows)} stand among the development rows too"
        yield flag("G030", text, severity if seen.subject.identifiable else "info")
    yield from seen.leaks


def _store(seen: LookReview) -> Iterator[Finding]:
    known = {e.facts["mirror"]["hash"] for e in seen.history.seals.values() if "mirror" in e.facts}
    strangers = {e.facts["key_id"] for e in seen.history.seals.values() if e.hash not in known} - seen.keys
    if strangers:
        yield flag("G074", f"{len(strangers)} other key(s) hashed rows in this ledger: overlap with those rows is unknown")
    for entry in quarantined(seen.history.entries):
        if entry.facts["testset"] in ("", *seen.position.charged):
            yield flag("G079", str(entry.facts["why"]))
    if any(str(entry.facts.get("at", "")) > seen.at for entry in seen.history.entries):
        yield flag("G075", "an entry of the ledger is dated after now")


def _times(count: int) -> str:
    return "before" if count == 1 else f"{count} times before"


def _counted(seen: LookReview, rows: int) -> str:
    return f"{rows} of {seen.position.n} test rows ({rows / seen.position.n:.1%})"


def _listed(keys: list[str], most: int = 6) -> str:
    shown = ", ".join(keys[:most]) or "its data or its parts"
    return shown + (f" and {len(keys) - most} more" if len(keys) > most else "")
