"""The published tables of balloons: as many rows, and inflated where the concept holds."""

import pytest

from modelsel.dataset.balloons import Balloons


@pytest.mark.parametrize(
    ("concept", "inflated", "of"),
    [("adult_and_stretch", 8, 20), ("adult_or_stretch", 12, 20), ("yellow_small", 8, 20),
     ("yellow_small_or_adult_and_stretch", 7, 16)],
)  # fmt: skip
def test_a_balloon_is_inflated_as_its_name_says(concept: str, inflated: int, of: int) -> None:
    task = Balloons(concept).read()
    levels = {f.name: f.levels for f in task.features}
    rows = [{name: levels[name][int(row[at])] for at, name in enumerate(levels)} for row in task.values]
    small = [row["color"] == "YELLOW" and row["size"] == "SMALL" for row in rows]
    told = {
        "adult_and_stretch": [row["act"] == "STRETCH" and row["age"] == "ADULT" for row in rows],
        "adult_or_stretch": [row["act"] == "STRETCH" or row["age"] == "ADULT" for row in rows],
        "yellow_small": small,
    }
    told["yellow_small_or_adult_and_stretch"] = [a or b for a, b in zip(small, told["adult_and_stretch"], strict=True)]
    assert [task.classes[label] == "T" for label in task.target] == told[concept]
    assert (sum(told[concept]), len(task)) == (inflated, of)
