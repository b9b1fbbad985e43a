"""The attacks of `guard_coverage` made through the real gate: sealing, ledger, replay, quota, merge and audit take part.

    python -m benchmarks.attacks.guard_gate_attacks [--runs 20] [--scenario members] [--release full]

Noise labels, so that every rate is one half. The attacker hands in random predictions, turns round what came out badly, and has
the vote shown: 60 rows, 12 looks and the vote. How many runs have a look whose 95 % interval misses is counted; of 20 runs of a
true method 5 or more do so once in 390 times. Without a quota, which would end the attack. The scenarios:

    plain       no space was declared
    members     six models whose predictions were on record beforehand are looked at besides, three before and three after
    dropped     in the end sets are sealed of the rows on which a declared model agrees with the vote
    measures    every other look is judged by the balanced error
    shrunk      each look is at a set of a row less than the one before, which row the attacker says
    merged      two homes under one key that do not know of each other; the audit of the merged ledger recomputes
"""

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home

RELEASES = ("full", "grid", "predicted", "passfail", "ladder")
SCENARIOS = ("plain", "members", "dropped", "measures", "shrunk", "merged")
ROWS, CHOOSING, LOOKS, SPACE = 60, 20, 12, 6
MOST = 4  # of 20 runs
SETTINGS: dict[str, dict[str, Any]] = {
    "passfail": {"target": 0.5},
    "grid": {"resolution": 0.01},
    "ladder": {"resolution": 0.02},
}


@dataclass
class GateAttack:
    """One attacker at one home: the rows, what is declared, the votes so far, and whether a look missed."""

    release: str
    home: Path
    rng: np.random.Generator
    declared: tuple[str, ...] = ()
    votes: np.ndarray = field(default_factory=lambda: np.zeros(ROWS))
    missed: bool = False
    turn: int = 0

    def __post_init__(self) -> None:
        settings = {"release": self.release, "quota": None, "anchors": (), **SETTINGS.get(self.release, {})}
        self.gate = Gate(make("guard", "warn", **settings), self.home / "runs", (), Home(self.home))
        self._sealed: dict[tuple[bytes, str], TestSetDeclaration] = {}

    def rows_are(self, values: np.ndarray, labels: np.ndarray) -> None:
        features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
        self.task = Task(name="noise", features=features, values=values, rows=np.arange(len(values)), classes=("a", "b"),
                         target=labels.astype(np.int32))  # fmt: skip

    def sealing(self, rows: np.ndarray, measure: str = "error") -> TestSetDeclaration:
        """The test set of some of the first rows; the last ones choose."""
        place = (rows.tobytes(), measure)
        if place not in self._sealed:
            test, learnt = self.task.take(rows), self.task.take(np.arange(ROWS, ROWS + CHOOSING))
            self._sealed[place] = TestSetDeclaration(
                seal(test), learnt, make("measure", measure), "s", "runs/1", "spec", {}, self.declared
            )
        return self._sealed[place]

    def select(self, name: str, said: np.ndarray) -> None:
        """Put a model's predictions on record, before anything is answered."""
        rows = np.arange(ROWS)
        self.gate.select(self.sealing(rows), _chosen(name), lambda _: Outputs(said[None].astype(np.int32), None))

    def look(self, said: np.ndarray, rows: np.ndarray, name: str = "", measure: str = "error") -> float:
        """One look: 1 where it is said to be better than a coin, −1 worse, 0 where nothing is told."""
        self.turn += 1

        def predict(_: Table) -> Outputs:
            return Outputs(said[rows][None].astype(np.int32), None)

        request = LookRequest(self.sealing(rows, measure), _chosen(name or f"model {self.turn}"), predict)
        result = self.gate.look(request)
        if result.interval is not None:
            self.missed |= not result.interval[0] <= 0.5 <= result.interval[1]
        symbol = next(e.facts["symbol"] for e in reversed(self.gate.session.ledger.entries()) if e.kind == "reveal")
        if symbol in ("pass", "fail"):
            return 1.0 if symbol == "pass" else -1.0
        if symbol.endswith("stays") or result.score is None:
            return -0.2
        return float(np.sign(0.5 - result.score))

    def learn(self, rows: np.ndarray, measure: str = "error") -> None:
        said = self.rng.integers(0, 2, ROWS)
        self.votes += self.look(said, rows, measure=measure) * (2 * said - 1)

    @property
    def vote(self) -> np.ndarray:
        return (self.votes > 0).astype(int)


