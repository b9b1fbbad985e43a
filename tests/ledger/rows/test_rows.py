"""Rows and columns known again: searches and pairings against plain loops, and each rule at its limit."""

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import rankdata

from modelsel.core.types import Feature, Table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows import row_set
from modelsel.ledger.rows.channels import Dense, Order, quasi_keys, rank_hashes
from modelsel.ledger.rows.identity import (
    MISSING,
    bound_hashes,
    columns,
    feature_tokens,
    is_among,
    number_tokens,
    occurrences,
    rank_tokens,
    tally,
)
from modelsel.ledger.rows.matching import ALIKE, KEPT, Sketch, best_naming, hash_tokens, match_names, sketches
from modelsel.ledger.rows.row_set import RecentRowSets, RowSet

KEY = IdentityKey(b"k" * 32)


class Agreement:
    """How well columns agree under some names, from a few values, so that many agree alike; how often it was asked."""

    def __init__(self, seed: int, best: tuple[str, ...] | None = None) -> None:
        self.rng, self.best, self.known, self.times = np.random.default_rng(seed), best, {}, 0  # type: ignore[var-annotated]

    def __call__(self, names: tuple[str, ...]) -> float:
        self.times += 1
        if self.best is not None:
            return float(names == self.best)
        return self.known.setdefault(names, float(self.rng.choice([0.1, 0.2, 0.3, 0.4])))


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 2, 3]], [[0, 3], [1, 4, 2]], [[1, 2], [0, 3]], []])
def test_of_all_exchanges_the_first_of_those_that_agree_best_is_taken(groups: list[list[int]]) -> None:
    names = tuple("abcde")
    for seed in range(30):
        agreement = Agreement(seed)
        every = []
        for places in product(*(permutations(group) for group in groups)):
            tried = list(names)
            for group, order in zip(groups, places):
                for index, source in zip(group, order):
                    tried[index] = names[source]
            every.append(tuple(tried))
        assert best_naming(names, groups, agreement) == max(every, key=agreement)  # max takes the first of equals


def test_seven_hundred_and_twenty_exchanges_are_all_tried_and_of_more_pairs_are_swapped() -> None:
    turned = Agreement(0, best=("b", "c", "d", "e", "f", "a"))
    assert best_naming(tuple("abcdef"), [[0, 1, 2, 3, 4, 5]], turned) == turned.best
    swapped = Agreement(0, best=("a", "b", "g", "d", "e", "f", "c"))
    assert best_naming(tuple("abcdefg"), [list(range(7))], swapped) == swapped.best
    assert swapped.times <= 1 + 21
    lost = Agreement(0, best=("b", "c", "d", "e", "f", "g", "a"))
    assert best_naming(tuple("abcdefg"), [list(range(7))], lost) == tuple("abcdefg")  # no exchange of two helps
    assert lost.times == 1 + 3 * 21


@pytest.mark.parametrize("count", [2, 6, 7])
def test_names_under_which_all_rows_agree_are_not_tried_otherwise(count: int) -> None:
    names = tuple("abcdefg")[:count]
    perfect = Agreement(0, best=names)
    assert best_naming(names, [list(range(count))], perfect) == names
    assert perfect.times == 1


def alike(one: Sketch, other: Sketch) -> float:
    mine, theirs = (dict(zip(each.values.tolist(), each.shares.tolist())) for each in (one, other))
    least = min(sum(mine.values()), sum(theirs.values()))
    return sum(min(share, theirs.get(value, 0.0)) for value, share in mine.items()) / least if least else 0.0


def paired(ours: Sequence[Sketch], theirs: Sequence[Sketch]) -> tuple[tuple[str, ...], list[list[int]]] | None:
    """The rule in plain words: equal names and values, values, names, then the most alike."""
    if len(ours) != len(theirs):
        return None
    free, found = list(range(len(theirs))), {}
    for said in (lambda one: (one.name, one.digest), lambda one: one.digest, lambda one: one.name):
        for i, one in enumerate(ours):
            partner = next((j for j in free if i not in found and said(theirs[j]) == said(one)), None)
            if partner is not None:
                found[i] = partner
                free.remove(partner)
    rest = [i for i in range(len(ours)) if i not in found]
    for near, i, j in sorted((-alike(ours[i], theirs[j]), i, j) for i in rest for j in free):
        if -near >= ALIKE and i not in found and j in free:
            found[i] = j
            free.remove(j)
    if free:
        return None
    renamed = [i for i in range(len(ours)) if ours[i].name != theirs[found[i]].name]
    groups = {ours[i].digest: [k for k in renamed if ours[k].digest == ours[i].digest] for i in renamed}
    return tuple(theirs[found[i]].name for i in range(len(ours))), [one for one in groups.values() if len(one) > 1]


