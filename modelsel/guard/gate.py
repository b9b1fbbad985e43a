"""The gate: the only code that opens sealed labels.

The order of a look: open and check the ledger; fingerprint both sides; predict; under the ledger's lock replay, refuse or
commit an *intent*; only then open the labels and reduce what they say to one released answer; commit the *reveal*; only
then return it. Whatever happens in between stays on record and is charged.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import lgamma, log
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from modelsel.core.errors import ConfigurationError, LedgerError, ModelselError, Problem, StoreError
from modelsel.core.outcome import TestResult
from modelsel.core.spec import kind_of
from modelsel.core.surroundings import Anchor
from modelsel.core.types import Finding, Outputs, Sealed, Table, Targets, Task, holds_labels, open_labels, weights_of
from modelsel.guard.access import apart, looks, seals
from modelsel.guard.access.apart import closing_answers
from modelsel.guard.access.authorize import at_work
from modelsel.guard.access.looks import refusal_result, released_result, unguarded_result
from modelsel.guard.access.session import LedgerSession, merge_in, note, rule
from modelsel.guard.bounded_losses import BoundedLossRelease
from modelsel.guard.checks.declared_space import commitment
from modelsel.guard.checks.leakage import leaks
from modelsel.guard.checks.look_requests import ApprovedLook, PreparedLook, Refused, Replayed
from modelsel.guard.checks.review import answer
from modelsel.guard.copied_units import sealed_copies
from modelsel.guard.entries import origin
from modelsel.guard.facts import Abort, Look, Note, Reveal, Vouch
from modelsel.guard.findings import ledger_findings, look_findings, row_findings
from modelsel.guard.fingerprints import RowFingerprints, slow, subject_of
from modelsel.guard.joining import OtherLedgers
from modelsel.guard.labels import former_digest, prediction_digest, truth
from modelsel.guard.policy.base import Policy
from modelsel.guard.release import Better, LabelSummary, Released, ReleaseMechanism
from modelsel.guard.requests import Handed, LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import Home, IdentityKey

T = TypeVar("T")
Predict = Callable[[Table], Outputs]


class Gate:
    """Built from a policy; `runs` is where a project's ledger and the lock file belong."""

    def __init__(self, policy: Policy, runs: Path, anchors: Sequence[Anchor] = (), home: Home | None = None) -> None:
        """Open ledger, key and anchors; nothing is written yet."""
        self.policy = policy
        self.findings: list[Finding] = []  # what was noticed so far, for the terminal and study.json
        self.session = LedgerSession(policy, Path(runs), tuple(anchors), home or Home.find())
        self.forgotten = False  # was something left out of the ledger
        self._prepared = LookPreparation(policy, self.session)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a gate does not travel: workers get no ledger")

    @property
    def place(self) -> str:
        """The ledger's location, as people may read it (no password)."""
        return self.session.place

    @property
    def guarded(self) -> bool:
        return kind_of(self.policy) != "off" and self.remembers

    @property
    def remembers(self) -> bool:
        return self.policy.remember

    def subject(self, sealing: TestSetDeclaration) -> RowFingerprints:
        """Return the fingerprints of both sides of a split, of features alone, under the key in use."""
        return self._prepared.subject(sealing)

    def seal(self, sealing: TestSetDeclaration) -> None:
        """Write down what is sealed and declared, before selection starts; the ledger is checked here already.

        Raises LedgerError (exit 5) where the ledger cannot be trusted, StoreError (6) where it cannot be written.
        """
        self._seal_rows(sealing)

    def remember(self, sealing: TestSetDeclaration) -> None:
        """Seal rows that no study of modelsel's own chooses for, and write them into the home too. Raises as `seal`."""
        self._seal_rows(sealing)
        self._remember(sealing)

    def select(self, sealing: TestSetDeclaration, selected: SelectionSummary, predict: Predict | None = None) -> None:
        """Write down which rows chose what: call it after selection, also when no test follows and where no row is sealed.

        With `predict` the winner's predictions for the sealed rows are put on record: a later look at them is one at a model
        that was fixed now.
        """

        def select() -> None:
            said = self._prepared.digest_of(sealing, predict(sealing.sealed)) if predict else None
            seals.select(self.session, sealing, self.subject(sealing), selected, said)
            self._remember(sealing)

        self._write_step(select)

    def record_prediction(self, table: Table, folder: str) -> None:
        """Put on record that a run's model predicted rows, as information; no label is involved.

        Where the ledger cannot take it, that is said under every policy, and predicting goes on.
        """
        if not self.remembers:
            return
        try:
            self.session.check()
            seals.record_predictions(self.session, table, folder)
        except (StoreError, LedgerError) as error:
            self._notice([look_findings.not_remembered_prediction(error.problems[0].what)])

    def commit(self, sealing: TestSetDeclaration, spec_ids: Sequence[str]) -> None:
        """Fix studies before any answer is known: each pays only for its index, whatever the others turn out to say."""
        self.seal(sealing)
        seals.commit(self.session, sealing, self.subject(sealing), spec_ids, OtherLedgers(self._prepared.elsewhere(sealing)))
        self._remember(sealing)

    def _remember(self, sealing: TestSetDeclaration) -> tuple[Finding, ...]:
        looks.remember(self.session, sealing, self.subject(sealing), self._prepared.under(sealing))
        return ()

    def look(self, request: LookRequest) -> TestResult:
        """Release one answer, or say why not (`refused`).

        Raises LedgerError (5), StoreError (6), ConfigurationError (2) as `seal` does; an exception while labels are open is
        a released answer itself ("failed"): it is recorded, charged, and told by its type alone.
        """
        if not self.guarded:
            return self._show_unguarded(request)
        noticed = self._seal_rows(request.sealing)
        if request.sitting is None:  # who chose an answer to an exam, and on which rows, nobody here knows
            self.select(request.sealing, request.selected)
        outputs = request.predict(request.sealing.sealed)
        with at_work(self.session.home) as name:
            return self._answer(replace(self._prepared.ask(request, outputs, noticed), at_work=name), outputs)

    def _answer(self, ask: PreparedLook, outputs: Outputs) -> TestResult:
        """Decide about a look, and reveal its answer unless it is refused or known."""
        decided = self._decide(ask, outputs)
        self._notice(decided.findings)
        if isinstance(decided, Refused):
            return refusal_result(decided, self.policy)
        if isinstance(decided, Replayed):
            look, known = Look.of(decided.intent), decided.answer
            return released_result(look, known, self.policy, replay=True, extra=("G002",), unseen=decided.unseen)
        return self._reveal(ask, decided, outputs)

    def earlier_uses(self, sealing: TestSetDeclaration) -> tuple[Finding, ...]:
        """Find what is known of the rows before they are sealed: earlier tests and choices, copies across the split."""
        found = (*self.session.check(), *seals.recall(self.session, self.subject(sealing)))
        self._notice(found)
        return (*found, *looks.noticed_beforehand(self.session, self._prepared.about(sealing)))

    def class_counts(self, sealing: TestSetDeclaration) -> tuple[tuple[str, ...], tuple[int, ...], float]:
        """Tell how many sealed rows each class has.

        On record first, priced as one of all ways to share them out, or Σ ln(n_c + 1) where that is more.
        """
        self.seal(sealing)
        n, classes = len(sealing.sealed), sealing.development.class_count
        ways = lgamma(n + classes) - lgamma(n + 1) - lgamma(classes)
        intent = apart.record_intent(
            self.session, sealing, self.subject(sealing), "class_counts", max(ways, classes * log(n / classes + 1))
        )
        names, target, _ = open_labels(sealing.sealed)
        counts = tuple(np.bincount(target, minlength=len(names)).tolist())
        price = max(ways, sum(log(count + 1) for count in counts))
        apart.record_answer(self.session, intent, "class_counts", price, counts=counts)
        return names, counts, price

    def close(self, sealing: TestSetDeclaration, handed: Sequence[Handed], share: float) -> Reveal:
        """Show every answer of an exam at its own index, and verdicts of pairs on a `share` of δ of their own; once.

        What is returned holds `answers` (name, score, errors, interval), `verdicts` (answer, beside, says) and `price`.
        """
        self._notice(self._seal_rows(sealing))
        ask = self._prepared.about(sealing)
        intent, shown = apart.close(self.session, ask, handed, self.policy.delta, share)
        if shown is not None:
            return shown
        price, answers, verdicts = closing_answers(ask, Look.of(intent), handed, open_labels(sealing.sealed))
        self._remember(sealing)
        return apart.record_answer(self.session, intent, "closed", price, answers=answers, verdicts=verdicts)

    def say(self, facts: Note) -> None:
        """Put a note on record."""
        self._notice(self.session.check())
        note(self.session, facts)

    def _decide(self, ask: PreparedLook, outputs: Outputs) -> ApprovedLook | Replayed | Refused:
        """Decide under the ledger's lock; another person's answer is computed anew before it is shown again."""
        decided = looks.decide_everywhere(self.session, ask, self._prepared.under(ask.request.sealing))
        if not isinstance(decided, Replayed) or decided.again is None:
            return decided
        released, said = self._release_answer(ask, decided.again, outputs), decided.answer
        if not isinstance(released, type) and (released.symbol, released.score, released.errors) == (
            said.symbol,
            said.score,
            said.errors,
        ):
            return decided
        found = looks.note_contradiction(self.session, decided.intent)
        self._notice([found])
        return self._decide(
            replace(ask, doubted=(*ask.doubted, Look.of(decided.intent).id), noticed=(*ask.noticed, found)), outputs
        )

    def vouch(self, key: str) -> None:
        """Say that another public key is the same person's; it counts once that key says so too."""
        self._notice(self.session.check())
        self.session.ledger.append("vouch", Vouch(**origin(), key=key).written())

    def rule(self, places: Sequence[str], why: str) -> None:
        """As the ledger's owner, set bad entries aside for good: they are charged no more. ConfigurationError for others."""
        self._notice(self.session.check())
        rule(self.session, places, why)

    def burn(self, sealing: TestSetDeclaration) -> tuple[tuple[str, ...], Targets]:
        """Give the labels away, for good: on record first, at all that they can say, which leaves nothing to be tested here.

        That is n · ln C nats for one of C classes, and n · 64 ln 2 for numbers.
        """
        self.seal(sealing)
        self._notice(apart.burn(self.session, sealing, self.subject(sealing)))
        self._remember(sealing)
        classes, target, _ = open_labels(sealing.sealed)
        return classes, target

    def _seal_rows(self, sealing: TestSetDeclaration) -> tuple[Finding, ...]:
        """Seal the rows, and return the findings that this brought to light."""

        def seal() -> tuple[Finding, ...]:
            checked = self.session.check()
            if len(sealing.sealed):
                seals.keep_screen(self.session, sealing, self._prepared.under(sealing))
            return (*checked, *seals.seal(self.session, sealing, self.subject(sealing), self._prepared.declaration(sealing)))

        if not self.remembers:
            self._forget(sealing)
        found = self._write_step(seal) or ()
        self._notice(found)
        return found

    def _write_step(self, step: Callable[[], T]) -> T | None:
        """Write into the ledger by a step. Under `off` it may fail, which is said; with `remember=false` it is left out."""
        if not self.remembers:
            return None
        if self.guarded:
            return step()
        try:
            return step()
        except (StoreError, LedgerError) as error:
            self.forgotten = True
            self._notice([look_findings.not_remembered_unwritable(error.problems[0].what)])
            return None

    def _forget(self, sealing: TestSetDeclaration) -> None:
        """Say that nothing is kept; a policy that refuses by what it remembers cannot do without."""
        if self.policy.vetoes:
            what, fix = (
                f"guard={kind_of(self.policy)} judges by what is remembered",
                "leave guard.remember out, or use guard=off",
            )
            raise ConfigurationError(Problem("MSEL-272", what, "guard.remember=false", fix))
        if not self.forgotten:
            self.forgotten = True
            self._notice([look_findings.not_remembered_by_setting()])
            self._notice(apart.tell_unremembered(self.session, sealing.study))

    def _reveal(self, ask: PreparedLook, go: ApprovedLook, outputs: Outputs) -> TestResult:
        """Open the labels, record the answer, tell the anchors, and return the result."""
        released = self._release_answer(ask, go, outputs)
        if isinstance(released, type):
            self._abort(go, released)
        facts = looks.reveal(self.session, go, released)
        self._notice(self._afterwards(lambda: self._remember(ask.request.sealing)))
        trained = ask.request.selected.trained
        said = self._afterwards(lambda: answer(released, go.facts, ask.foreseen, facts.interval, self.policy, trained))
        self._notice((*self._afterwards(lambda: self.session.witness(go.intent, facts.price)), *said))
        extra = tuple(dict.fromkeys(finding.code for finding in (*ask.noticed, *said)))
        return released_result(go.facts, facts, self.policy, replay=False, extra=extra)

    def _afterwards(self, step: Callable[[], Iterable[Finding]]) -> tuple[Finding, ...]:
        """Collect the findings of a step after the answer.

        A failure is reported as a finding: the answer is on record and not lost.
        """
        try:
            return tuple(step())
        except Exception as error:
            return (ledger_findings.anchor_unreached_after_answer(error),)

    def merge(self, address: str) -> int:
        """Take over what another ledger (a file, or an address) has and this one lacks: how many entries that were.

        Raises LedgerError (5) where a chain of either does not hold, ConfigurationError (2) where no ledger is.
        """
        self._notice(self.session.check())
        return merge_in(self.session, address if "://" in address else sqlite_url(Path(address).absolute()))

    def _release_answer(self, ask: PreparedLook, go: ApprovedLook, outputs: Outputs) -> Released | type[BaseException]:
        """Release the answer, or return the type of the error alone: its text, context and frames may hold what labels say."""
        try:
            return self._channel(ask.request, go).release(self._open(ask.request, go, outputs))
        except BaseException as error:
            return type(error)

    def _channel(self, request: LookRequest, go: ApprovedLook) -> ReleaseMechanism:
        """Return the channel, told what else it must know of the labels: the count of the best answer so far."""
        channel = go.channel
        if not isinstance(channel, Better) or not channel.best or request.sitting is None:
            return channel
        return replace(channel, errors=self._open(request, go, request.sitting.earlier(channel.best)).errors)

    def _abort(self, go: ApprovedLook, failure: type[BaseException]) -> NoReturn:
        """Record the failure by its type, and tell no more of it."""
        self.session.ledger.append("abort", Abort(**origin(), intent=go.facts.id, error=failure.__name__).written())
        self.session.witness(go.intent, go.facts.worst)
        if issubclass(failure, KeyboardInterrupt):
            raise KeyboardInterrupt
        what, fix = f"the look failed ({failure.__name__})", "it is on record as a look; mend it on development rows"
        raise ModelselError(Problem("MSEL-405", what, "final test", fix))

    def _open(self, request: LookRequest, go: ApprovedLook, outputs: Outputs) -> LabelSummary:
        form = go.channel.form if isinstance(go.channel, BoundedLossRelease) else None
        return truth(request.sealing.measure, outputs, open_labels(request.sealing.sealed), go.rows, form, go.units)

    def _show_unguarded(self, request: LookRequest) -> TestResult:
        """Show the score without a certificate; it is on record before labels are opened, and again before it is shown."""
        sealing = request.sealing
        self.seal(sealing)
        self.select(sealing, request.selected)
        outputs = request.predict(sealing.sealed)
        intent = self._write_step(lambda: self._intent_unguarded(request, outputs))
        found = truth(sealing.measure, outputs, open_labels(sealing.sealed), np.ones(len(sealing.sealed), bool))
        if intent is None and not self.forgotten:  # shown before, unless labels have been corrected since
            intent = self._write_step(lambda: self._intent_unguarded(request, outputs, found.score))
        if intent is not None:
            self._notice(self._write_step(lambda: self._close_unguarded(intent, found, sealing)) or ())
        if self.remembers and self.forgotten:
            self._notice(self._tell_anchors(sealing))
        self._notice([look_findings.guard_off()])
        codes = ("G003", "G004") if self.forgotten else ("G003",)
        return unguarded_result(found, self.policy, kind_of(sealing.measure), codes)

    def _intent_unguarded(self, request: LookRequest, outputs: Outputs, score: float | None = None) -> LedgerEntry | None:
        subject = self.subject(request.sealing)
        return apart.open_unguarded(self.session, request, subject, self._prepared.digest_of(request.sealing, outputs), score)

    def _close_unguarded(self, intent: LedgerEntry, found: LabelSummary, sealing: TestSetDeclaration) -> list[Finding]:
        told = apart.close_unguarded(self.session, intent, found, sealing)
        self._remember(sealing)
        return told

    def _tell_anchors(self, sealing: TestSetDeclaration) -> Sequence[Finding]:
        """Tell the anchors about a look that the ledger could not record."""
        try:
            return apart.witness_unguarded(self.session, self.subject(sealing))
        except (StoreError, LedgerError) as error:
            return [ledger_findings.anchor_unreached_none_told(error.problems[0].what)]

    def _notice(self, findings: Sequence[Finding]) -> None:
        self.findings += [finding for finding in findings if finding not in self.findings]


