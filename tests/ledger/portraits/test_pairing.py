"""Variables are matched at the least cost, which is written out in loops; rounds that go in a circle end where eight do."""

from itertools import permutations, product

import numpy as np
import pytest

from modelsel.ledger.portraits import likeness as paired
from modelsel.ledger.portraits.likeness import CAP, ODD, ROUNDS, Pairing, refine_assignment, starts
from modelsel.ledger.portraits.portrait import Portrait

SCALE = 0.01


def portrait(count: int, seed: int, orders: int = 3, told: float = 1.0, labels: str = "abcdefgh") -> Portrait:
    """Links drawn at random, alike on both sides of the diagonal; some of them not told."""
    rng, links = np.random.default_rng(seed), {}
    for view in ("value", "rank"):
        table = rng.normal(0, 0.15, (count, 3, count, 3))
        table[rng.random(table.shape) > told] = np.nan
        table = np.where(np.isnan(table.transpose(2, 3, 0, 1)), np.nan, (table + table.transpose(2, 3, 0, 1)) / 2)
        table[:, orders:] = table[:, :, :, orders:] = np.nan
        for index in range(count):
            table[index, :, index] = np.diag(rng.normal(0, 0.15, 3)) + np.where(np.eye(3) > 0, 0, np.nan)
            table[index, :, index][:, orders:] = np.nan
        links[view] = table
    names = np.frombuffer(labels[:count].encode(), np.uint8).astype(np.uint64)
    return Portrait(300, names, np.zeros(count, bool), links)


def cost(ours: Portrait, theirs: Portrait, view: str, start: Pairing, i: int, j: int, sign: float) -> float:
    """How far variable i of ours goes otherwise than j of theirs with the variables that are matched."""
    orders, found = (1 if 1 in (ours.orders, theirs.orders) else 3), []
    for mine, other, turned in zip(start.ours, start.theirs, start.signs):
        if mine == i or other == j:
            continue
        for a, b in product(range(orders), repeat=2):
            one, two = ours.links[view][mine, a, i, b], theirs.links[view][other, a, j, b]
            one *= (ODD[a] if turned < 0 else 1) * (ODD[b] if sign < 0 else 1)
            if np.isfinite(one) and np.isfinite(two):
                found.append(min((one - two) ** 2, CAP * SCALE))
    return sum(found) / max(1, len(found))


@pytest.mark.parametrize(("orders", "told"), [((3, 3), 1.0), ((3, 3), 0.7), ((1, 3), 1.0), ((3, 1), 0.8), ((1, 1), 1.0)])
def test_a_round_assigns_the_variables_at_the_least_cost(
    orders: tuple[int, int], told: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paired, "ROUNDS", 1)
    for seed in range(6):
        ours, theirs = portrait(4, seed, orders[0], told), portrait(5, 50 + seed, orders[1], told)
        rng = np.random.default_rng(seed)
        start = Pairing(rng.permutation(4)[:3], rng.permutation(5)[:3], rng.choice([-1.0, 1.0], 3))
        found = refine_assignment(start, ours, theirs, "rank", SCALE)
        costs = {
            (i, j, sign): cost(ours, theirs, "rank", start, i, j, sign)
            for i, j, sign in product(range(4), range(5), (1.0, -1.0))
        }
        least = min(
            sum(min(costs[i, j, 1.0], costs[i, j, -1.0]) for i, j in enumerate(other)) for other in permutations(range(5), 4)
        )
        chosen = list(zip(found.ours.tolist(), found.theirs.tolist(), found.signs.tolist()))
        assert sum(costs[one] for one in chosen) == pytest.approx(least, abs=1e-9)
        assert all(costs[i, j, sign] <= costs[i, j, -sign] + 1e-12 for i, j, sign in chosen)


def test_without_anything_matched_variables_go_by_their_shapes_and_profiles() -> None:
    for seed in range(6):
        ours, theirs = portrait(4, seed), portrait(4, 70 + seed)
        (start,) = _first(ours, theirs)

        def alone(i: int, j: int, sign: float, ours: Portrait = ours, theirs: Portrait = theirs) -> float:
            profile = np.mean((ours.profiles["value"][i] - theirs.profiles["value"][j]) ** 2)
            turned = ODD if sign < 0 else np.ones(3)
            return float(profile + np.mean((ours.shapes[i] * turned - theirs.shapes[j]) ** 2))

        costs = {(i, j): min(alone(i, j, 1.0), alone(i, j, -1.0)) for i, j in product(range(4), repeat=2)}
        least = min(sum(costs[i, j] for i, j in enumerate(other)) for other in permutations(range(4)))
        assert sum(alone(i, j, sign) for i, j, sign in zip(start.ours, start.theirs, start.signs)) == pytest.approx(least)


def _first(ours: Portrait, theirs: Portrait) -> list[Pairing]:
    """What `starts` begins with where no name is the same."""
    other = Portrait(theirs.n, theirs.labels + np.uint64(100), theirs.binary, theirs.links)
    found: list[Pairing] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "refine_assignment", lambda start, *_: found.append(start))
        list(starts(ours, other, "value", SCALE, thorough=True))
    return found


@pytest.mark.parametrize(("common", "named"), [(0, False), (1, False), (2, True), (3, True)])
def test_two_names_that_are_the_same_are_a_start(common: int, named: bool) -> None:
    ours, theirs = portrait(3, 0), portrait(3, 1, labels="abc"[:common] + "xyz"[common:])
    found = list(starts(ours, theirs, "value", SCALE, thorough=False))
    assert len(found) == named
    assert [one.ours.tolist() for one in found] == [list(range(common))] * named
    assert len(list(starts(ours, theirs, "value", SCALE, thorough=True))) == 1 + 2 * named
    assert len(list(starts(ours, theirs, "value", SCALE, thorough=True, by_name=False))) == 1 + named


def test_what_fits_as_well_turned_round_is_not_turned() -> None:
    ours = portrait(3, 0)
    for links in ours.links.values():
        links[np.isfinite(links)] = 0.0
    for start in starts(ours, ours, "value", SCALE, thorough=True):
        assert start.signs.tolist() == [1.0] * 3
    assert [start.signs.tolist() for start in _first(ours, ours)] == [[1.0] * 3]


def test_pairings_that_go_in_a_circle_end_where_eight_rounds_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any map of a few pairings to the next: some end, some go round."""
    states = [Pairing(np.array([place]), np.array([0]), np.ones(1)) for place in range(14)]
    rng = np.random.default_rng(0)
    for turn in range(80):
        follows = rng.integers(0, 14, 14) if turn % 2 else np.r_[np.arange(1, 14), turn % 14]

        class Fixed:
            def __init__(self, *_: object) -> None: ...

            def costs(self, now: Pairing, follows: np.ndarray = follows) -> np.ndarray:
                return np.full((2, 1, 1), follows[now.ours[0]])

        monkeypatch.setattr(paired, "_Correlations", Fixed)
        monkeypatch.setattr(paired, "_assign_columns", lambda cost, _: states[int(cost[0, 0])])
        place = int(rng.integers(14))
        found = refine_assignment(states[place], *[portrait(2, 0)] * 2, "value", SCALE)
        for _ in range(ROUNDS):
            place = int(follows[place])
        assert found is states[place]
