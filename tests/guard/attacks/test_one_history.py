"""However looks are spread over ledgers, they count as in one ledger: random histories, beside the same in a single ledger.

The other ledger is the oracle: there nothing has to be joined. A colleague writes to shared ledgers, with and without the same
rows, under the key that the team shares; ledgers are merged into each other.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.outcome import TestResult
from modelsel.core.types import Task
from modelsel.guard.reporting.audit import audit
from tests.guard.studies import Rule, Study, numbers

ROWS, TEST = 200, 80
LEDGERS = ("own", "project", "one", "two")
TEAM = ("one", "two")


@dataclass(frozen=True)
class Held(Study):
    """The first rows are sealed, but for some of them; the others choose."""

    without: tuple[int, ...] = ()

    def parts(self) -> tuple[Task, Task]:
        sealed = np.setdiff1d(np.arange(TEST), self.without)
        return self.task.take(np.arange(TEST, len(self.task))), self.task.take(sealed)


@dataclass
class World:
    """A home, a colleague's, and the ledgers; where there is a `single` one, all is written to that."""

    folder: Path
    key: bytes
    single: bool = False
    quota: bool = False

    def __post_init__(self) -> None:
        for who in ("me", "colleague"):
            (self.folder / who / "keys").mkdir(parents=True)
            (self.folder / who / "keys" / "team").write_bytes(self.key)

    def settings(self, ledger: str) -> dict[str, Any]:
        ladder = {} if self.quota else {"quota": None}
        if self.single:
            return {"ledger": self.url("single"), "project": "team", **ladder}
        apart = {"own": {}, "project": {"ledger": "project"}}
        return {**apart.get(ledger, {"ledger": self.url(ledger), "project": "team"}), **ladder}

    def url(self, ledger: str) -> str:
        return f"sqlite:///{self.folder / ledger}.db"

    def look(self, who: str, ledger: str, task: Task, number: int, without: tuple[int, ...] = ()) -> TestResult:
        """A look by a model that nobody has asked about."""
        rule = Rule(number % task.values.shape[1], round(0.05 * number - 1, 2))
        study = Held(task, self.folder / who, settings=self.settings(ledger), rule=rule, runs=self.folder / "runs",
                     without=without)  # fmt: skip
        return study.look()

    def merge(self, one: str, other: str) -> None:
        """Take over a ledger into another; in a single one there is nothing to do."""
        place = self.place(other)
        if not self.single and place.exists():
            Study(numbers(20), self.folder / "me", settings=self.settings(one), runs=self.folder / "runs").gate().merge(
                str(place)
            )

    def place(self, ledger: str) -> Path:
        apart = {"own": self.folder / "me" / "ledger.db", "project": self.folder / "runs" / "ledger.db"}
        return apart.get(ledger, self.folder / f"{ledger}.db")

    def keep(self, ledger: str) -> None:
        """Make a backup."""
        if not self.single and self.place(ledger).exists():
            with closing(sqlite3.connect(self.place(ledger))) as here, closing(sqlite3.connect(self._kept(ledger))) as there:
                here.backup(there)

    def restore(self, ledger: str) -> None:
        """Put the backup back, or nothing at all where none was made."""
        if not self.single:
            for left in self.place(ledger).parent.glob(f"{self.place(ledger).name}*"):
                left.unlink()
            if self._kept(ledger).exists():
                shutil.copy(self._kept(ledger), self.place(ledger))

    def _kept(self, ledger: str) -> Path:
        return self.folder / f"{ledger}.backup"


Step = tuple[str, str, str, tuple[int, ...]]


def steps(rng: np.random.Generator, others: str) -> Iterator[Step]:
    """What happens: first this home comes to know both shared ledgers, then whatever chance says."""
    yield from (("me", "one", "other", ()), ("me", "two", "other", ()))
    for _ in range(8):
        where = str(rng.choice(LEDGERS))
        what = rng.choice(("look", "colleague", "merge"), p=(0.6, 0.25, 0.15))
        if what == "merge":
            yield "merge", where, str(rng.choice(LEDGERS)), ()
        elif what == "colleague":
            yield "colleague", str(rng.choice(TEAM)), others, ()
        else:
            without = tuple(int(row) for row in rng.choice(TEST, int(rng.integers(0, 3)), replace=False))
            yield "me", where, "same", without
    yield "me", str(rng.choice(LEDGERS)), "same", ()


