"""Did you mean."""

import pytest

from modelsel.config.suggest import SHOWN, near


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ginni", "gini"), ("GINI", "gini"), ("entrpy", "entropy"), ("max_dept", "max_depth"), ("stratify", "stratify")],
)
def test_the_nearest_name_is_suggested(typed: str, meant: str) -> None:
    assert near(typed, ["gini", "entropy", "max_depth", "stratify"]) == f"did you mean {meant!r}?"


def test_without_a_near_one_all_are_listed_and_many_are_counted() -> None:
    assert near("xyz", ["b", "a"]) == "one of: a, b"
    many = [f"name{index:02d}" for index in range(SHOWN + 5)]
    assert near("xyz", many).endswith(f"… ({SHOWN + 5} in all)")
    assert near("xyz", []) == "nothing can be set here"
