"""Loops at a gate: what they gain, and whether the final number is the truth.

`python -m benchmarks.attacks.gate_loops [RUNS]` by formulas, `... gate RUNS` at real gates.

500 runs of 100 steps on 1,000 rows that judge and 1,000 sealed ones, error .30 at the start. A proposal changes 3 % of the
answers of the best so far. One in twenty is better by .01 (the greedy loop), or none is (the lucky one); of the others half
are worse by .005. The tampering loop knows the labels of a fifth of the rows that judge, and hands them in with every tenth
proposal. The truth is the error rate in the population, which the simulation knows. Rules: one standard error on rows that
judge (the gate), any gain there, and any gain on the sealed rows, whose score is then reported, as many do.

    gap     mean of truth − reported: how much better than it is a model is said to be
    gain    mean true gain since the first proposal
    false   share of the kept proposals that are no better in truth
    missed  runs whose final interval does not hold the truth (41 of 500 may, at 95 % with a chance of .001)
    told    runs in which the close says that the rows that judged say more than verdicts can have taught (G028)
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, sqrt
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import modelsel
from modelsel.statistics.certificate import index_weight, interval
from modelsel.statistics.paired import improvement, kept_by_luck
from modelsel_exam.proposals import says_too_much
from modelsel_exam.terms import VERDICTS

RUNS, STEPS, ROWS, START, CHURN = 500, 100, 1000, 0.30, 0.03
WORSE, LOSS = 0.5, 0.005
DELTA = 0.05 * (1 - VERDICTS)


@dataclass(frozen=True)
class Loop:
    """How often a proposal is better, by how much, and how many of the rows that judge it cheats on."""

    name: str
    better: float
    gain: float = 0.01
    known: float = 0.0
    every: int = 10


@dataclass(frozen=True)
class End:
    """The end of one run."""

    truth: float
    reported: float
    kept: int
    false: int
    missed: bool
    told: bool


LOOPS = (Loop("greedy", 0.05), Loop("lucky", 0.0), Loop("tampering", 0.05, known=0.2))
Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], bool]
RULES: dict[str, Rule] = {
    "one standard error": lambda before, after, _b, _a: improvement(before, after).exceeds(1.0),
    "any gain": lambda before, after, _b, _a: improvement(before, after).exceeds(0.0),
    "any gain on sealed rows": lambda _b, _a, before, after: improvement(before, after).exceeds(0.0),
}


def run(loop: Loop, rule: Rule, rng: np.random.Generator, steps: int = STEPS, rows: int = ROWS) -> End:
    """One loop under one rule; the number that is reported is that of the sealed rows."""
    truth, kept, false = START, 0, 0
    judge, sealed = (rng.random(rows) < truth for _ in range(2))
    known = rng.random(rows) < loop.known
    for step in range(steps):
        gain = loop.gain if rng.random() < loop.better else -LOSS * (rng.random() < WORSE)
        mend, spoil = (CHURN + gain) / 2 / truth, (CHURN - gain) / 2 / (1 - truth)
        after, apart = (_changed(wrong, mend, spoil, rng) for wrong in (judge, sealed))
        if loop.known and step % loop.every == 0:
            after = after & ~known
        if rule(judge.astype(float), after.astype(float), sealed.astype(float), apart.astype(float)):
            judge, sealed, truth = after, apart, truth - gain
            kept, false = kept + 1, false + (gain <= 0)
    errors = int(sealed.sum())
    low, high = interval(errors, errors, rows, log(2 / DELTA) - log(index_weight(1)))
    told = says_too_much(int(judge.sum()), rows, errors, rows, steps, kept)
    return End(truth, errors / rows, kept, false, not low <= truth <= high, told)


def _changed(wrong: np.ndarray, mend: float, spoil: float, rng: np.random.Generator) -> np.ndarray:
    """Errors after a change: some wrong answers are mended, some right ones spoiled."""
    drawn = rng.random(len(wrong))
    return np.where(wrong, drawn >= mend, drawn < spoil)


def table(runs: int = RUNS) -> Iterator[str]:
    yield f"{'loop':<10} {'rule':<24} {'gap':>8} {'SE':>7} {'gain':>7} {'kept':>5} {'false':>6} {'missed':>7} {'told':>5}"
    for loop in LOOPS:
        for name, rule in RULES.items():
            ends = [run(loop, rule, np.random.default_rng([7, number])) for number in range(runs)]
            gaps = np.array([end.truth - end.reported for end in ends])
            kept = sum(end.kept for end in ends)
            yield (
                f"{loop.name:<10} {name:<24} {gaps.mean():>8.4f} {gaps.std(ddof=1) / sqrt(runs):>7.4f} "
                f"{np.mean([START - end.truth for end in ends]):>7.4f} {kept / runs:>5.1f} "
                f"{sum(end.false for end in ends) / max(1, kept):>6.2f} {sum(end.missed for end in ends):>7} "
                f"{sum(end.told for end in ends):>5}"
            )
    yield f"of 100 equal proposals {100 * kept_by_luck(1.0):.1f} are kept by luck at one standard error"


# The same at the real gate: a greedy loop of cuts in two noisy columns, the truth known from a large sample.

TABLE, STEPS_THERE = 1200, 20


def drawn(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """A table whose class follows two of four columns, with noise."""
    values = rng.normal(size=(rows, 4)).round(6)
    label = np.where(values[:, 0] + 0.5 * values[:, 1] + rng.normal(size=rows) > 0, "yes", "no")
    return pd.DataFrame(values, columns=list("abcd")).assign(label=label)


def at_the_gate(runs: int) -> Iterator[str]:
    """Loops at real gates, each in a home of its own: gap, and intervals that miss."""
    gaps, missed = [], 0
    for number in range(runs):
        rng = np.random.default_rng([8, number])
        whole = drawn(100_000, rng)
        with TemporaryDirectory() as folder:
            os.environ["MODELSEL_HOME"] = f"{folder}/home"
            gate = modelsel.create_gate(drawn(TABLE, rng), f"{folder}/gate", "label")
            best = np.array([1.0, 0.0, 0.0, 0.0])
            for step in range(STEPS_THERE):
                weights = best + rng.normal(scale=0.4, size=4) * (step > 0)
                if gate.propose(_cut(gate.questions, weights), f"step {step}").verdict == "keep":
                    best = weights
            ended = gate.close()
        truth = float((_cut(whole, best) != whole.label).mean())
        assert ended.score is not None
        assert ended.interval is not None
        gaps.append(truth - ended.score)
        missed += not ended.interval[0] <= truth <= ended.interval[1]
    se = np.std(gaps, ddof=1) / sqrt(runs)
    yield f"at the gate, {runs} loops of {STEPS_THERE}: gap {np.mean(gaps):.4f} ± {se:.4f}, {missed} missed"


def _cut(frame: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
    return np.where(frame[list("abcd")].to_numpy() @ weights > 0, "yes", "no")


if __name__ == "__main__":
    words = sys.argv[1:]
    for line in at_the_gate(int(words[1])) if words[:1] == ["gate"] else table(int(words[0]) if words else RUNS):
        print(line, flush=True)
