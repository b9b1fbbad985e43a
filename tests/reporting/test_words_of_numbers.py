"""How numbers are written."""

from modelsel.reporting.text.words import p_value


def test_a_p_value_is_a_bound_below_its_last_digit_alone() -> None:
    assert [p_value(value) for value in (0.0001, 0.00009, 0.0)] == ["0.0001", "< 0.0001", "< 0.0001"]
