"""The gate: the only code that opens sealed labels."""

from collections.abc import Sequence
from pathlib import Path

from modelsel.core.outcome import TestResult
from modelsel.core.protocols import Anchor
from modelsel.core.types import Finding
from modelsel.guard._policy import Policy
from modelsel.guard.request import LookRequest, Sealing, Selected


class Gate:
    """Built from a policy; `runs` is where a project ledger and the lock file belong."""

    def __init__(self, policy: Policy, runs: Path, anchors: Sequence[Anchor] = ()) -> None:
        self.policy = policy
        self.runs = runs
        self.anchors = tuple(anchors)
        self.findings: list[Finding] = []  # what was noticed so far, in order, for the terminal and study.json

    @property
    def place(self) -> str:
        """Where the ledger is, as people may read it (no password)."""
        raise NotImplementedError

    def seal(self, sealing: Sealing) -> None:
        """Write down what is sealed and declared, before selection starts; the ledger is checked here already.

        Raises LedgerError (exit 5) where the ledger cannot be trusted, StoreError (6) where it cannot be written.
        """
        raise NotImplementedError

    def select(self, sealing: Sealing, selected: Selected) -> None:
        """Write down which rows chose what: call it after selection, also when no test follows."""
        raise NotImplementedError

    def look(self, request: LookRequest) -> TestResult:
        """Release one answer, or say why not (`refused`)."""
        raise NotImplementedError