# Keep the answer of a look when a later step fails: it is shown with the error, and asking again costs nothing.


@dataclass
class ReleasedAnswer:
    """The answer that a look has given, once there is one."""

    test: TestResult | None = None


@contextmanager
def keep_answer(test: TestResult | None = None) -> Iterator[ReleasedAnswer]:
    """Keep the answer of a look within the block; an error that leaves it carries the released answer as a note."""
    released = ReleasedAnswer(test)
    try:
        yield released
    except Exception as error:
        if released.test is not None and released.test.refused is None:
            error.add_note(sentence(released.test))
        raise


def sentence(test: TestResult) -> str:
    """The released answer and where it is.

    >>> shown = TestResult(.1, 12, 120, 1, False, 4.0, 0.0, (.05, .2), .95, "warn", "predicted")
    >>> sentence(shown)
    'the test set was opened before that: look 1, score 0.1, 95% interval [0.05, 0.2]; the same command shows it again, unpaid'
    """
    limits = f", {test.level:.0%} interval [{test.interval[0]:.4g}, {test.interval[1]:.4g}]" if test.interval else ""
    read_as = f" ({test.read_as})" if test.read_as else ""
    score = f", score {test.score:.6g}{read_as}" if test.score is not None else ""
    again = "the same command shows it again, unpaid" if test.policy != "off" else "no ledger has it"
    return f"the test set was opened before that: look {test.look}{score}{limits}; {again}"