def _chosen(name: str) -> SelectionSummary:
    return SelectionSummary(name, 0.5, 1000, 0.5, 1)


def shows(scenario: str, release: str) -> bool:
    """Say whether the gate seals this question under that release: where error rates alone are shown, no other measure is."""
    return scenario != "measures" or release not in ("passfail", "ladder")


def missed(release: str, scenario: str, folder: Path, seed: int) -> bool:
    """One run: does any look's interval miss one half?"""
    rng = np.random.default_rng([seed, SCENARIOS.index(scenario), RELEASES.index(release)])
    values, labels = rng.normal(size=(ROWS + CHOOSING, 3)).round(4), rng.integers(0, 2, ROWS + CHOOSING)
    if scenario == "merged":
        return _merged(release, folder, rng, values, labels)
    names = tuple(f"declared {i}" for i in range(SPACE)) if scenario in ("members", "dropped") else ()
    attack, members, all_rows = GateAttack(release, folder, rng, names), rng.integers(0, 2, (SPACE, ROWS)), np.arange(ROWS)
    attack.rows_are(values, labels)
    for name, said in zip(names, members):
        attack.select(name, said)
    inside = scenario == "members"
    for place in range(SPACE // 2) if inside else ():
        attack.look(members[place], all_rows, names[place])
    rows = _learnt(attack, scenario)
    attack.look(attack.vote, rows)
    for place in range(SPACE // 2, SPACE) if inside else ():
        attack.look(members[place], all_rows, names[place])
    for place in range(SPACE // 2) if scenario == "dropped" else ():
        attack.look(members[place], np.flatnonzero(members[place] == attack.vote), names[place])
    return attack.missed


def _learnt(attack: GateAttack, scenario: str) -> np.ndarray:
    rows = np.arange(ROWS)
    for turn in range(LOOKS):
        attack.learn(rows, "balanced_error" if scenario == "measures" and turn % 2 else "error")
        if scenario == "shrunk":
            rows = np.delete(rows, np.argmin(np.abs(attack.votes[rows])))
    return rows


def _merged(release: str, folder: Path, rng: np.random.Generator, values: np.ndarray, labels: np.ndarray) -> bool:
    """Half of the looks at each of two homes, the second of which heard of the first one's answers; then the merged audit."""
    Home(folder / "one").key()
    shutil.copytree(folder / "one" / "keys", folder / "two" / "keys")
    one, two = GateAttack(release, folder / "one", rng), GateAttack(release, folder / "two", rng)
    rows = np.arange(ROWS)
    for attack in (one, two):
        attack.rows_are(values, labels)
        attack.votes = one.votes.copy()
        for _ in range(LOOKS // 2):
            attack.learn(rows)
    two.look(two.vote, rows)
    one.gate.merge(str(folder / "two" / "ledger.db"))
    looks = [look for found in audit(one.gate)["test_sets"] for look in found["looks"]]
    assert len(looks) == LOOKS + 1
    assert all(look["superseded"] for look in looks)
    limits = [look["superseded"]["interval"] for look in looks if look["superseded"]["interval"]]
    return any(not low <= 0.5 <= high for low, high in limits)


def table(runs: int, scenarios: tuple[str, ...] = SCENARIOS, releases: tuple[str, ...] = RELEASES) -> bool:
    """Print how many runs miss, by scenario and release; true where none misses too often."""
    print(f"{f'through the gate, of {runs}':24}" + "".join(f"{name:>11}" for name in releases), flush=True)
    good = True
    for scenario in scenarios:
        counts, start = [], time.process_time()
        for release in releases:
            with tempfile.TemporaryDirectory() as folder:
                counts.append(sum(missed(release, scenario, Path(folder) / str(run), run) for run in range(runs)))
        good &= max(counts) <= max(1, MOST * runs // 20)
        spent = time.process_time() - start
        print(f"{scenario:24}" + "".join(f"{count:>11}" for count in counts) + f"   {spent:.0f} s", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--scenario", choices=SCENARIOS)
    parser.add_argument("--release", choices=RELEASES)
    options = parser.parse_args()
    scenarios = (options.scenario,) if options.scenario else SCENARIOS
    releases = (options.release,) if options.release else RELEASES
    return 0 if table(options.runs, scenarios, releases) else 1


if __name__ == "__main__":
    sys.exit(main())