def run(world: World, history: list[Step]) -> list[TestResult]:
    """My looks at the rows in question."""
    tables = {"same": numbers(ROWS), "other": numbers(ROWS, seed=1)}
    found = []
    for number, (who, where, what, without) in enumerate(history):
        if who in ("merge", "keep", "restore"):
            getattr(world, who)(*([where, what] if who == "merge" else [where]))
            continue
        answer = world.look(who, where, tables[what], number, without)
        found += [answer] if (who, what) == ("me", "same") else []
    return found


def both(folder: Path, history: list[Step], quota: bool) -> tuple[list[TestResult], list[TestResult]]:
    key = np.random.default_rng(1).bytes(32)
    spread, single = World(folder / "spread", key, False, quota), World(folder / "single", key, True, quota)
    return run(spread, history), run(single, history)


def told(answer: TestResult) -> dict[str, Any]:
    """What depends on the past, and on nothing else."""
    kept = {"look": answer.look, "n": answer.n, "score": answer.score, "refused": answer.refused}
    limits = answer.interval and [round(limit, 9) for limit in answer.interval]
    return {**kept, "spent": round(answer.spent, 9), "price": round(answer.price, 9), "interval": limits}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_looks_count_as_in_one_ledger(tmp_path: Path, seed: int) -> None:
    """A colleague, who cannot see what lies at my home, is told the same without it, as long as no quota is used up."""
    history = [*steps(np.random.default_rng(seed), others="same" if seed % 2 else "other")]
    spread, single = both(tmp_path, history, quota=not seed % 2)
    for number, (here, there) in enumerate(zip(spread, single, strict=True)):
        assert told(here) == told(there), (number, history)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_ledger_that_is_restored_or_deleted_makes_no_interval_narrower(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    history, ledger = [*steps(rng, others="other")], str(rng.choice(LEDGERS))
    for place, what in zip(sorted(rng.choice(np.arange(2, len(history)), 2, replace=False))[::-1], ("restore", "keep")):
        history.insert(place, (what, ledger, "", ()))
    spread, single = both(tmp_path, history, quota=False)
    for number, (here, there) in enumerate(zip(spread, single, strict=True)):
        assert here.interval is None or (here.look, here.spent) >= (there.look, there.spent - 1e-9), (number, history)
        if here.interval and there.interval and here.n == there.n and here.errors == there.errors:
            assert here.interval[0] <= there.interval[0] + 1e-9, (number, history)
            assert here.interval[1] >= there.interval[1] - 1e-9, (number, history)


def test_a_look_in_a_ledger_that_others_write_to_is_counted_at_home(tmp_path: Path) -> None:
    """Copies of my looks lie at home, the looks themselves in a ledger that is read as well: neither may go for the other."""
    world, mine = World(tmp_path, bytes(32)), numbers(ROWS)
    world.look("colleague", "one", numbers(ROWS, seed=1), 0)
    for number in (1, 2):
        world.look("me", "one", mine, number)
    assert world.look("me", "own", mine, 3, without=(0,)).look == 3
    assert world.look("me", "own", mine, 4).look == 4


def test_a_colleague_who_comes_later_is_seen_from_home(tmp_path: Path) -> None:
    world, mine = World(tmp_path, bytes(32)), numbers(ROWS)
    world.look("me", "one", numbers(ROWS, seed=1), 0)
    world.look("colleague", "one", mine, 1)
    assert world.look("me", "own", mine, 2).look == 2


def test_a_home_that_is_stripped_to_its_ledger_certifies_nothing(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path / "home")
    study.look()
    for left in (tmp_path / "home").iterdir():
        if not left.name.startswith("ledger.db"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    answer, gate = study.but(rule=Rule(1)).run()
    assert answer.interval is None
    assert ("G074", "high") in {(one.code, one.severity) for one in gate.findings} | {
        (one["code"], one["severity"]) for one in audit(gate)["test_sets"][-1]["looks"][-1]["findings"]
    }
    assert Study(numbers(seed=2), tmp_path / "another").look().interval is not None
