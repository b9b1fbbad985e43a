"""A choice for every fold on the other folds: no advantage for many candidates."""

import numpy as np
import pytest

from modelsel.comparison.runs import score_choice
from modelsel.core.types import Floats


def by_hand(folds: Floats, repeat: list[int], higher: bool) -> list[float]:
    """Loops and lists: for each fold, the candidate that the other folds of its repeat like most."""
    found = []
    for j in range(folds.shape[1]):
        others = [i for i in range(folds.shape[1]) if i != j and repeat[i] == repeat[j]]
        means = [sum(float(row[i]) for i in others) / len(others) for row in folds]
        found.append(float(folds[means.index(max(means) if higher else min(means)), j]))
    return found


@pytest.mark.parametrize("higher", [False, True])
def test_it_is_what_a_loop_finds(higher: bool) -> None:
    rng = np.random.default_rng(3)
    repeat = [0, 0, 0, 1, 1, 1]
    for _ in range(100):
        folds = rng.random((7, 6))
        assert score_choice(folds, np.array(repeat), higher).tolist() == by_hand(folds, repeat, higher)


def test_one_candidate_keeps_its_scores() -> None:
    folds = np.array([[0.3, 0.1, 0.2]])
    assert score_choice(folds, np.zeros(3, np.int64)).tolist() == [0.3, 0.1, 0.2]


def test_holdouts_are_chosen_by_the_other_holdouts_and_a_single_one_by_itself() -> None:
    folds = np.array([[0.3, 0.9, 0.9], [0.5, 0.5, 0.5]])
    assert score_choice(folds, np.arange(3)).tolist() == [0.5, 0.5, 0.5]
    assert score_choice(folds[:, :1], np.zeros(1, np.int64)).tolist() == [0.3]


def test_two_hundred_candidates_of_no_value_look_no_better_than_one() -> None:
    """Errors by coin: the best mean of 200 is far below one half, the choice on other folds is not."""
    rng = np.random.default_rng(0)
    best, chosen = [], []
    for _ in range(200):
        folds = rng.binomial(10, 0.5, (200, 10)) / 10
        best.append(folds.mean(axis=1).min())
        chosen.append(score_choice(folds, np.zeros(10, np.int64)).mean())
    assert np.mean(best) < 0.40
    assert np.mean(chosen) == pytest.approx(0.5, abs=0.01)
