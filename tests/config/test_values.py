"""A value against the type, limits and words of a field."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.config.schema import WrongError, check_value, describe_accepted, slots
from modelsel.core.spec import number, one_of, plain, whole


@dataclass(frozen=True)
class Part:
    k: int = whole(1, least=1)
    depth: int | None = whole(None, least=0)
    share: float = number(0.5, above=0, most=1)
    alpha: float | Literal["path"] = number(0.0, least=0)
    missing: str = one_of("node_mode", "surrogate")
    relabel: bool = plain(True)
    name: str | None = plain(None)
    levels: tuple[str, ...] = plain(())
    prior: str | tuple[float, ...] = plain("empirical")
    resolution: float | str = plain("count")
    costs: Mapping[str, float] = plain({})
    anything: Any = plain(None)


SLOTS = slots(Part)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("k", 3, 3), ("depth", None, None), ("depth", "none", None), ("depth", "null", None), ("depth", 0, 0),
        ("share", 1, 1.0), ("alpha", "path", "path"), ("alpha", 1, 1.0), ("missing", "surrogate", "surrogate"),
        ("relabel", False, False), ("relabel", "no", False), ("relabel", "True", True), ("name", 5, "5"), ("name", "x", "x"),
        ("levels", ["a", "b"], ("a", "b")), ("levels", "a", ("a",)), ("levels", [], ()), ("prior", "uniform", "uniform"),
        ("prior", [0.5, 0.5], (0.5, 0.5)), ("resolution", 0.01, 0.01), ("resolution", "auto", "auto"),
        ("costs", {"a": 1}, {"a": 1.0}), ("anything", [1, {"x": None}], [1, {"x": None}]),
    ],
)  # fmt: skip
def test_a_value_that_fits_is_kept_in_the_type_of_its_field(field: str, value: object, kept: object) -> None:
    found = check_value(SLOTS[field], value)
    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize(
    ("field", "value", "what", "fix"),
    [
        ("k", 0, "0 is out of range", "a whole number of at least 1"),
        ("k", 2.0, "found 2.0", "a whole number of at least 1"),
        ("k", True, "the truth value true is not a number", "give a whole number of at least 1"),
        ("k", None, "a value is missing", "a whole number"),
        ("k", "many", "found 'many'", "a whole number"),
        ("share", 0, "0 is out of range", "a number above 0 and at most 1"),
        ("share", float("nan"), "found nan", "a number"),
        ("share", float("inf"), "found inf", "a number"),
        ("alpha", "paht", "found 'paht'", "did you mean 'path'?"),
        ("alpha", -1, "-1 is out of range", "a number of at least 0"),
        ("missing", "node_mod", "'node_mod' is not allowed", "did you mean 'node_mode'?"),
        ("missing", False, "the truth value false is not a name", "quotes"),
        ("relabel", 1, "found 1", "true or false"),
        ("name", True, "the truth value true is not a name", "quotes"),
        ("name", True, "the truth value true is not a name", "give a name, or null; "),
        ("name", {"a": 1}, "found a mapping", "a name"),
        ("levels", {"a": 1}, "found a mapping", "a list"),
        ("costs", 3, "found 3", "a mapping"),
    ],
)
def test_a_value_that_does_not_fit_is_said_with_what_would(field: str, value: object, what: str, fix: str) -> None:
    with pytest.raises(WrongError) as raised:
        check_value(SLOTS[field], value)
    assert what in raised.value.what
    assert fix in raised.value.fix


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(SLOTS)), plain_values)
def test_any_value_fits_or_is_refused_and_what_fits_fits_again(field: str, value: object) -> None:
    with suppress(WrongError):  # anything else would be a defect
        kept = check_value(SLOTS[field], value)
        assert repr(check_value(SLOTS[field], kept)) == repr(kept)


def test_every_field_can_say_what_it_takes() -> None:
    assert describe_accepted(SLOTS["depth"]) == "a whole number of at least 0, or null"
    assert describe_accepted(SLOTS["missing"]) == "node_mode, surrogate"
    assert all(describe_accepted(slot) for slot in SLOTS.values())
