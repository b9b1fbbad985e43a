"""Balloons: four concepts of inflation over colour, size, act and age. Source: Pazzani (1991); UCI.

adult_and_stretch, adult_or_stretch and yellow_small repeat four rows (20 rows); the fourth has each row once (16).
"""

from dataclasses import dataclass
from itertools import product

from modelsel.core.spec import one_of
from modelsel.core.types import Task
from modelsel.dataset.base import BundledDataset, nominal_task

LEVELS = {"color": ("YELLOW", "PURPLE"), "size": ("SMALL", "LARGE"), "act": ("STRETCH", "DIP"), "age": ("ADULT", "CHILD")}


@dataclass(frozen=True)
class Balloons(BundledDataset):
    """Balloons: one of four concepts over four nominal features.

    >>> [len(Balloons(concept).read()) for concept in ("adult_and_stretch", "yellow_small_or_adult_and_stretch")]
    [20, 16]
    """

    concept: str = one_of(
        "adult_and_stretch", "adult_or_stretch", "yellow_small", "yellow_small_or_adult_and_stretch", help="when it inflates"
    )

    def read(self) -> Task:
        rows = [row for row in product(*LEVELS.values()) for _ in range(1 + self._twice(row))]
        labels = ["T" if self._is_inflated(row) else "F" for row in rows]
        return nominal_task(f"balloons_{self.concept}", LEVELS, rows, ("F", "T"), labels)

    def _is_inflated(self, row: tuple[str, ...]) -> bool:
        """Say whether the balloon of a row is inflated, by the chosen concept."""
        small = row[:2] == ("YELLOW", "SMALL")
        stretch, adult = row[2] == "STRETCH", row[3] == "ADULT"
        return {
            "adult_and_stretch": adult and stretch,
            "adult_or_stretch": adult or stretch,
            "yellow_small": small,
            "yellow_small_or_adult_and_stretch": small or (adult and stretch),
        }[self.concept]

    def _twice(self, row: tuple[str, ...]) -> bool:
        """Say whether a row stands twice in the published table."""
        if self.concept == "yellow_small":
            return row[:2] == ("YELLOW", "SMALL")
        return self.concept.startswith("adult") and row[2:] == (
            ("STRETCH", "ADULT") if self.concept == "adult_and_stretch" else ("DIP", "CHILD")
        )
