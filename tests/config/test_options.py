"""Sets of options: every combination once, in declared order; draws that stay inside."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from modelsel.config.options import Combined, Drawn, Either, Interval, ListedValues, is_settled, only
from modelsel.foreign import objects

sizes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def part(**fields: object) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(fields.items()))


@given(sizes)
def test_all_lists_every_combination_once_the_first_field_slowest(counts: list[int]) -> None:
    fields = {f"f{index}": ListedValues(tuple(range(count))) for index, count in enumerate(counts)}
    combined = Combined(part, {"fixed": 9}, fields)
    expected = [part(fixed=9, **dict(zip(fields, values))) for values in product(*(range(count) for count in counts))]
    assert list(combined.all()) == expected
    assert combined.count() == len(expected)


@given(st.lists(sizes, min_size=1, max_size=3), st.integers(0, 9))
def test_a_draw_is_one_of_all(alternatives: list[list[int]], seed: int) -> None:
    sets = Either(
        tuple(
            Combined(part, {}, {f"f{i}": ListedValues(tuple(range(n))) for i, n in enumerate(counts)})
            for counts in alternatives
        )
    )
    everything = list(sets.all())
    assert sets.count() == len(everything)
    rng = np.random.default_rng(seed)
    assert all(sets.draw(rng) in everything for _ in range(20))


@given(st.floats(0.01, 5), st.floats(0, 5), st.booleans(), st.booleans())
def test_an_interval_is_never_left(low: float, width: float, logarithmic: bool, whole: bool) -> None:
    interval = Interval(low, low + width + 1, logarithmic, whole)
    drawn = [interval.draw(np.random.default_rng(seed)) for seed in range(10)]
    assert all(low <= value <= low + width + 1 + 1e-12 for value in drawn)
    assert all(isinstance(value, int if whole else float) for value in drawn)
    assert not interval.finite


def test_logarithmic_draws_fill_decades_evenly() -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([Interval(1e-4, 1.0, logarithmic=True).draw(rng) for _ in range(4000)])
    decades = np.histogram(np.log10(drawn), bins=4, range=(-4, 0))[0]
    assert np.all(np.abs(decades - 1000) < 5 * np.sqrt(750))


def test_one_value_is_no_choice() -> None:
    assert is_settled(only(None))
    assert not is_settled(ListedValues((1, 2)))
    assert not is_settled(Interval(0, 1))


def test_a_number_that_a_distribution_draws_is_plain_data() -> None:
    drawn = Drawn(objects.write_parameter(stats.randint(low=1, high=5))).draw(np.random.default_rng(0))
    assert type(drawn) is int
    assert 1 <= drawn < 5


class Words:
    """Draws a text, or several: neither is a number of NumPy's."""

    def __init__(self, words) -> None:
        self.words = words

    def rvs(self, random_state):
        return self.words


def test_a_text_that_a_distribution_draws_stays_as_it_is() -> None:
    assert Drawn(objects.write_parameter(Words("gini"))).draw(np.random.default_rng(0)) == "gini"
