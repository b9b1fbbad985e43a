"""The anchors of a gate: told of every look, and asked what they saw of a test set."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from modelsel.core.protocols.surroundings import Anchor
from modelsel.core.types import Finding
from modelsel.guard.findings.ledger_state import anchor_unreached, key_gap
from modelsel.ledger.anchors import LockFile, StateAnchor

Seen = list[tuple[str, Mapping[str, str]]]  # name of the anchor, what it holds


@dataclass(frozen=True)
class AnchorSet:
    """All anchors under one key."""

    anchors: Sequence[Anchor]
    key_id: str

    @property
    def names(self) -> list[str]:
        return [anchor.name for anchor in self.anchors]

    def tell(self, facts: Mapping[str, str]) -> list[Finding]:
        """Tell every anchor of a look; those that could not be told are findings."""
        found = []
        for anchor in self.anchors:
            try:
                anchor.witness(facts)
            except OSError as error:
                found.append(anchor_unreached.not_told(anchor.name, error))
        return found

    def unremembered(self, study: str, at: str) -> list[Finding]:
        """Write beside the runs that nothing was kept of a study."""
        found = []
        for anchor in self.anchors:
            try:
                if isinstance(anchor, LockFile):
                    anchor.unremembered(study, at)
            except OSError as error:
                found.append(anchor_unreached.not_told(anchor.name, error))
        return found

    def asked(self, testset: str) -> tuple[Seen, list[Finding]]:
        """Ask each anchor what it remembers of a test set; report those that cannot be asked or that name other keys."""
        seen: Seen = []
        found: list[Finding] = []
        for anchor in self.anchors:
            try:
                seen += [(anchor.name, facts) for facts in anchor.recall(testset)]
                if isinstance(anchor, LockFile) and anchor.keys() - {self.key_id}:
                    found.append(key_gap.in_anchor(anchor.path))
            except OSError as error:
                found.append(anchor_unreached.not_asked(anchor.name, error))
        return seen, found

    def testsets(self, others: Collection[str]) -> list[str]:
        """The test sets of our own anchors under this key, but for those of the ledgers named."""
        found: list[str] = []
        for anchor in self.anchors:
            with suppress(OSError):  # said by `asked`
                found += anchor.testsets(self.key_id, others) if isinstance(anchor, StateAnchor | LockFile) else []
        return list(dict.fromkeys(found))
