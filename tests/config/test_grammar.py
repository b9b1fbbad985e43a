"""Hydra's sweep grammar in a space."""

import pytest

from modelsel.config.build import Swept
from modelsel.config.grammar import SweepError, read_sweep

NAMES = ["entropy", "gain_ratio", "gini"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("choice(gini, entropy)", ("gini", "entropy")),
        ("choice(0.01, 0.05, 1)", (0.01, 0.05, 1)),
        ("choice(true, false)", (True, False)),
        ("choice(none, 3)", ("none", 3)),
        ("choice('a b', \"c,d\")", ("a b", "c,d")),
        ("choice({kind: cost_complexity, alpha: 0.1}, unpruned)", ({"kind": "cost_complexity", "alpha": 0.1}, "unpruned")),
        ("range(1, 4)", (1, 2, 3)),
        ("range(10, 0, -5)", (10, 5)),
        ("range(0, 0.3, 0.1)", (0.0, 0.1, 0.2)),
        ("1, 3, 5", (1, 3, 5)),
        ("glob(g*)", ("gain_ratio", "gini")),
        ("glob([g*, e*], exclude=gini)", ("entropy", "gain_ratio")),
        (["gini", 3, None], ("gini", 3, None)),
    ],
)
def test_what_a_sweep_stands_for(text: object, values: tuple[object, ...]) -> None:
    assert read_sweep(text, lambda: NAMES) == Swept(values)


def test_a_range_is_listed_as_often_as_one_likes() -> None:
    assert read_sweep("range(0, 0.3, 0.1)", list) == read_sweep("range(0, 0.3, 0.1)", list)


@pytest.mark.parametrize("value", ["path", "surrogate", 3, None, True, "2GiB", "${seed}"])
def test_what_is_no_sweep_stays_as_it_is(value: object) -> None:
    assert read_sweep(value, lambda: NAMES) == value


def test_an_interval_is_uniform_or_logarithmic() -> None:
    plain, log = read_sweep("interval(0, 2)", list).interval, read_sweep("tag(log, interval(1e-4, 1))", list).interval
    assert (plain.low, plain.high, plain.logarithmic) == (0.0, 2.0, False)
    assert (log.low, log.high, log.logarithmic) == (1e-4, 1.0, True)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("choice(null, 3)", "choice(none"),
        ("choice(range(1,5), 9)", "a choice lists single values"),
        ("choice(1, 2", "write choice(a, b)"),
        ("range(5, 1)", "stop is not part of a range"),
        ("range(1, 5, 0)", "range(start, stop, step)"),
        ("interval(2, 1)", "interval(low, high)"),
        ("tag(log, interval(0, 1))", "above 0"),
        ("glob(x*)", "entropy, gain_ratio, gini"),
    ],
)
def test_a_sweep_that_cannot_be_read_says_how_to_write_it(text: str, fix: str) -> None:
    with pytest.raises(SweepError) as raised:
        read_sweep(text, lambda: NAMES)
    assert fix in raised.value.fix
