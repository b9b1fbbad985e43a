"""Does any look of a run miss the truth? Attacks on noise labels under every way of releasing answers, 500 runs each.

    python -m benchmarks.attacks.guard_coverage [--runs 500] [--gate 20]

The attacker submits random predictions, keeps what came out well and turns what did not, and has the vote shown. A true 95 %
method lets at most 25 of 500 runs miss in the mean; more than 41 happen once in a thousand times. The scenarios do more:

    plain       no space was declared
    members     ten declared models are looked at besides, before and after the vote
    dropped     in the end rows are left out on which a declared model disagrees with the vote
    measures    every other look is judged by the balanced error
    shrunk      each look is at a set of a row less than the one before, which row the attacker says
    merged      two machines that do not know of each other, then merged
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.common.timing import Row
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.release import (
    LabelSummary,
    LookTerms,
    Released,
    ReleaseMechanism,
    ScoreGridRelease,
    ShownAnswer,
    count_channel,
)
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from modelsel.runner.final_fit import fit
from modelsel.statistics.certificate import SpendingState

RELEASES = ("full", "grid", "predicted", "passfail", "ladder")
SCENARIOS = ("plain", "members", "dropped", "measures", "shrunk", "merged")
ROWS, LOOKS, SPACE, DELTA, MOST = 200, 40, 10, 0.05, 41
FORESEEN = (0.5, 1000)


@dataclass
class Attack:
    """One run against one set of labels: what was answered, spent and missed so far."""

    release: str
    rng: np.random.Generator
    space: int | None = None
    labels: np.ndarray = field(init=False)
    votes: np.ndarray = field(init=False)
    spent: float = 0.0
    looks: int = 0
    missed: bool = False
    past: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.labels = self.rng.integers(0, 2, ROWS)
        self.votes = np.zeros(ROWS)

    def look(
        self, said: np.ndarray, rows: np.ndarray, member: bool = False, balanced: bool = False, apart: int = 0
    ) -> Released:
        """One look; with `apart` others of another machine that it did not know, and is recomputed for."""
        wrong, labels = said[rows] != self.labels[rows], self.labels[rows]
        classes = tuple(int((labels == code).sum()) for code in (0, 1))
        rates = [float(wrong[labels == code].mean()) for code in (0, 1) if (labels == code).any()]
        score = float(np.mean(rates)) if balanced else float(wrong.mean())
        shown = self._channel(len(labels), balanced).release(
            LabelSummary(len(labels), int(wrong.sum()), score, classes, len(labels))
        )
        self.looks += 1
        standing = SpendingState(self.looks + apart, self.spent, self.space, member)
        limits = shown.interval(len(labels), standing.nats(DELTA))
        self.missed |= limits is not None and not limits[0] <= 0.5 <= limits[1]
        self.spent += shown.price
        if not balanced:
            self.past.append(ShownAnswer(self.looks, len(labels), shown.symbol, shown.score, limits))
        return shown

    def _channel(self, n: int, balanced: bool) -> ReleaseMechanism:
        if balanced:
            return ScoreGridRelease("balanced_error", n, n, (0.0, 1.0), None, None)
        terms = LookTerms(self.release, steps={"grid": 100, "ladder": 50}.get(self.release), target=0.5)
        return count_channel(terms, n, FORESEEN, list(self.past), self.looks + 1)

    def learn(self, rows: np.ndarray, **how: bool | int) -> None:
        """A random submission, remembered by how it came out."""
        said = self.rng.integers(0, 2, ROWS)
        shown = self.look(said, rows, **how)  # type: ignore[arg-type]
        better = {"pass": 1.0, "fail": -1.0}.get(shown.symbol, np.sign(0.5 - shown.score) if shown.score is not None else 0.0)
        better = -0.2 if shown.symbol.endswith("stays") else better
        self.votes += better * (2 * said - 1)

    @property
    def vote(self) -> np.ndarray:
        return (self.votes > 0).astype(int)


def missed(release: str, scenario: str, rng: np.random.Generator) -> bool:
    """One run: does any look miss?"""
    attack = Attack(release, rng, SPACE if scenario in ("members", "dropped") else None)
    if scenario == "merged":
        return _merged(attack, np.arange(ROWS))
    members, inside = rng.integers(0, 2, (SPACE, ROWS)), scenario == "members"
    _declared(attack, members[: SPACE // 2] if inside else ())
    rows = _learnt(attack, scenario)
    attack.look(attack.vote, rows)
    _declared(attack, members[SPACE // 2 :] if inside else ())
    for said in members if scenario == "dropped" else ():
        attack.look(said, np.flatnonzero(said == attack.vote))  # an adaptive look, whoever predicts
    return attack.missed


def _declared(attack: Attack, members: Iterable[np.ndarray]) -> None:
    for said in members:
        attack.look(said, np.arange(ROWS), member=True)


def _learnt(attack: Attack, scenario: str) -> np.ndarray:
    """The random submissions; the rows on which the vote is asked about."""
    rows = np.arange(ROWS)
    for look in range(LOOKS):
        attack.learn(rows, balanced=scenario == "measures" and look % 2 == 1)
        if scenario == "shrunk":
            rows = np.delete(rows, np.argmin(np.abs(attack.votes[rows])))
    return rows


def _merged(attack: Attack, rows: np.ndarray) -> bool:
    """Each machine's looks count as if after all of the other's: their answers may have travelled by hand."""
    half = LOOKS // 2
    first = Attack(attack.release, attack.rng)
    first.labels = attack.labels
    other = Attack(attack.release, attack.rng)
    other.labels = attack.labels
    for _ in range(half):
        first.learn(rows, apart=half)
    other.spent = first.spent  # what it may have heard of
    other.votes = first.votes.copy()
    for _ in range(half - 1):
        other.learn(rows, apart=half)
    other.look(other.vote, rows, apart=half)
    return first.missed or other.missed


def through_the_gate(release: str, folder: Path, seed: int, rows: int = 120, looks: int = 12) -> bool:
    """New development labels beside each test row before every look, then the vote: knn with k = 1, declared by name."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 3)).round(4)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
    test = Task(name="noise", features=features, values=values, rows=np.arange(rows), classes=("a", "b"),
                target=rng.integers(0, 2, rows).astype(np.int32))  # fmt: skip
    candidate, votes = Candidate(make("learner", "knn", k=1)), np.zeros(rows)
    settings: dict[str, object] = {"release": release, "quota": None, **({"target": 0.5} if release == "passfail" else {})}
    settings |= {"resolution": 0.01} if release in ("grid", "ladder") else {}
    gate = Gate(make("guard", "warn", **settings), folder / "runs", (), Home(folder / "home"))

    def asked(said: np.ndarray) -> tuple[str, float | None, bool]:
        learnt = Task(name="noise", features=features, values=values + 1e-3, rows=np.arange(rows), classes=("a", "b"),
                      target=said.astype(np.int32))  # fmt: skip
        sealing = TestSetDeclaration(seal(test), learnt, make("measure", "error"), "s", "runs/1", "spec", {}, (candidate.id,))
        final = fit(candidate, learnt, 0)

        def predict(table: Table) -> Outputs:
            return Outputs(final.predict(table)[None], None)

        result = gate.look(LookRequest(sealing, SelectionSummary(candidate.id, 0.5, rows, 0.5, 1), predict, candidate))
        held = result.interval is None or result.interval[0] <= 0.5 <= result.interval[1]
        return str(result.release), result.score, not held

    failed = False
    for _ in range(looks):
        said = rng.integers(0, 2, rows)
        _, score, miss = asked(said)
        votes += (2 * said - 1) * (np.sign(0.5 - score) if score is not None else 0.0)
        failed |= miss
    return failed | asked((votes > 0).astype(int))[2]


