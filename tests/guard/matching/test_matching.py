"""What counts as the same rows and the same table: each rule at its limit, and searches against brute force."""

from collections.abc import Sequence
from itertools import combinations
from math import ceil, comb, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.guard import matching
from modelsel.guard.fingerprints import RowFingerprints, SideFingerprints
from modelsel.guard.history import History
from modelsel.guard.joining import OtherLedgers
from modelsel.guard.matching import (
    EXPLAINED,
    FEWEST,
    MARGIN,
    QUASI,
    THOROUGH,
    Relation,
    RowSetIndex,
    _met_again,
    _nearly_as_large,
    _stronger,
    enough,
    expected_overlap,
    links,
    more_than_chance,
    related_sets,
    relations,
)
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.matching import hash_tokens
from modelsel.ledger.rows.row_set import RowSet
from tests.guard.chains import entry

KEY = IdentityKey(b"k" * 32)


def hashes(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


def many(first: int, last: int) -> np.ndarray:
    return np.arange(first, last, dtype=np.uint64)


def subject(test: dict[str, np.ndarray], development: dict[str, np.ndarray] | None = None, **changed: Any) -> RowFingerprints:
    """Rows by their hashes, all of which tell rows apart unless something else is said."""
    about: dict[str, Any] = {
        "names": ("a", "b"), "sketches": (), "digest": "mine", "train": "d", "source": "w", "u": dict.fromkeys(test, 1.0),
        "variables": None, "portrait": None, "room": 1e9, "cramped": False, "vast": True, "keys": {}, **changed,
    }  # fmt: skip
    sides = (
        SideFingerprints(test, about.pop("keys")),
        SideFingerprints(development or {n: many(10**6, 10**6 + 50) for n in test}, {}),
    )
    return RowFingerprints(test=sides[0], development=sides[1], **about)


def stored(arrays: dict[str, np.ndarray], names: Sequence[str] = ("a", "b"), n: int | None = None, **facts: Any) -> RowSet:
    return RowSet({"n": n or len(next(iter(arrays.values()))), "names": list(names), **facts}, arrays)


def memory(entries: Sequence[LedgerEntry], sets: dict[str, RowSet], **about: Any) -> RowSetIndex:
    return RowSetIndex(History(tuple(entries)), sets.__getitem__, KEY, **about)


def sealed(testset: str = "t", seq: int = 1, **facts: Any) -> LedgerEntry:
    return entry("seal", seq=seq, testset=testset, **{"key_id": KEY.id, "rows": testset, **facts})


def found(mine: RowFingerprints, *sets: RowSet) -> list[Relation]:
    """What sealed sets of these rows have to do with ours."""
    named = {f"t{place}": one for place, one in enumerate(sets)}
    return list(relations(mine, memory([sealed(name, seq) for seq, name in enumerate(named)], named)))


@pytest.mark.parametrize(
    ("here", "n", "same"), [(9, 10, True), (8, 10, False), (10, 11, True), (9, 11, False), (10, 12, False)]
)
def test_two_sets_are_one_that_share_nine_tenths_of_the_larger(here: int, n: int, same: bool) -> None:
    theirs = np.r_[many(0, here), many(500, 500 + n - here)]
    (relation,) = found(subject({"bound": many(0, 10)}), stored({"bound": theirs}))
    assert (relation.same, relation.rows, relation.share, relation.exact) == (same, here, here / 10, True)
    assert relation.seen.tolist() == [row < here for row in range(10)]
    assert relation.facts()["rows"] == here
    assert not relation.linked


def test_the_same_rows_are_known_by_their_seal_or_by_a_look_and_not_compared_with_themselves() -> None:
    mine, rows = subject({"bound": many(0, 10)}), {"mine": stored({"bound": many(0, 10)})}
    for entries, known in (
        ([sealed("mine")], True), ([entry("intent", testset="mine")], True), ([entry("intent", testset="other")], False),
    ):  # fmt: skip
        said = relations(mine, memory(entries, rows))
        assert [(one.testset, one.role, one.rows, one.share, one.same) for one in said] == [
            ("mine", "test", 10, 1.0, True)
        ] * known


def test_only_sets_under_the_same_key_are_compared_and_the_nearest_comes_first() -> None:
    entries = [sealed("half", 1), sealed("foreign", 2, key_id="x"), sealed("nothing kept", 3, rows=None), sealed("tenth", 4)]
    entries += [sealed("all", 5), sealed("none", 6)]
    sets = {"half": many(5, 15), "tenth": many(9, 19), "all": many(0, 10), "none": many(70, 80), "foreign": many(0, 10)}
    said = relations(
        subject({"bound": many(0, 10)}), memory(entries, {name: stored({"bound": one}) for name, one in sets.items()})
    )
    assert [(one.testset, one.same) for one in said] == [("all", True), ("half", False), ("tenth", False)]


def test_rows_that_chose_are_compared_once_but_for_the_studys_own_and_its_duplicates() -> None:
    facts = [{"train": "d", "development": "own"}, {"train": "e", "key_id": "x", "development": "foreign"},
             {"train": "f", "development": None}, {"train": "g"}, {"train": "g", "development": "again"}]  # fmt: skip
    chosen = [entry("selection", seq=seq, **{"key_id": KEY.id, "development": "rows", **one}) for seq, one in enumerate(facts)]
    rows = {"rows": stored({"bound": many(4, 10)})}
    sides: Any = ({"bound": many(0, 10)}, {"bound": np.r_[many(8, 30), many(100, 150)]})
    (relation,) = relations(subject(*sides), memory(chosen, rows))
    assert (relation.role, relation.testset) == ("selection", "t")
    assert np.flatnonzero(relation.seen).tolist() == [4, 5, 6, 7]  # 8 and 9 are duplicates within the study
    (relation,) = relations(subject(*sides, u={"bound": 0.9}, vast=False), memory(chosen, rows))
    assert np.flatnonzero(relation.seen).tolist() == [4, 5, 6, 7, 8, 9]  # where rows repeat, a duplicate says nothing


@pytest.mark.parametrize(("theirs", "alike"), [("ab", True), ("a", True), ("abcd", True), ("ac", False), ("abcde", False)])
def test_declared_identities_mean_something_where_half_of_the_names_are_the_same(theirs: str, alike: bool) -> None:
    arrays = {"bound": many(50, 60), "id": many(0, 10)}
    assert bool(found(subject({"bound": many(0, 10), "id": many(0, 10)}), stored(arrays, tuple(theirs)))) == alike


def test_a_kind_of_hash_counts_where_both_sides_have_it_and_it_tells_rows_apart() -> None:
    mine, other = many(0, 20), many(500, 520)
    ours = {"bound": mine, "unbound": mine, "ranked": mine, "id": mine}
    for name, channel in (("bound", "C1"), ("unbound", "C1"), ("ranked", "C4"), ("id", "C0")):
        (relation,) = found(subject(ours), stored({"bound": other, name: mine}))
        assert (relation.channel, relation.rows) == (channel, 20)
        assert not found(
            subject({"bound": mine, **({"ranked": mine} if name == "id" else {})}), stored({"bound": other, "x": mine})
        )
        if name in ("unbound", "ranked"):
            assert not found(subject(ours, u={**dict.fromkeys(ours, 1.0), name: 0.94}), stored({"bound": other, name: mine}))
            assert found(subject(ours, u={**dict.fromkeys(ours, 1.0), name: 0.95}), stored({"bound": other, name: mine}))


@pytest.mark.parametrize(
    ("rows", "chosen"), [((10, 15), 0), ((10, 16), 1), ((10, None), 0), ((None, 3), 1), ((None, None), None)]
)
def test_a_less_telling_match_is_the_stronger_one_with_more_than_half_again_as_many_rows(
    rows: tuple[int | None, int | None], chosen: int | None
) -> None:
    first, second = (n and Relation("t", "test", n, 0.5, np.zeros(20, bool)) for n in rows)
    assert _stronger(first or None, second or None) is (None if chosen is None else (first, second)[chosen])


@pytest.mark.parametrize(
    ("vast", "u", "shared", "seen"),
    [(True, 1.0, 1, True), (False, 1.0, 1, False), (True, 0.999, 1, False), (False, 1.0, 10, True), (True, 0.5, 10, True),
     (True, 0.9, 1, False)],
)  # fmt: skip
def test_a_single_row_met_again_says_something_only_where_no_rows_agree_by_chance(
    vast: bool, u: float, shared: int, seen: bool
) -> None:
    mine = subject({"bound": many(0, 50)}, {"bound": many(100, 200)}, u={"bound": u}, vast=vast)
    assert bool(found(mine, stored({"bound": many(50 - shared, 100 - shared)}))) == seen


@pytest.mark.parametrize(("u", "shared", "seen"), [(0.995, 16, False), (0.995, 24, True), (0.9, 38, False), (0.9, 44, True)])
def test_the_margin_is_twice_the_share_of_repeated_rows_and_two_in_a_hundred_at_most(u: float, shared: int, seen: bool) -> None:
    mine = subject({"bound": many(0, 2000)}, {"bound": many(5000, 9000)}, u={"bound": u})
    assert bool(found(mine, stored({"bound": many(2000 - shared, 4000 - shared)}))) == seen


@pytest.mark.parametrize(("u", "rows"), [(0.8, 41), (0.96, 50)])
def test_where_rows_repeat_each_counts_as_often_as_it_was_there(u: float, rows: int) -> None:
    mine = subject({"bound": np.r_[np.full(10, 7, np.uint64), many(100, 140)]}, u={"bound": u})
    (relation,) = found(mine, stored({"bound": np.r_[np.full(1, 7, np.uint64), many(100, 140)]}))
    assert relation.rows == rows


def test_of_a_sketch_the_largest_hash_counts_on_both_sides() -> None:
    last, less = np.full(30, 5, np.uint64), np.full(6, 1, np.uint64)
    assert enough(last, less, last, sketch=True)  # all stand there, and among six of our own none
    assert not enough(last, np.r_[last, less], last, sketch=True)  # as many of our own are alike
    assert not enough(last + np.uint64(1), less, last, sketch=True)  # nothing is known of larger ones
    (relation,) = found(subject({"bound": many(0, 40)}), stored({"bound": many(0, 20) * np.uint64(2)}, n=4000, sketch=True))
    assert relation.rows == 21  # 20 of the 39 hashes up to 38, which is 20.5 of 40
    (relation,) = found(subject({"bound": many(0, 40)}), stored({"bound": many(0, 20)}, n=4000, sketch=True))
    assert (relation.rows, relation.exact, relation.seen.sum()) == (40, False, 40)


def test_values_met_again_are_those_of_brute_force() -> None:
    rng, times = np.random.default_rng(0), 0
    for _ in range(60):
        sizes = rng.choice([30, 49, 50, 51, 60, 100], 5)
        ours = [(f"x{i}", np.sort(rng.choice(150, n, replace=False)).astype(np.uint64)) for i, n in enumerate(sizes[:2])]
        theirs = [np.sort(rng.choice(400, n, replace=False)).astype(np.uint64) for n in sizes[2:]]
        wanted = [(name, np.isin(mine, other).tolist()) for name, mine in ours for other in theirs
                  if np.isin(mine, other).sum() >= max(FEWEST, ceil(QUASI * len(mine)))]  # fmt: skip
        assert [(name, again.tolist()) for name, again in _met_again(ours, theirs)] == wanted
        times += len(wanted)
    assert times > 20


def test_rows_are_matched_by_the_column_that_meets_most_of_them() -> None:
    columns = {"few": many(0, 40), "most": many(100, 140), "as many": many(200, 240)}
    mine = subject({"bound": many(0, 40)}, keys=columns)
    kept = {"key:few": columns["few"][:12], "key:most": columns["most"][10:40], "key:other": columns["as many"][:30]}
    theirs = stored({"bound": many(900, 940), **{name: np.sort(hash_tokens(one, KEY)) for name, one in kept.items()}})
    (relation,) = found(mine, theirs)
    assert (relation.channel, relation.rows) == ("C2", 30)
    assert np.flatnonzero(relation.seen).tolist() == list(range(10, 40))  # of two that meet as many the first
    assert not found(subject({"bound": many(0, 40)}), theirs)
    assert not found(subject({"bound": many(0, 40)}, keys=columns), stored({"bound": many(900, 940)}))


class Hashes:
    """In place of the index: says that nothing of some sets is met, and what it was asked and given."""

    def __init__(self, *apart: str) -> None:
        self.apart, self.asked, self.taken = apart, [], []  # type: ignore[var-annotated]

    def without(self, *asked: tuple[Any, int]) -> frozenset[str]:
        self.asked.append([(sorted(values.tolist()), least) for values, least in asked])
        return frozenset(self.apart)

    def take(self, digest: str, _: RowSet) -> None:
        self.taken.append(digest)


def test_what_certainly_shares_nothing_is_not_read_and_the_index_is_asked_once() -> None:
    tokens = many(0, 60)
    mine = subject({"bound": many(0, 10), "unbound": many(20, 25)}, keys={"x": tokens})
    index: Any = Hashes("far")
    read = memory([], {"near": stored({"bound": many(0, 3)})}, hashes=index)
    assert read.comparable_rows("far", mine) is None
    assert len(read.comparable_rows("near", mine) or ()) == 3
    assert read.comparable_rows(None, mine) is None
    assert index.taken == ["near"]
    assert index.asked == [[([*range(10), *range(20, 25)], 1), (sorted(hash_tokens(tokens, KEY).tolist()), 12)]]
    assert memory([], {}).comparable_rows(None, mine) is None


# --- the same table without its rows


@pytest.mark.parametrize(("rows", "near"), [(30, True), (29, False), (270, True), (271, False), (90, True)])
def test_portraits_tell_something_of_tables_up_to_three_times_as_large(rows: int, near: bool) -> None:
    mine, here = subject({"bound": many(0, 40)}), memory([], {})
    facts = {"rows_in_all": rows, "portrait": "p"}
    assert len(mine) == 90
    assert _nearly_as_large(mine, sealed(**facts), here) == near
    assert not _nearly_as_large(mine, sealed(**{**facts, "key_id": "x"}), here)
    assert not _nearly_as_large(mine, sealed(**{**facts, "portrait": None}), here)


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Every portrait is like ours, if none of the rows are matched; what was asked: common rows, and whether thoroughly."""
    asked: list[tuple[int, bool]] = []

    def likeness(_mine: Any, _halves: Any, theirs: str, common: int, thorough: bool, named: bool = True) -> Any:
        asked.append((common, thorough))
        return SimpleNamespace(same=theirs != "unlike" and (common == 0 or theirs == "nearer"))

    monkeypatch.setattr(matching, "likeness", likeness)
    monkeypatch.setattr(matching, "chance_of_design", lambda _, stated, __: 0.0 if stated.portrait == "design" else None)
    monkeypatch.setattr(matching, "Halves", lambda *_: None)
    monkeypatch.setattr(matching, "_is_part", lambda *_: False)
    monkeypatch.setattr(matching, "_is_noisy", lambda *_: False)
    monkeypatch.setattr(matching, "OwnWaves", lambda *_: None)
    monkeypatch.setattr(matching, "Portrait", SimpleNamespace(of=lambda stored: stored))
    monkeypatch.setattr(matching, "may_be_same", lambda _, theirs: np.zeros(len(theirs), bool))
    return asked


def drawn(
    entries: Sequence[LedgerEntry], sets: dict[str, Any], known: Sequence[Relation] = (), **changed: Any
) -> list[Relation]:
    mine = subject(
        {"bound": many(0, 40)}, **{"variables": object(), "portrait": SimpleNamespace(labels=None, waves=None), **changed}
    )
    return list(links(mine, memory(entries, sets), known))


def portrayed(name: str, seq: int = 1, **facts: Any) -> LedgerEntry:
    return sealed(name, seq, **{"train": f"rows of {name}", "rows_in_all": 90, "portrait": name, "development": "far", **facts})


FAR = {"far": stored({"bound": many(7000, 7010)})}


def test_of_many_tables_the_nearest_in_size_are_compared_thoroughly(
    alike: list[tuple[int, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [90 + turn if turn % 2 else max(30, 90 - turn // 2) for turn in range(THOROUGH + 4)]
    seals = [portrayed(f"t{seq}", seq, rows_in_all=size, rows="far") for seq, size in enumerate(sizes)]
    looks = [entry("intent", seq=100 + seq, testset=f"t{seq}", id=str(seq)) for seq in range(len(sizes))]
    sets = {**FAR, **{f"t{seq}": f"t{seq}" for seq in range(len(sizes))}}
    nearest = sorted(range(len(sizes)), key=lambda seq: abs(np.log(sizes[seq] / 90)))
    assert [one.testset for one in drawn([*seals, *looks], sets)] == [f"t{seq}" for seq in nearest[:THOROUGH]]
    assert set(alike) == {(0, True)}
    monkeypatch.setattr(matching, "may_be_same", lambda _, theirs: np.ones(len(theirs), bool))
    assert [one.testset for one in drawn([*seals, *looks], sets)] == [f"t{seq}" for seq in nearest]
    assert alike[-4:] == [(0, False)] * 4


@pytest.mark.usefixtures("alike")
def test_a_table_counts_that_looked_or_chose_and_is_not_known_by_its_rows() -> None:
    seals = [portrayed(name, seq, rows="far") for seq, name in enumerate(("looked", "chose", "sealed", "committed", "mine"))]
    used = [entry("intent", testset="looked"), entry("selection", train="rows of chose"), entry("commit", testset="committed")]
    used += [entry("intent", "s", testset="mine", id="m")]
    sets = {**FAR, **{name: name for name in ("looked", "chose", "sealed", "committed", "mine")}}
    assert {(one.testset, one.role) for one in drawn([*seals, *used], sets)} == {
        ("looked", "test"), ("chose", "selection"), ("committed", "test"),
    }  # fmt: skip
    for same, share, linked_ in ((True, EXPLAINED, False), (True, EXPLAINED - 0.01, True), (False, 1.0, True)):
        known = Relation("looked", "test", 10, share, np.ones(40, bool), same)
        assert ("looked" in {one.testset for one in drawn([*seals, *used], sets, [known])}) == linked_
    assert drawn([*seals, *used], sets, variables=None) == []
    assert drawn([*seals, *used], sets, portrait=None) == []
    ((one, *_),) = [drawn([seals[0], used[0]], sets)]
    assert (one.rows, one.exact, one.channel, one.linked) == (0, False, "C6", True)


def test_a_table_that_is_near_by_its_matched_rows_alone_is_not_linked(alike: list[tuple[int, bool]]) -> None:
    look = entry("intent", testset="looked")
    some, more = {"bound": many(0, 10), "unbound": many(0, 25)}, {"bound": many(30, 40), "unbound": many(0, 5)}
    rows = {"some": stored(some), "more": stored(more), **FAR}
    for name, sides, common, linked_ in (
        ("looked", ("far", "far"), 0, True), ("looked", ("some", "more"), 20, False),
        ("nearer", ("some", "more"), 20, True), ("unlike", ("far", "far"), 0, False),
    ):  # fmt: skip
        del alike[:]
        seal = portrayed("looked", portrait=name, rows=sides[0], development=sides[1])
        assert bool(drawn([seal, look], {**rows, name: name})) == linked_
        assert alike == [(0, True), (common, True)][: 1 + bool(common)]


@pytest.mark.usefixtures("alike")
def test_a_table_that_shares_a_design_is_neither_tested_nor_chosen_on() -> None:
    seal, look = portrayed("looked", portrait="design", rows="far"), entry("intent", testset="looked")
    assert [one.role for one in drawn([seal, look], {**FAR, "design": "design"})] == ["design"]


# --- other ledgers and other keys


def test_rows_sealed_under_another_key_are_found_by_their_name_there() -> None:
    mine = subject({"bound": many(0, 10)})
    theirs = subject({"bound": many(30, 40)}, digest="theirs")
    for testset, known in (("theirs", [("theirs", 10, 1.0, True)]), ("another", [])):
        here = memory([sealed(testset, key_id="x")], {})
        said = related_sets(mine, here, OtherLedgers(subjects=((theirs, IdentityKey(b"o" * 32)),)))
        assert [(one.testset, one.rows, one.share, one.same) for one in said] == known


# --- chance


def test_the_overlap_by_chance_is_the_mean_over_every_choice_of_rows() -> None:
    """Exactly, by going through all of them; the deviation is that of contents taken for independent."""
    for rows, pool, size in (([1, 1, 2], [1, 1, 1, 2, 3, 4], 3), ([1, 1, 1, 2, 5], [1, 1, 2, 2, 3], 2), ([1], [1, 2], 2),
                             ([1, 2, 2], [2, 2, 2], 2), ([7], [8, 9], 1), ([1, 1], [1, 1, 1, 1], 9)):  # fmt: skip
        drawn_ = [Counted(part) for part in combinations(pool, min(size, len(pool)))]
        each = [[min(rows.count(one), part[one]) for part in drawn_] for one in set(rows)]
        mean, deviation = expected_overlap(hashes(*rows), hashes(*pool), size)
        assert mean == pytest.approx(sum(np.mean(one) for one in each) / len(rows))
        assert deviation == pytest.approx(sqrt(sum(np.var(one) for one in each)) / len(rows), abs=1e-7)


class Counted(dict[int, int]):
    def __init__(self, values: Sequence[int]) -> None:
        super().__init__({one: values.count(one) for one in values})

    def __missing__(self, _: int) -> int:
        return 0


def overlap(rows: np.ndarray, pool: np.ndarray, size: int) -> tuple[float, float]:
    """The same by counting the ways to draw, content by content."""
    mean = variance = 0.0
    for one, times in zip(*np.unique(rows, return_counts=True)):
        held, m, n = int((pool == one).sum()), min(size, len(pool)), len(pool)
        ways = [comb(held, h) * comb(n - held, m - h) / comb(n, m) for h in range(m + 1)]
        above = [sum(ways[turn + 1 :]) for turn in range(times)]
        mean += sum(above)
        variance += sum((2 * turn + 1) * p for turn, p in enumerate(above)) - sum(above) ** 2
    return mean / len(rows), sqrt(max(0.0, variance)) / len(rows)


def test_just_as_much_as_chance_leaves_room_for_is_not_more() -> None:
    """Half of 126 rows are met, and none of our own: q = 1/128, and the margin is all of the rest."""
    rows, theirs, own = many(0, 126), many(63, 189), many(500, 626)
    assert not more_than_chance(rows, theirs, own, 0.5 - 1 / 128)
    assert more_than_chance(rows, theirs, own, 0.5 - 1 / 128 - 1e-9)


def test_more_than_chance_is_what_the_formula_says() -> None:
    rng, said = np.random.default_rng(0), []
    for turn in range(80):
        levels, n = int(rng.choice([3, 20, 300])), int(rng.choice([5, 20, 60]))
        rows, own = (rng.integers(0, levels, int(size)).astype(np.uint64) for size in (n, n * rng.uniform(0.5, 3)))
        again = round(n * rng.uniform(0, 1))
        theirs = np.r_[rows[:again], rng.integers(levels, 2 * levels, max(1, n - again)).astype(np.uint64)]
        margin, size = (MARGIN, 0.0, 0.3)[turn % 3], min(len(theirs), len(own))
        mean, deviation = overlap(rows, own, size)
        q = (mean * n + 1) / (n + 2)
        limit = q + max(margin, 3 * deviation, 3 * sqrt(q * (1 - q) / n))
        said.append(overlap(rows, theirs, size)[0] > limit)
        assert more_than_chance(rows, theirs, own, margin) == said[-1]
    assert 10 < sum(said) < 70
