"""A run's record held against its witnesses: the ledger of its test, the sums of its files, and the scores of its candidates.

A record that was edited is not believed, and not refused either: what differs is said, as findings R003, wherever the record is
shown, compared or audited; it is not certified.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from modelsel.config.build import reopen
from modelsel.core.errors import ModelselError
from modelsel.core.outcome import FindingFacts, StudySummary
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.report import AuditReport, LookLine
from modelsel.ledger.home import Home
from modelsel.record.candidates import Row
from modelsel.record.folder import CANDIDATES, CONFIG, DETAILS, RunFolder

FIX = "do not quote this study: take the file from a backup, or run the study again"


def disagreements(folder: RunFolder, report: AuditReport | None = None) -> list[FindingFacts]:
    """What the record says otherwise than its witnesses; `report` is the audit of its ledger, where there is one already.

    Raises ConfigurationError for a study.json that cannot be read.
    """
    outcome, changed = folder.outcome(), folder.changed_files()
    files = (f"{name} is not the file that the study wrote" for name in changed)
    looks = _looks_of(report) if report else [] if {CONFIG, DETAILS} & set(changed) else _looks_at_hand(folder, outcome)
    rows = None if CANDIDATES in changed else folder.candidates()
    told = (*files, *_other_than_the_ledger(outcome, looks), *(_other_than_the_candidates(outcome, rows) if rows else ()))
    return [_finding(what if " is not the file" in what else f"study.json was changed: {what}") for what in told]


def _finding(message: str) -> FindingFacts:
    return FindingFacts(code="R003", severity="high", message=message, do=FIX)


def _looks_of(report: AuditReport) -> list[LookLine]:
    every = [look for one in report.test_sets for look in one.looks]
    return [look for look in every if look.states("look") and not look.replay]  # older versions wrote less of a look


def _looks_at_hand(folder: RunFolder, outcome: StudySummary) -> list[LookLine]:
    """The looks that the person's own ledger has, where it is here; else those that were written down when the study ended."""
    if outcome.test is None or outcome.test.refused:
        return []
    known = folder.details().audited
    kept = [] if known is None else _looks_of(known)
    config = folder.config()
    if config.get("guard", {}).get("ledger", "user") == "user" and Home.find().ledger.is_file():
        with suppress(ModelselError):  # `modelsel audit` says what is wrong with the ledger
            gate = Gate(reopen(config, "guard").guard, folder.project(config))
            return _looks_of(audit(gate, study=outcome.folder, known=known.known if known else ())) or kept
    return kept


def _other_than_the_ledger(outcome: StudySummary, every: Sequence[LookLine]) -> Iterator[str]:
    """Compare a test's result with the looks of its number on record; where the ledger at hand has none, nothing is said."""
    test = outcome.test
    if test is None or test.refused or test.policy == "off":
        return
    looks = [look for look in every if look.look == test.look and look.status == "revealed"]
    if not looks:
        if every:
            yield f"it states look {test.look}, which the ledger does not have"
        return
    names = ("score", "errors") if test.replay else ("score", "errors", "interval")  # a replay's interval is that of its day
    said = {name: _plain(getattr(test, name)) for name in names}
    if not any(all(_plain(getattr(look, name)) == said[name] for name in names) for look in looks):
        known = {name: _plain(getattr(looks[-1], name)) for name in names}
        apart = (f"its {name} is {said[name]}, the ledger's {known[name]}" for name in names if said[name] != known[name])
        yield f"of look {test.look} {', '.join(apart)}"


def _other_than_the_candidates(outcome: StudySummary, rows: Sequence[Row]) -> Iterator[str]:
    """Compare the winner's scores with those of its row."""
    mine = next((row for row in rows if row.id == outcome.winner.id), None)
    if mine is None:
        yield f"its winner {outcome.winner.id[:8]} is not one of the candidates"
        return
    cv = outcome.winner.cv
    for name, said, known in (("mean", cv.mean, mine.mean), ("se", cv.se, mine.se)):
        if said is not None and not np.isclose(said, known, rtol=1e-9, atol=1e-12, equal_nan=True):
            yield f"the winner's cross-validated {name} is {said:.6g}, and {known:.6g} in {CANDIDATES}"
    folds = [np.nan if score is None else score for score in (cv.folds if cv.states("folds") else mine.folds)]
    if len(folds) != len(mine.folds) or not np.allclose(folds, mine.folds, rtol=1e-9, atol=1e-12, equal_nan=True):
        yield f"the winner's scores on its folds are not those in {CANDIDATES}"


def _plain(value: Any) -> Any:
    """A number as both records keep it, a pair of limits as a tuple."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_plain(one) for one in value)
    return round(value, 9) if isinstance(value, float) else value
