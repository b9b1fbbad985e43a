"""Intervals where rows are not independent, simulated at the gate without fits: groups, rows in time, copies."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.outcome import TestResult
from modelsel.core.spec import make
from modelsel.core.types import Floats, Outputs, Table, Task, seal
from modelsel.guard.checks.independence import sizes
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from tests.guard.studies import numbers, uncertified

RUNS = 20


@dataclass(frozen=True)
class Asked:
    """A look at sealed rows by a model that says class 1 everywhere, or the label of the nearest development row."""

    development: Task
    test: Task
    home: Path
    config: dict[str, Any]
    measure: str = "error"

    def look(self) -> tuple[TestResult, Gate]:
        gate = Gate(make("guard", "warn"), self.home / "runs", (), Home(self.home))
        sealing = TestSetDeclaration(
            seal(self.test), self.development, make("measure", self.measure), "s", "runs/s/1", "spec", self.config
        )
        return gate.look(LookRequest(sealing, SelectionSummary("w", 0.3, len(self.development), 0.3), self.nearest)), gate

    def nearest(self, table: Table) -> Outputs:
        known = self.development.values
        said = np.array([self.development.target[((known - row) ** 2).sum(axis=1).argmin()] for row in table.values], np.int32)
        return Outputs(said[None], np.eye(2)[said][None])


def always(self: Asked, table: Table) -> Outputs:
    said = np.ones(len(table), np.int32)
    return Outputs(said[None], np.eye(2)[said][None])


def table(values: Floats, target: Any, groups: Any = None) -> Task:
    same = numbers(2, values.shape[1])
    rows = np.arange(len(values))
    return replace(same, values=values, rows=rows, target=np.asarray(target, np.int32), groups=groups)


def grouped(rng: np.random.Generator, groups: int, rows: int, first: int = 0) -> Task:
    """Groups that are right (class 1) or wrong as a whole, three of ten wrong."""
    group = np.repeat(np.arange(groups), rows) + first
    return table(rng.normal(size=(len(group), 5)), np.repeat(rng.random(groups) > 0.3, rows), group)


def test_intervals_of_grouped_rows_hold_for_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asked, "nearest", always)
    covered = 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        ours, theirs = grouped(rng, 20, 10), grouped(rng, 60, 30, first=20)
        result, _ = Asked(ours, theirs, tmp_path / str(run), {"split": {"kind": "group"}}).look()
        assert result.interval is not None
        covered += result.interval[0] <= 0.3 <= result.interval[1]
    assert covered >= RUNS - 1


@pytest.mark.parametrize("config", [{"split": {"kind": "time"}}, {"split": "random", "scheme": {"kind": "time_split"}}])
def test_rows_in_time_have_no_interval(tmp_path: Path, config: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    ours, theirs = (table(rng.normal(size=(200, 5)), rng.random(200) > 0.3) for _ in range(2))
    result, gate = Asked(ours, theirs, tmp_path, config).look()
    assert result.interval is None
    assert uncertified(gate)[0] == "not certified: rows in time"


@pytest.mark.parametrize("jitter", [0.0, 0.01, 0.05])
def test_copies_under_permuted_labels_are_never_certified_below_what_chance_gives(tmp_path: Path, jitter: float) -> None:
    for run in range(RUNS // 5):
        rng = np.random.default_rng(run)
        ours, theirs = copies(rng, jitter)
        result, gate = Asked(ours, theirs, tmp_path / str(run), {}).look()
        assert result.score is not None
        assert result.score < 0.1  # copies on both sides give labels away
        assert result.interval is None
        assert [f.severity for f in gate.findings if f.code == "G031"] == ["high"]


def copies(rng: np.random.Generator, jitter: float) -> tuple[Task, Task]:
    """Four copies of each of 200 rows, of labels without meaning, split at random."""
    source = rng.normal(size=(200, 5))
    values, target = (
        np.concatenate([source, *(source + jitter * rng.normal(size=source.shape) for _ in range(3))]),
        np.tile(rng.random(200) > 0.5, 4),
    )
    whole, order = table(values, target), rng.permutation(800)
    return whole.take(np.sort(order[:560])), whole.take(np.sort(order[560:]))


def test_few_groups_and_measures_without_a_form_have_no_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asked, "nearest", always)
    rng = np.random.default_rng(0)
    ours = grouped(rng, 20, 10)
    for groups, measure, said in (
        (4, "error", "fewer than five groups are sealed"),
        (9, "brier", "this measure has no interval"),
    ):
        result, gate = Asked(ours, grouped(rng, groups, 20, first=20), tmp_path / measure, {}, measure).look()
        assert result.interval is None
        assert uncertified(gate)[0].startswith(f"not certified: {said}")


def test_groups_of_one_row_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asked, "nearest", always)
    ours, theirs = grouped(np.random.default_rng(0), 100, 1), grouped(np.random.default_rng(1), 90, 1, first=100)
    own, _ = Asked(ours, theirs, tmp_path / "one", {}).look()
    rows, _ = Asked(replace(ours, groups=None), replace(theirs, groups=None), tmp_path / "rows", {}).look()
    assert own.interval == rows.interval is not None


def test_the_narrower_bound_is_chosen_by_sizes_before_labels() -> None:
    alike = sizes(np.repeat(np.arange(50), 4), 0.1, 4.0)
    assert alike == {"count": 50, "largest": 4, "method": "chernoff", "effective": 50.0}
    one_is_large = sizes(np.repeat(np.arange(101), [100, *[10] * 100]), 0.4, 4.0)
    assert one_is_large["method"] == "hoeffding"
    assert one_is_large["effective"] == pytest.approx(1100**2 / (100**2 + 100 * 10**2))
