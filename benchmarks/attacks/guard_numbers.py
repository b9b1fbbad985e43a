"""Does any look at numbers miss the truth? Attacks on noise under every question that can be asked of numbers, 500 runs each.

    python -m benchmarks.attacks.guard_numbers [--runs 500] [--scenario ...] [--gate 20]

Sealed numbers lie about +1 or −1, by a fair coin, with noise of heavy tails (Student's t of 3 degrees of freedom, times 0.3).
The attacker predicts +1 or −1 row by row, keeps what came out well and turns what did not, and has the vote shown. Whatever he
does, the shares of rows off by more than t and than b, and the mean of errors capped at b, are known. At δ = .05 at most 41 of
500 runs may have a miss of any of them. The questions:

    share       the rows off by more than t
    tolerances  the same, at each look by the tolerance at which he came out best so far
    absolute    mean absolute error, each counted at most b, beside the share
    squares     mean squared error, likewise
    turns       the three of them in turn
    shrunk      absolute errors, of a row less at each look, which row the attacker says
    quantiles   what half of the rows, and nine in ten, are off by at most, beside the share

and with noise that has no variance (t of 2 degrees of freedom, times 0.3) or is lopsided (exp of a standard normal, less its
median, times 0.3), the cap at its usual place for each: what a guess of the median exceeds for one row in a hundred:

    t2 absolute, t2 squares, t2 quantiles, log-normal absolute, log-normal squares, log-normal quantiles
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import integrate, optimize
from scipy.stats import lognorm
from scipy.stats import t as student

from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Integers, NumberOutputs, NumberTask, Sealed, Table, seal
from modelsel.guard.bounded_losses import SealedSide, form_of, plan_release
from modelsel.guard.gate import Gate
from modelsel.guard.labels import wrong
from modelsel.guard.release import Counts, LabelSummary, QuantileRelease, count_limits, shown_quantiles
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from modelsel.measure.capped import CappedError, ErrorQuantiles
from modelsel.measure.within import Within
from modelsel.statistics.certificate import SpendingState
from modelsel.statistics.quantiles import plan_quantile
from modelsel.study.final_test import word_answer

HEAVY = tuple(f"{law} {asked}" for law in ("t2", "log-normal") for asked in ("absolute", "squares"))
MEDIANS = ("quantiles", "t2 quantiles", "log-normal quantiles")
SCENARIOS = ("share", "tolerances", "absolute", "squares", "turns", "shrunk", *HEAVY, *MEDIANS)
ROWS, CHOOSING, LOOKS, DELTA, MOST = 100, 300, 20, 0.05, 41
STEP, TOLERANCES = 1.0, (0.4, 0.7, 1.0, 1.4)
SPREAD, USUAL = 0.3, "t3"
QUANTILES = (0.5, 0.9)
Question = Within | CappedError | ErrorQuantiles
Told = tuple[float, tuple[float, float] | None, dict[str, Any]]  # a share with its interval, and what stands beside


@dataclass(frozen=True)
class Law:
    """How sealed numbers lie about ±STEP, and what an error counts at most."""

    noise: Any  # a distribution of SciPy's
    cap: float
    shift: float = 0.0  # taken off the noise, before it is made smaller by SPREAD

    def draw(self, rng: np.random.Generator, rows: int) -> Floats:
        """Draw the target."""
        return rng.choice([-STEP, STEP], rows) + SPREAD * (self.noise.rvs(rows, random_state=rng) - self.shift)

    def beyond(self, error: float) -> float:
        """The chance of an absolute error above this, whatever is predicted: of the four signs of target and prediction."""
        total = 0.0
        for centre in (0.0, -2 * STEP, 2 * STEP):  # target less prediction
            ends = [(end - centre) / SPREAD + self.shift for end in (-error, error)]
            total += (0.5 if centre == 0 else 0.25) * float(self.noise.cdf(ends[0]) + self.noise.sf(ends[1]))
        return total


LAWS = {USUAL: Law(student(3), 4.0), "t2": Law(student(2), 3.1), "log-normal": Law(lognorm(1.0), 2.5, 1.0)}


@cache
def truth(law: Law, measure: Question) -> float:
    """What every prediction of ±STEP scores in the mean: ∫ p e^(p−1) P(error > e) de up to the cap."""
    if isinstance(measure, Within):
        return law.beyond(measure.tolerance)

    def slope(error: float) -> float:
        return measure.power * error ** (measure.power - 1) * law.beyond(error)

    return float(integrate.quad(slope, 0, measure.cap, points=[SPREAD, 2 * STEP], limit=200)[0])


@cache
def quantile(law: Law, q: float) -> float:
    """What the absolute error of every prediction of ±STEP is at most, with this probability."""
    return float(optimize.brentq(lambda error: law.beyond(error) - (1 - q), 0.0, 1e3, xtol=1e-12))


@dataclass
class NumberAttack:
    """One run against one set of numbers: what was answered, spent and missed so far; with a gate, by that gate."""

    rng: np.random.Generator
    home: Path | None = None
    law: Law = LAWS[USUAL]
    votes: Floats = field(default_factory=lambda: np.zeros(ROWS))
    best: dict[float, float] = field(default_factory=lambda: dict.fromkeys(TOLERANCES, 0.0))
    spent: float = 0.0
    looks: int = 0
    missed: bool = False
    sides: dict[bytes, Sealed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = self.rng.normal(size=(ROWS + CHOOSING, 3)).round(4)
        features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
        target = self.law.draw(self.rng, ROWS + CHOOSING)
        self.task = NumberTask(name="noise", features=features, values=values, rows=np.arange(len(values)), target=target)
        self.learnt = self.task.take(np.arange(ROWS, ROWS + CHOOSING))
        self.seen = OutOfFold(NumberOutputs(STEP * self.rng.choice([-1.0, 1.0], (1, CHOOSING))), self.learnt.target)
        settings = {"quota": None, "anchors": ()}
        self.gate = (
            None if self.home is None else Gate(make("guard", "warn", **settings), self.home / "runs", (), Home(self.home))
        )

    def look(self, signs: Floats, rows: Integers, measure: Question) -> float:
        """One look; how much better than the truth it came out."""
        self.looks += 1
        ask = self._by_formula if self.gate is None else self._through_the_gate
        share, limits, beside = ask(NumberOutputs(STEP * signs[rows][None]), rows, measure)
        self._check(limits, truth(self.law, Within(measure.tolerance)))
        if isinstance(measure, CappedError):
            self._check(beside["interval"], truth(self.law, measure))
            self._check(beside["above"]["interval"], truth(self.law, Within(measure.cap)))
            return truth(self.law, measure) - beside["score"]
        for one in beside.get("quantiles", ()):
            low, high = one["interval"]
            right = quantile(self.law, one["q"])
            self.missed |= not (low < right and (high is None or right <= high))
        if beside:
            return quantile(self.law, QUANTILES[0]) - (beside["quantiles"][0]["value"] or measure.end)
        return truth(self.law, measure) - share

    def _check(self, limits: tuple[float, float] | None, right: float) -> None:
        self.missed |= limits is not None and not limits[0] <= right <= limits[1]

    def _by_formula(self, said: NumberOutputs, rows: Integers, measure: Question) -> Told:
        """What the gate computes, without a ledger."""
        target, n = self.task.target[rows], len(rows)
        count = int(wrong(measure, said, target, 0).sum())
        capped = isinstance(measure, CappedError)
        quantiles = isinstance(measure, ErrorQuantiles)
        nats = SpendingState(self.looks, self.spent, None, False).nats(DELTA / (3 if capped or quantiles else 1))
        foreseen = (float(wrong(measure, self.seen.outputs, self.seen.truth, 0).mean()), CHOOSING)
        score = float(measure.losses(target, said, 0).mean())
        channel, losses, above, within = Counts(n, foreseen), None, None, ()
        if quantiles:
            plans = tuple(plan_quantile(q, n, lambda c: count_limits((c, c), n, nats)) for q in measure.quantiles)
            shares = tuple(one / CHOOSING for one in measure.within(self.seen.truth, self.seen.outputs))
            channel = QuantileRelease(channel, measure.grid, plans, shares, CHOOSING)
            within = measure.within(target, said)
        if capped:
            form = form_of(measure, 0, self.seen)
            channel = plan_release(form, self.seen, SealedSide(said, None, None), nats, None, foreseen)
            losses, above = form.losses(target, said, None, None), form.above(target, said)
        shown = channel.release(LabelSummary(n, count, score, (), float(n), losses, above, within))
        self.spent += shown.price
        limits = count_limits((count, count), n, nats)
        if quantiles:
            return count / n, limits, {"quantiles": shown_quantiles(channel.facts, shown.places)}
        if above is None:
            return count / n, limits, {}
        beside = {"score": shown.score, "interval": shown.interval(n, nats, None, channel.plan),
                  "above": {"interval": count_limits((above, above), n, nats)}}  # fmt: skip
        return count / n, limits, beside

    def _through_the_gate(self, said: NumberOutputs, rows: Integers, measure: Question) -> Told:
        """One look at the real gate."""
        if rows.tobytes() not in self.sides:
            self.sides[rows.tobytes()] = seal(self.task.take(rows))
        sealing = TestSetDeclaration(self.sides[rows.tobytes()], self.learnt, measure, "s", "runs/1", "spec")
        rate = float(wrong(measure, self.seen.outputs, self.seen.truth, 0).mean())
        mean = float(measure.losses(self.seen.truth, self.seen.outputs, 0).mean())
        chosen = SelectionSummary(f"model {self.looks}", mean, CHOOSING, rate, 1)

        def predict(_: Table) -> NumberOutputs:
            return said

        told = word_answer(self.gate.look(LookRequest(sealing, chosen, predict, seen=self.seen)), measure)
        return told.score, told.interval, told.beside or {}


def question(scenario: str, attack: NumberAttack, turn: int) -> Question:
    """What is asked at a look."""
    usual = TOLERANCES[2]
    if scenario == "tolerances":
        return Within(max(attack.best, key=attack.best.__getitem__) if turn % 2 else TOLERANCES[turn // 2 % len(TOLERANCES)])
    if scenario in MEDIANS:
        return ErrorQuantiles(usual, attack.law.cap, QUANTILES)
    powers = {"absolute": (1,), "shrunk": (1,), "squares": (2,), "share": (0,), "turns": (0, 1, 2)}[scenario.split()[-1]]
    power = powers[turn % len(powers)]
    return CappedError(usual, attack.law.cap, power) if power else Within(usual)


def missed(scenario: str, rng: np.random.Generator, home: Path | None = None) -> bool:
    """One run: does any look miss?"""
    law = LAWS[scenario.split()[0] if " " in scenario else USUAL]
    attack, rows = NumberAttack(rng, home, law), np.arange(ROWS)
    for turn in range(LOOKS):
        signs, measure = rng.choice([-1.0, 1.0], ROWS), question(scenario, attack, turn)
        gained = attack.look(signs, rows, measure)
        attack.votes += np.sign(gained) * signs
        attack.best[measure.tolerance] = attack.best.get(measure.tolerance, 0.0) + gained
        if scenario == "shrunk":
            rows = np.delete(rows, np.argmin(np.abs(attack.votes[rows])))
    attack.look(np.where(attack.votes > 0, 1.0, -1.0), rows, question(scenario, attack, LOOKS))
    return attack.missed


def table(runs: int, scenarios: tuple[str, ...] = SCENARIOS, gate: bool = False) -> bool:
    """Print how many runs miss, by scenario; true where none misses too often."""
    good = True
    for scenario in scenarios:
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            homes = [Path(folder) / str(run) if gate else None for run in range(runs)]
            count = sum(
                missed(scenario, np.random.default_rng([run, SCENARIOS.index(scenario)]), home)
                for run, home in enumerate(homes)
            )
        where = "through the gate" if gate else "by the formulas"
        print(f"{scenario:20}{count:>4} of {runs} {where}, {time.process_time() - start:.0f} s", flush=True)
        good &= count <= max(2, MOST * runs / 500)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--gate", type=int, default=0)
    parser.add_argument("--scenario", choices=SCENARIOS)
    options = parser.parse_args()
    scenarios = (options.scenario,) if options.scenario else SCENARIOS
    good = table(options.runs, scenarios) if options.runs else True
    return 0 if (table(options.gate, scenarios, gate=True) if options.gate else True) and good else 1


if __name__ == "__main__":
    sys.exit(main())
