"""PlayTennis: fourteen mornings, four nominal features. Source: Quinlan (1986); Mitchell (1997, table 3.2)."""

from dataclasses import dataclass

from modelsel.core.types import Task
from modelsel.dataset.base import BundledDataset, nominal_task

LEVELS = {
    "Outlook": ("Sunny", "Overcast", "Rain"),
    "Temperature": ("Hot", "Mild", "Cool"),
    "Humidity": ("High", "Normal"),
    "Wind": ("Weak", "Strong"),
}
DAYS = """
Sunny    Hot  High   Weak   No
Sunny    Hot  High   Strong No
Overcast Hot  High   Weak   Yes
Rain     Mild High   Weak   Yes
Rain     Cool Normal Weak   Yes
Rain     Cool Normal Strong No
Overcast Cool Normal Strong Yes
Sunny    Mild High   Weak   No
Sunny    Cool Normal Weak   Yes
Rain     Mild Normal Weak   Yes
Sunny    Mild Normal Strong Yes
Overcast Mild High   Strong Yes
Overcast Hot  Normal Weak   Yes
Rain     Mild High   Strong No
"""


@dataclass(frozen=True)
class PlayTennis(BundledDataset):
    """Quinlan's play-tennis table: 14 rows, four features.

    >>> len(PlayTennis().read())
    14
    """

    def read(self) -> Task:
        days = [line.split() for line in DAYS.strip().splitlines()]
        return nominal_task("play_tennis", LEVELS, [day[:4] for day in days], ("No", "Yes"), [day[4] for day in days])
