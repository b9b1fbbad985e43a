"""Intervals over units under attack: how often an analyst who chooses by the answers makes one of them miss.

    python -m benchmarks.simulations.units [--runs 500] [--attack ...] [--units ...] [--kept FILE]

With `--kept` the counts so far stand in a file, and the same command goes on where it was stopped.

Labels of units are fair coins, so that whatever is chosen from answers has a known expected loss on the sealed units, given
their sizes. The gate does what it would do in a study: before each answer it plans a method from development units at the nats
of this look, releases the symbols, and adds their price. There are no fits. At δ = .05 at most 41 of 500 runs may have a miss.

Attacks: `fixed` asks ten models that do not depend on answers; `boosting` sends the vote of those that looked better than
they are expected to; `members` does so between the looks of ten models that were declared; `left out` asks for the half of the
units on which the votes are clearest; `measures` asks another measure each time; `borders` merges units anew for each look;
`merged` are two machines that do not know of each other, and are merged; `stratified` seals equal numbers of both labels.
`undeclared` sends rows of groups as if they were independent: no promise is made for it, and it fails.
Units: groups of unequal size, copies (20 rows each), weights, Brier score, costs.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.statistics.bounds import clopper_pearson
from modelsel.statistics.certificate import SpendingState
from modelsel.statistics.unit_intervals import UnitLosses, plan, price, release, released_interval

DELTA = 0.05
LOOKS = 10
SPACE = 10  # declared models
STEP = 25  # runs after which counts are kept
COSTS = np.array([0.3, 1.0])  # of a wrong answer where the label is 0 and 1
ATTACKS = ("fixed", "boosting", "members", "left out", "measures", "borders", "merged", "stratified")
KINDS = ("groups", "copies", "weights", "brier", "costs")


@dataclass(frozen=True, eq=False)
class Gate:
    """Sizes and labels of units; `sealed` marks those that are sealed."""

    size: Floats
    label: Integers
    sealed: Booleans

    def losses(self, said: Floats, measure: str) -> tuple[Floats, Floats]:
        """Losses in [0, 1] of chances `said` per unit, and their expectation over fair labels."""
        both = np.stack([_loss(said, label, measure) for label in (0, 1)])
        return both[self.label, np.arange(len(said))], both.mean(axis=0)


def gate(units: str, attack: str, rng: np.random.Generator, number: int = 120) -> Gate:
    size = {
        "groups": rng.integers(1, 30, number).astype(float), "copies": np.full(number, 20.0),
        "weights": rng.uniform(0.5, 3, number),
    }.get(units, np.ones(number))  # fmt: skip
    sealed = np.zeros(number, bool)
    label = rng.integers(0, 2, number)
    if attack == "stratified":
        label = rng.permutation(np.arange(number) % 2)
        for one in (0, 1):
            sealed[rng.permutation(np.flatnonzero(label == one))[: number // 4]] = True
    else:
        sealed[rng.permutation(number)[: number // 2]] = True
    return Gate(size, label, sealed)


@dataclass(eq=False)
class Analyst:
    """Somebody who asks the gate, remembers how answers came out, and pays for all of them."""

    data: Gate
    attack: str
    rng: np.random.Generator
    spent: float = 0.0
    looks: int = 0

    def __post_init__(self) -> None:
        self.vote = np.zeros(len(self.data.size))
        self.inside = np.flatnonzero(self.data.sealed)

    def fresh(self) -> Floats:
        """A model that knows nothing."""
        return np.asarray(self.rng.choice([-1.0, 1.0], len(self.vote)))

    def misses(
        self, signs: Floats, measure: str, asked: Integers, member: bool = False, apart: int = 0, learn: bool = True
    ) -> bool:
        """Say whether a look's interval misses the expected loss; `apart`: looks of another machine that stand before it."""
        data, two = self.data, self.attack == "borders"
        loss, expected = data.losses(_chances(signs, measure), measure)
        seen = np.flatnonzero(~data.sealed)
        sealed = _summed(loss[asked], data.size[asked], self.rng.permutation(len(asked)) // 2 if two else np.arange(len(asked)))
        development = _summed(loss[seen], data.size[seen], np.arange(len(seen)) // (2 if two else 1))
        self.looks += 1
        state = SpendingState(self.looks + apart, self.spent, SPACE if self.attack == "members" else None, member)
        chosen = plan(development, sealed.den, state.nats(DELTA), sealed.bound)
        told = release(chosen, sealed)
        low, high = released_interval(chosen, told)
        self.spent += price(chosen, told)
        truth = float(expected[asked] @ data.size[asked] / data.size[asked].sum())
        if told.cell is not None and learn:
            self.vote += np.sign(truth - told.cell / chosen.steps) * signs
        return not low <= truth <= high


def looks(units: str, attack: str, rng: np.random.Generator) -> Iterator[bool]:
    """Yield for each look whether its interval misses the expected loss."""
    one = Analyst(gate(units, attack, rng), attack, rng)
    measure = {"brier": "brier", "costs": "costs"}.get(units, "error")
    if attack == "merged":
        yield from _merged(one, measure)
        return
    declared = [one.fresh() for _ in range(SPACE)] if attack == "members" else []
    for signs in declared[: SPACE // 2]:
        yield one.misses(signs, measure, one.inside, member=True)
    for look in range(1, LOOKS + 1):
        own = ("error", "brier", "costs")[look % 3] if attack == "measures" else measure
        adaptive = attack != "fixed" and look % 2 == 0
        yield one.misses(one.vote if adaptive else one.fresh(), own, _asked(one, attack, look), learn=not adaptive)
    for signs in declared[SPACE // 2 :]:
        yield one.misses(signs, measure, one.inside, member=True)


def _asked(one: Analyst, attack: str, look: int) -> Integers:
    """The units of a look."""
    inside = one.inside
    if attack != "left out" or look <= 2:
        return inside
    return _agreeing(inside, one.vote) if look > LOOKS // 2 else one.rng.permutation(inside)[: len(inside) // 2]


def _merged(first: Analyst, measure: str) -> Iterator[bool]:
    """Two machines that do not know of each other; each counts, once merged, as if after all of the other's looks."""
    half = LOOKS // 2
    for _ in range(half):
        yield first.misses(first.fresh(), measure, first.inside, apart=half)
    other = Analyst(first.data, first.attack, first.rng, first.spent)
    other.vote = first.vote.copy()  # answers may have travelled by hand
    for _ in range(half - 1):
        yield other.misses(other.fresh(), measure, other.inside, apart=half)
    yield other.misses(other.vote, measure, other.inside, apart=half)


def undeclared(rng: np.random.Generator) -> bool:
    """One look at groups of thirty rows that are sent as rows: does the interval miss?"""
    label, said = (np.repeat(rng.integers(0, 2, 60), 30) for _ in range(2))
    wrong = (label != said).astype(float)
    seen, sealed = UnitLosses.of(wrong[:900], np.ones(900)), UnitLosses.of(wrong[900:], np.ones(900))
    chosen = plan(seen, sealed.den, SpendingState(1, 0.0).nats(DELTA), 1.0)
    low, high = released_interval(chosen, release(chosen, sealed))
    return not low <= 0.5 <= high


def missed(units: str, attack: str, runs: int, first: int = 0) -> int:
    """Runs in which at least one of the looks misses."""
    return sum(any(list(looks(units, attack, np.random.default_rng(run)))) for run in range(first, runs))


def counted(units: str, attack: str, runs: int, kept: Path | None) -> int:
    """The same, in steps whose counts are kept."""
    name, known = f"{attack}, {units}", json.loads(kept.read_text()) if kept is not None and kept.is_file() else {}
    done, many = known.get(name, (0, 0))
    while done < runs:
        until = min(runs, done + STEP)
        done, many = until, many + missed(units, attack, until, done)
        if kept is not None:
            kept.write_text(json.dumps({**known, name: (done, many)}, indent=1))
    return int(many)


def _loss(said: Floats, label: int, measure: str) -> Floats:
    if measure == "brier":
        return np.asarray((said - label) ** 2)
    wrong = (said > 0.5) != bool(label)
    return np.asarray(wrong * (COSTS[label] if measure == "costs" else 1.0))


def _chances(vote: Floats, measure: str) -> Floats:
    return np.asarray(1 / (1 + np.exp(-2 * np.clip(vote, -2, 2))) if measure == "brier" else (vote > 0).astype(float))


def _agreeing(inside: Integers, vote: Floats) -> Integers:
    """The half of the units on which the votes are clearest."""
    return np.asarray(inside[np.argsort(-np.abs(vote[inside]), kind="stable")[: len(inside) // 2]])


def _summed(loss: Floats, size: Floats, unit: Integers) -> UnitLosses:
    return UnitLosses.of(np.bincount(unit, loss * size), np.bincount(unit, size))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--attack", nargs="+", default=ATTACKS, choices=ATTACKS)
    parser.add_argument("--units", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--kept", type=Path, help="file of the counts so far")
    args = parser.parse_args()
    print(f"| attack | units | runs with a miss, of {args.runs} | 95 % interval |")
    print("|---|---|---|---|")
    for attack in args.attack:
        for units in args.units:
            many = counted(units, attack, args.runs, args.kept)
            low, high = clopper_pearson(many, args.runs)
            print(f"| {attack} | {units} | {many} | {low:.3f} to {high:.3f} |", flush=True)
    rng = np.random.default_rng(0)
    print(f"| undeclared | groups sent as rows | {sum(undeclared(rng) for _ in range(args.runs))} | no promise |")


if __name__ == "__main__":
    main()
