"""What is sifted out could not have been the table: the passes over many say the same as the comparison of one."""

from itertools import combinations

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import drawn as drawn_table
from benchmarks.recognition.guard_disguises import DISGUISES
from modelsel.core.types import Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.likeness import SLACK, Halves, can_fit, least_of, likeness, may_be_same
from modelsel.ledger.portraits.portrait import Portrait, draw_portrait
from modelsel.ledger.portraits.variables import variables

KEY = IdentityKey(b"k" * 32)
LETTERS = ("iirrsdkl", "rrrrrrr", "kkllbm", "rs", "rrb", "iirsdkllb" * 2)


def portrait(task: Task) -> tuple[Portrait, Halves]:
    found = variables(task)
    assert found is not None
    return draw_portrait(found, KEY), Halves(found, "seed")


def some_set_fits(over: np.ndarray, there: np.ndarray, least: int) -> bool:
    """Every set of enough pairs, one by one: each fits with the others on average, or two are near together."""
    for size in range(least, len(over) + 1):
        for chosen in combinations(np.flatnonzero(there), size):
            part = over[np.ix_(chosen, chosen)]
            if (part.sum(axis=1) <= SLACK).all() or (size == 2 and part.sum() <= SLACK):
                return True
    return False


def test_no_set_that_fits_is_missed() -> None:
    rng, could, sifted = np.random.default_rng(0), 0, 0
    for count in (2, 3, 4, 6, 7):
        for least in range(2, count + 1):
            over = rng.normal(rng.uniform(-0.2, 1.0, (80, 1, 1)), 1, (80, count, count)).round(2)
            over = (over + over.transpose(0, 2, 1)) / 2
            there = rng.random((80, count)) < 0.9
            said = can_fit(over, there, np.full(80, least))
            fits = np.array([some_set_fits(*one, least) for one in zip(over, there)])
            assert not (fits & ~said).any()
            could, sifted = could + int(fits.sum()), sifted + int((~said).sum())
    assert could > 100
    assert sifted > 100


def test_what_cannot_suit_anybody_takes_others_along() -> None:
    over = np.array([[[-1.0, -1, -1, 5], [-1, -1, 2, 5], [-1, 2, -1, 5], [5, 5, 5, 5]]])
    there = np.ones((1, 4), bool)
    assert can_fit(over, there, np.array([3])) == [True]
    over[0, 1, 2] = over[0, 2, 1] = 2.1  # now 1 and 2 do not fit beside each other, and 3 fits nowhere
    assert can_fit(over, there, np.array([3])) == [False]
    assert can_fit(over, there, np.array([2])) == [True]
    over[0, [1, 2], [1, 2]], over[0, 0, 0] = 2.0, 2.0
    over[0, 0, 1:3] = over[0, 1:3, 0] = -0.5
    assert can_fit(over, there, np.array([2])) == [False]


@pytest.mark.parametrize(("ours", "theirs", "least"), [(1, 9, 2), (4, 9, 2), (5, 9, 3), (9, 6, 3), (12, 20, 6)])
def test_half_of_the_fewer_variables_have_to_fit(ours: int, theirs: int, least: int) -> None:
    assert least_of(ours, theirs) == least


@pytest.mark.slow
@pytest.mark.parametrize("letters", LETTERS)
def test_a_disguise_that_is_seen_by_its_names_is_never_sifted_out(letters: str) -> None:
    task, others = drawn_table(300, letters, 1, 7), [drawn_table(300, letters, seed, 7) for seed in range(2, 8)]
    worn = [other for disguise in DISGUISES if (other := disguise.of(task)) is not None]
    mine, halves = portrait(task)
    theirs = [portrait(other)[0] for other in [*worn, *others] if variables(other) is not None]
    said = may_be_same(mine, theirs)
    one_by_one = [likeness(mine, halves, other, thorough=False) for other in theirs]
    assert said.tolist() == [bool(may_be_same(mine, [other])[0]) for other in theirs]
    assert not any(found.same for found, may in zip(one_by_one, said) if not may)
    assert not any(found.variables for found, may in zip(one_by_one, said) if not may)  # it was not even judged


def test_most_unrelated_tables_of_the_same_names_are_sifted_out() -> None:
    mine = portrait(drawn_table(500, "rrrriiss", 0))[0]
    others = [portrait(drawn_table(500, "rrrriiss", seed))[0] for seed in range(1, 21)]
    assert may_be_same(mine, others).mean() < 0.3
    assert may_be_same(mine, [mine]).all()
    assert may_be_same(mine, []).shape == (0,)