def table(runs: int, seed: int = 14, most: Callable[[int], float] | None = None) -> bool:
    """How many runs miss, by scenario and release; true where none misses more often than a true method would."""
    allowed = (most or (lambda count: MOST * count / 500))(runs)
    print(f"{f'runs of {runs} in which a look misses':40}" + "".join(f"{name:>11}" for name in RELEASES))
    good = True
    for scenario in SCENARIOS:
        counts = []
        for release in RELEASES:
            rng = np.random.default_rng([seed, SCENARIOS.index(scenario), RELEASES.index(release)])
            counts.append(sum(missed(release, scenario, rng) for _ in range(runs)))
        good &= max(counts) <= allowed
        print(f"{scenario:40}" + "".join(f"{count:>11}" for count in counts))
    return good


def gates(runs: int) -> bool:
    """The same through the real gate."""
    counts = []
    for release in RELEASES:
        with tempfile.TemporaryDirectory() as folder:
            counts.append(sum(through_the_gate(release, Path(folder) / str(run), run) for run in range(runs)))
    print(f"{f'through the gate, of {runs}':40}" + "".join(f"{count:>11}" for count in counts))
    return max(counts) <= max(1, MOST * runs // 500 + 2)


def rows() -> Iterator[Row]:
    """No timing: the table is printed, and asserted."""
    assert table(500)
    assert gates(20)
    yield from ()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--gate", type=int, default=20)
    options = parser.parse_args()
    return 0 if table(options.runs) and (not options.gate or gates(options.gate)) else 1


if __name__ == "__main__":
    sys.exit(main())
