"""Prepare a gate's requests to its ledger: fingerprints, declaration, digests of predictions, copies across the split."""

import numpy as np

from modelsel.core.types import Finding, Outputs, Sealed, Task, holds_labels, weights_of
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.checks.declared_space import commitment
from modelsel.guard.checks.leakage import leaks
from modelsel.guard.checks.look_requests import PreparedLook
from modelsel.guard.findings import row_findings
from modelsel.guard.fingerprints import RowFingerprints, slow, subject_of
from modelsel.guard.labels import former_digest, prediction_digest
from modelsel.guard.matching.other_ledgers import OtherLedgers
from modelsel.guard.policy.base import Policy
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import IdentityKey


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
            copies=row_findings.near_duplicates_hinder(self._leaks[rows]),
            **self.declaration(request.sealing),
        )  # fmt: skip

    def about(self, sealing: TestSetDeclaration) -> PreparedLook:
        """Prepare a question about the rows alone."""
        return self.ask(
            LookRequest(sealing, SelectionSummary("", 0.5, 0), lambda table: Outputs(np.zeros((1, len(table)), np.int32))), None
        )
