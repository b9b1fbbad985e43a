"""A recorded study, read once: what every section of the page looks at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.outcome import FindingFacts, StudySummary
from modelsel.core.selection import Assessed
from modelsel.record.agreement import disagreements
from modelsel.record.candidates import Row, varied_parameters
from modelsel.record.documents import PairFacts
from modelsel.record.folder import RecordedRun
from modelsel.record.model import Predictor, load
from modelsel.reporting.roots import outcome_as_read, pairs_as_read, rows_as_read
from modelsel.reporting.words import setting_name, settings


@dataclass(frozen=True, eq=False)
class View(RecordedRun):
    """A recorded study as the sections of the report read it."""

    @cached_property
    def outcome(self) -> StudySummary:
        """The recorded summary; a mean squared error by its root."""
        return outcome_as_read(self.recorded)

    @cached_property
    def recorded(self) -> StudySummary:
        return self.folder.outcome()

    @cached_property
    def disagreements(self) -> list[FindingFacts]:
        """What the record says otherwise than the ledger and the files beside it."""
        return disagreements(self.folder)

    @cached_property
    def pairs(self) -> list[PairFacts]:
        """The best of each learner against the winner."""
        return pairs_as_read(self.recorded, self.folder.candidates(), self.details.pairs)

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.folder.config()

    @cached_property
    def predictor(self) -> Predictor:
        """The final model, restored once for all sections. Raises DataError where the folder is damaged."""
        return load(self.folder.model, tuple(self.config.get("plugins") or ()))

    @cached_property
    def rows(self) -> list[Row]:
        """Candidates in declared order."""
        return rows_as_read(self.recorded, self.folder.candidates())

    @cached_property
    def ranked(self) -> list[Row]:
        """Eligible candidates, best first."""
        return sorted((row for row in self.rows if row.rank), key=lambda row: row.rank)

    @cached_property
    def assessed(self) -> Assessed:
        return self.folder.assessed()

    @cached_property
    def winner(self) -> Row:
        return next(row for row in self.rows if row.id == self.outcome.winner.id)

    @cached_property
    def entries(self) -> list[str]:
        """The space's entries in declared order: the series of every plot."""
        return list(dict.fromkeys(row.label for row in self.rows))

    def series(self, row: Row) -> int:
        return self.entries.index(row.label)

    @cached_property
    def best_of_each(self) -> list[Row]:
        """The best of every entry, best first."""
        best: dict[str, Row] = {}
        for row in self.ranked:
            best.setdefault(row.label, row)
        return list(best.values())

    @cached_property
    def varied(self) -> dict[str, dict[str, str]]:
        """Candidate id to the parameters that tell it from the others of its entry, as people write them."""
        return {name: dict(setting_name(*one) for one in own.items()) for name, own in varied_parameters(self.rows).items()}

    @cached_property
    def higher(self) -> bool:
        """Say whether a higher score is better."""
        return bool(self.details.higher_is_better)

    def reach(self, values: Sequence[float]) -> tuple[float, float]:
        """The range worth drawing: from the best as far as three times where most lie; what is worse stands at the edge."""
        known = np.array([value for value in values if np.isfinite(value)])
        if not len(known):
            return 0.0, 1.0
        sign = -1.0 if self.higher else 1.0
        costs = sign * known
        edge = costs.min() + max(3.0 * (np.quantile(costs, 0.75) - costs.min()), 1e-12)
        ends = sorted((float(sign * costs.min()), float(sign * min(costs.max(), edge))))
        return ends[0], ends[1]

    def name_of(self, candidate: str) -> str:
        """A candidate as people read it: entry, then what tells it from its neighbours."""
        row = next((row for row in self.rows if row.id == candidate), None)
        if row is None:
            return candidate[:8]
        return f"{row.label} {settings(self.varied[row.id])}".strip()
