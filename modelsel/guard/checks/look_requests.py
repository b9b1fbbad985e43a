"""Requests that reach the ledger before labels are opened, and the three ways in which they are answered."""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from modelsel.core.fingerprint import digest, short
from modelsel.core.spec import kind_of, spec_of
from modelsel.core.types import Booleans, Finding, Integers, Outputs
from modelsel.guard.bounded_losses import LossForm, form_of
from modelsel.guard.facts import Look, Reveal
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.joining import NOTHING, OtherLedgers
from modelsel.guard.policy.base import Policy
from modelsel.guard.release import CAPPED, COUNTED, ReleaseMechanism
from modelsel.guard.requests import LookRequest
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import Home, IdentityKey


def metric_of(measure: object) -> str:
    """The kind of a measure, with a digest of its settings where it has any."""
    spec = spec_of(measure)
    return kind_of(measure) + (f":{short(spec)}" if len(spec) > 1 else "")


@dataclass(frozen=True, eq=False)
class PreparedLook:
    """A look as it arrives at the ledger: everything is known but what the labels say."""

    request: LookRequest
    subject: RowFingerprints
    policy: Policy
    predictions: str
    key: IdentityKey
    leaks: tuple[Finding, ...]
    noticed: tuple[Finding, ...] = ()  # what opening the ledger and sealing have shown
    elsewhere: OtherLedgers = NOTHING
    doubted: tuple[str, ...] = ()  # ids of looks whose answers labels have contradicted
    since: str = ""  # the day from which the home remembers
    commitment: str = ""  # digest of everything that a fit by recipe depends on
    weights: str = ""  # digest of the test rows' weights
    former: str = ""  # the predictions as ledgers kept them before
    at_work: str = ""  # the name of the lock that is held while it is answered
    copies: bool = False  # too many sealed rows are near copies of development rows
    outputs: Outputs | None = None  # the predictions for the sealed rows
    home: Home | None = None  # whose locks say which looks of its own are still at work

    def told_by(self, look: Look) -> bool:
        """Say whether a look asked about these very predictions, by this measure."""
        return look.metric == self.metric and look.predictions in (self.predictions, self.former or self.predictions)

    @property
    def metric(self) -> str:
        """The kind of the measure, with a digest of its settings where it has any."""
        return metric_of(self.request.sealing.measure)

    @property
    def measure(self) -> str:
        """The digest of the measure, as a seal states it."""
        return digest(spec_of(self.request.sealing.measure))

    @property
    def counted(self) -> bool:
        """Say whether the answer is a plain error count."""
        return kind_of(self.request.sealing.measure) in COUNTED and self.request.sealing.development.weights is None

    @property
    def capped(self) -> bool:
        """Say whether capped errors are asked for beside the count of rows that are off."""
        return kind_of(self.request.sealing.measure) == CAPPED

    @cached_property
    def form(self) -> LossForm | None:
        """The measure as a bounded loss, where out-of-fold predictions say what to forecast; None for a plain error count."""
        seen, sealing = self.request.seen, self.request.sealing
        if seen is None or self.counted or self.outputs is None:
            return None
        return form_of(sealing.measure, sealing.development.class_count, seen)

    @property
    def has_form_for_units(self) -> bool:
        """Say whether there is an interval for units of rows."""
        return self.counted or (self.form is not None and self.form.for_units)

    @property
    def foreseen(self) -> tuple[float, int] | None:
        """The error rate that cross-validation found, and its rows."""
        selected = self.request.selected
        error = selected.cv_mean if self.counted and selected.cv_error is None else selected.cv_error
        usable = error is not None and isfinite(error) and 0 <= error <= 1 and selected.cv_rows > 0
        return (float(error), selected.cv_rows) if usable and error is not None else None

    @property
    def likely(self) -> tuple[float, int]:
        """The error rate that is foreseen and its rows; else one half, of a single row."""
        return self.foreseen or (0.5, 1)


@dataclass(frozen=True, eq=False)
class ApprovedLook:
    """The intent is on record: labels may be opened for these rows and shown through this channel."""

    intent: LedgerEntry
    channel: ReleaseMechanism
    rows: Booleans
    findings: tuple[Finding, ...]
    units: Integers | None = None  # of these rows, where they are not independent

    @property
    def facts(self) -> Look:
        return Look.of(self.intent)


@dataclass(frozen=True)
class Replayed:
    """The answer is known already."""

    intent: LedgerEntry
    answer: Reveal
    findings: tuple[Finding, ...]
    again: ApprovedLook | None = None  # how to compute it anew, where another person says it
    unseen: bool = False  # every run that got it ended before it was on record


@dataclass(frozen=True)
class Refused:
    """The policy says no; the refusal is on record."""

    reason: str
    n: int
    look: int
    spent: float
    delta: float
    release: str
    findings: tuple[Finding, ...]