def test_columns_are_paired_as_the_rule_says() -> None:
    rng, said = np.random.default_rng(0), []
    for _ in range(400):
        sides = []
        for _side in range(2):
            drawn = []
            for _column in range(int(rng.choice([3, 4, 4, 4]))):
                values = np.sort(rng.choice(12, int(rng.choice([0, 3, 4, 5])), replace=False)).astype(np.uint64)
                shares = np.full(len(values), 0.125) * rng.integers(1, 3, len(values))
                drawn.append(Sketch(str(rng.choice(list("abcdef"))), str(rng.choice(list("12345"))), values, shares))
            sides.append(drawn)
        said.append(match_names(*sides))
        assert said[-1] == paired(*sides)
    assert sum(one is not None for one in said) > 50
    assert sum(bool(one and one[1]) for one in said) > 10


def test_a_column_without_values_is_like_no_other() -> None:
    empty, full = (
        Sketch("a", "1", np.empty(0, np.uint64), np.empty(0)),
        Sketch("b", "2", np.arange(2, dtype=np.uint64), np.full(2, 0.5)),
    )
    assert match_names([empty], [full]) is None
    assert match_names([full], [empty]) is None
    assert match_names([empty, full], [full, empty]) == (("a", "b"), [])


def test_a_sketch_has_the_shares_of_the_smallest_values() -> None:
    values = np.random.default_rng(0).integers(0, 400, 3000).astype(float)
    (cells,) = (columns(Table(name="t", features=(Feature("x", "numeric"),), values=values[:, None], rows=np.arange(3000))),)
    (drawn,) = sketches(cells, KEY)
    tokens, counts = np.unique(cells.tokens[:, 0], return_counts=True)
    assert drawn.distinct == len(tokens)
    assert drawn.shares == pytest.approx(counts[:KEPT] / 3000)
    assert np.array_equal(drawn.values, hash_tokens(tokens[:KEPT], KEY))


@pytest.mark.parametrize("values", [[], [3.0], [2.0, 2.0, 2.0], [5.0, -1.0, 5.0, 7.5, -1.0, 5.0, 0.0]])
def test_ranks_are_those_of_scipy(values: list[float]) -> None:
    dense = Dense.of(np.array(values))
    assert dense.codes.tolist() == (rankdata(values, "dense") - 1).tolist()
    assert dense.counts.tolist() == np.unique(values, return_counts=True)[1].tolist()
    assert dense.middle == pytest.approx((rankdata(values) - 1) / max(1, len(values)) - 0.5)


def test_what_is_missing_has_no_rank() -> None:
    dense = Dense.of(np.array([np.nan, 4.0, np.nan, 1.0, 4.0]))
    assert dense.codes.tolist() == [-1, 1, -1, 0, 1]
    assert dense.counts.tolist() == [1, 2]
    assert rank_tokens(dense.codes).tolist() == [
        MISSING,
        *number_tokens(np.array([1.0])),
        MISSING,
        *number_tokens(np.array([0.0, 1.0])),
    ]


@pytest.mark.parametrize(("n", "sketch"), [(9, False), (10, False), (11, True)])
def test_a_set_larger_than_that_is_kept_by_its_smallest_hashes(n: int, sketch: bool) -> None:
    whole = RowSet({"n": n}, {"bound": np.arange(n, dtype=np.uint64)[::-1]})
    kept = whole.sketch(most=10, keep=4)
    assert kept.arrays["bound"].tolist() == ([0, 1, 2, 3] if sketch else list(range(n))[::-1])
    assert kept.facts == ({"n": n, "sketch": True} if sketch else {"n": n})