# Prepare a gate's requests to its ledger: fingerprints, declaration, digests of predictions, copies across the split.


class LookPreparation:
    """Everything that a gate asks its ledger with, each made once for a sealing."""

    def __init__(self, policy: Policy, session: LedgerSession) -> None:
        """Start with nothing prepared."""
        self.policy = policy
        self.session = session
        self._subjects: dict[tuple[Sealed, Task, str], RowFingerprints] = {}
        self._declarations: dict[tuple[Sealed, Task], dict[str, str]] = {}
        self._leaks: dict[tuple[Sealed, Task], tuple[Finding, ...]] = {}

    def subject(self, sealing: TestSetDeclaration, key: IdentityKey | None = None) -> RowFingerprints:
        """The fingerprints of both sides, made once, of features alone; under the key in use, or another."""
        if not holds_labels(sealing.sealed):
            raise KeyError("a copy of sealed rows has no labels")
        key = key or self.session.key
        place = (sealing.sealed, sealing.development, key.id)
        if place not in self._subjects:
            self._subjects[place] = subject_of(sealing, key, self.session.known_tables(key, len(sealing.sealed.features)))
        return self._subjects[place]

    def declaration(self, sealing: TestSetDeclaration) -> dict[str, str]:
        """Return digests of all that a declared model's answer depends on: no label of a sealed row is among them."""
        rows = (sealing.sealed, sealing.development)
        if rows not in self._declarations:
            weights = weights_of(sealing.sealed)
            self._declarations[rows] = {
                "commitment": commitment(sealing, weights, self.session.key), "weights": slow(weights, self.session.key),
            }  # fmt: skip
        return self._declarations[rows]

    def digest_of(self, sealing: TestSetDeclaration, outputs: Outputs) -> str:
        """Compute the digest of predictions for the sealed rows."""
        rows = self.subject(sealing).test.bound
        return prediction_digest(sealing.measure, outputs, weights_of(sealing.sealed), rows, self.session.key)

    def under(self, sealing: TestSetDeclaration) -> RowFingerprints:
        """Fingerprint both sides under the home's own key."""
        return self.subject(sealing, self.session.own)

    def elsewhere(self, sealing: TestSetDeclaration) -> tuple[tuple[RowFingerprints, IdentityKey], ...]:
        """Fingerprint both sides under every other key at hand."""
        return tuple((self.subject(sealing, key), key) for key in self.session.other_keys())

    def ask(self, request: LookRequest, outputs: Outputs | None, noticed: tuple[Finding, ...] = ()) -> PreparedLook:
        """Prepare a look: gather all that is known before labels are opened. Without predictions it is about the rows alone."""
        subject = self.subject(request.sealing)
        rows = (request.sealing.sealed, request.sealing.development)
        if rows not in self._leaks:
            self._leaks[rows] = leaks(request.sealing, subject)
        return PreparedLook(
            request, subject, self.policy, self.digest_of(request.sealing, outputs) if outputs else "", self.session.key,
            self._leaks[rows], noticed, OtherLedgers(self.elsewhere(request.sealing)),
            former=former_digest(outputs, subject.test.bound) if outputs else "", doubted=(), home=self.session.home,
            outputs=outputs,
            copies=sealed_copies(request.sealing).hinder or row_findings.near_duplicates_hinder(self._leaks[rows]),
            **self.declaration(request.sealing),
        )  # fmt: skip

    def about(self, sealing: TestSetDeclaration) -> PreparedLook:
        """Prepare a question about the rows alone."""
        return self.ask(
            LookRequest(sealing, SelectionSummary("", 0.5, 0), lambda table: Outputs(np.zeros((1, len(table)), np.int32))), None
        )
