"""A finished run as it lies in its folder: each file is read once, for tables and for every section of the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from modelsel.core.outcome import StudySummary
from modelsel.record.candidates import Row
from modelsel.record.documents import DetailsShape, ExplanationShape
from modelsel.record.folder import RunFolder


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A finished run, each of its files read once."""

    folder: RunFolder

    @cached_property
    def outcome(self) -> StudySummary:
        return self.folder.outcome()

    @cached_property
    def details(self) -> DetailsShape:
        return self.folder.details()

    @cached_property
    def explanation(self) -> ExplanationShape:
        return self.folder.explanation()

    @cached_property
    def candidates(self) -> list[Row]:
        """Best first, those without a score last."""
        return sorted(self.folder.candidates(), key=lambda row: (row.rank == 0, row.rank))

    @property
    def classes(self) -> Sequence[str]:
        return list(self.outcome.task.get("classes", ()))