def test_row_sets_asked_for_last_are_kept_and_one_always(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = {name: RowSet({"n": 2}, {"bound": np.array([place, 9], np.uint64)}).pack() for place, name in enumerate("abcd")}
    monkeypatch.setattr(row_set, "MOST", 2 * len(blobs["a"]))
    recent, read = RecentRowSets(), []

    def load(digest: str) -> bytes:
        read.append(digest)
        return blobs[digest]

    for name in "abab":
        assert recent(name, load).arrays["bound"].tolist() == ["abcd".index(name), 9]
    assert read == ["a", "b"]
    recent("a", load), recent("c", load)  # b was asked for longest ago
    assert [name in recent for name in "abcd"] == [True, False, True, False]
    monkeypatch.setattr(row_set, "MOST", 1)
    recent("d", load)
    assert [name in recent for name in "abcd"] == [False, False, False, True]


def telling(values: Sequence[float], levels: Sequence[str] | None = None) -> bool:
    """Does a column alone nearly identify a row?"""
    feature = Feature("x", "numeric") if levels is None else Feature("x", "nominal", tuple(levels))
    table = Table(name="t", features=(feature,), values=np.array(values, float)[:, None], rows=np.arange(len(values)))
    return [index for index, _ in quasi_keys(table)] == [0]


UNEVEN = np.sort(np.random.default_rng(0).normal(size=100))


def test_a_column_identifies_rows_of_which_half_the_values_are_distinct() -> None:
    assert telling(np.r_[UNEVEN[:50], UNEVEN[:50]])
    assert not telling(np.r_[UNEVEN[:49], UNEVEN[:49], UNEVEN[:2]])
    assert not telling([])
    odd = ["a", "b"]
    assert telling([0, 1, 2, np.nan] * 2, odd)  # an unseen level and a missing one are values too
    assert not telling([0, 1, 2, 2] * 2, odd)
    assert not telling([0, 1, 2, np.nan] * 2 + [0], odd)


@pytest.mark.parametrize("step", [1.0, 0.5, 3.0])
def test_a_counter_is_a_regular_grid_no_wider_than_twenty_times_its_numbers(step: float) -> None:
    assert not telling(np.arange(50) * step)
    assert not telling(np.r_[np.arange(49), 999] * step)
    assert telling(np.r_[np.arange(49), 1000] * step)
    assert telling((np.arange(50) + np.where(np.arange(50) % 2, 0.01, 0)) * step)
    assert not telling((np.arange(50) + np.where(np.arange(50) % 2, 1e-5, 0)) * step)
    assert not telling(np.r_[np.arange(50) * step, np.nan, np.inf])


def test_counters_written_as_texts_are_counters_and_two_numbers_are_one() -> None:
    assert not telling(np.arange(50), [str(2 * i) for i in range(50)])
    assert telling(np.arange(50), [str(value) for value in UNEVEN[:50]])
    assert telling(np.arange(50), [f"name {i}" for i in range(50)])
    assert not telling([1, 2])
    assert telling([1, np.nan])


def test_whole_numbers_are_exact_below_two_to_the_fifty_third_and_have_six_digits_from_there_on() -> None:
    below, at, above = number_tokens(np.array([2.0**53 - 1, 2.0**53, 2.0**53 + 2]))
    assert below != at
    assert at == above
    assert number_tokens(np.array([2.0**53 - 2])) != below


def test_a_level_that_is_none_is_told_as_one_that_is_missing() -> None:
    feature = Feature("c", "nominal", ("red", "blue"))
    assert feature_tokens(feature, np.array([7.0, np.nan]), 6).tolist() == [MISSING, MISSING]


def test_numbers_count_by_their_ranks_and_levels_by_their_texts() -> None:
    numbers_, codes = np.array([0.5, 7.0, np.nan, 0.5, -3.0]), np.array([0.0, 1.0, 1.0, np.nan, 0.0])

    def of(values: np.ndarray, levels: tuple[str, ...], codes: np.ndarray) -> Table:
        features = (Feature("x", "numeric"), Feature("c", "nominal", levels))
        return Table(name="t", features=features, values=np.column_stack([values, codes]), rows=np.arange(5))

    table = of(numbers_, ("red", "blue"), codes)
    places = np.column_stack([[1, 2, np.nan, 1, 0], codes])
    known = rank_hashes(table, ("x", "c"), KEY)
    assert np.array_equal(known, bound_hashes(columns(table.with_features(table.features, places)), KEY))
    assert np.array_equal(known, rank_hashes(of(np.exp(numbers_), ("blue", "red"), 1 - codes), ("x", "c"), KEY))
    assert np.array_equal(known, rank_hashes(table, ("x", "c"), KEY, Order(table), columns(table)))
    other = columns(of(numbers_, ("red", "green"), codes))
    assert (known != rank_hashes(table, ("x", "c"), KEY, cells=other)).tolist() == [False, True, True, False, False]


def test_values_are_counted_and_met_as_in_plain_lists() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 9, 30):
        values, pool = rng.integers(0, 12, 15).astype(np.uint64), rng.integers(2, 10, size).astype(np.uint64)
        known = pool.tolist()
        assert occurrences(values, pool).tolist() == [known.count(one) for one in values.tolist()]
        assert is_among(values, np.sort(pool)).tolist() == [one in known for one in values.tolist()]
        assert [one.tolist() for one in tally(pool)] == [sorted(set(known)), [known.count(one) for one in sorted(set(known))]]
