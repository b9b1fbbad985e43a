"""Intervals where rows are not independent, simulated at the gate without fits: groups, rows in time, copies."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.outcome import TestResult
from modelsel.core.spec import make
from modelsel.core.types import Floats, Outputs, Table, Task, seal
from modelsel.guard.checks.independence import sizes
from modelsel.guard.gate import Gate
from modelsel.guard.policy.base import Identity
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


@pytest.mark.slow
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("jitter", [0.0, 0.01, 0.05])
def test_copies_under_permuted_labels_are_never_certified_below_what_chance_gives(tmp_path: Path, jitter: float) -> None:
    for run in range(RUNS // 5):
        rng = np.random.default_rng(run)
        ours, theirs = copies(rng, jitter)
        result, gate = Asked(ours, theirs, tmp_path / str(run), {}).look()
        assert result.score is not None
        assert result.score < 0.1  # copies on both sides give labels away
        assert result.interval is None
        assert [f.severity for f in gate.findings if f.code in ("G030", "G031")][:1] == ["high"]


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
        (9, "kappa", "this measure has no interval"),
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
    assert alike == {"count": 50, "largest": 4, "method": "chernoff", "effective": 50.0, "of": "groups"}
    one_is_large = sizes(np.repeat(np.arange(101), [100, *[10] * 100]), 0.4, 4.0)
    assert one_is_large["method"] == "hoeffding"
    assert one_is_large["effective"] == pytest.approx(1100**2 / (100**2 + 100 * 10**2))


# What was sealed in units stays in units, whatever a later look declares.


@dataclass(frozen=True)
class Again:
    """Sealed groups, and later looks at the same rows by other models, in one home."""

    home: Path
    ours: Task
    theirs: Task
    store: str = "full"

    def look(
        self, groups: Any = None, share: float = 0.3, config: dict[str, Any] | None = None, rows: Any = None, **other: Any
    ) -> tuple[TestResult, Gate]:
        theirs = replace(self.theirs, groups=groups, **other)
        theirs = theirs if rows is None else theirs.take(np.asarray(rows))
        gate = Gate(make("guard", "warn", identity=Identity(store=self.store)), self.home / "runs", (), Home(self.home))
        ours = self.ours if groups is not None else replace(self.ours, groups=None)
        sealing = TestSetDeclaration(
            seal(theirs), ours, make("measure", "error"), "s", "runs/s/1", f"spec {share}", config or {}
        )

        def predict(table: Table) -> Outputs:
            said = (table.values[:, 0] > np.quantile(table.values[:, 0], share)).astype(np.int32)
            return Outputs(said[None], np.eye(2)[said][None])

        return gate.look(LookRequest(sealing, SelectionSummary(f"w {share}", 0.5, len(ours), 0.5), predict)), gate


def again(home: Path, store: str = "full") -> Again:
    rng = np.random.default_rng(5)
    return Again(home, grouped(rng, 20, 10), grouped(rng, 60, 10, first=20), store)


@pytest.mark.parametrize("rows", [None, np.arange(5, 600), np.flatnonzero(np.arange(600) % 10)])
def test_rows_sealed_in_groups_are_counted_in_groups_when_nothing_is_declared_later(tmp_path: Path, rows: Any) -> None:
    study = again(tmp_path)
    first, _ = study.look(study.theirs.groups)
    assert (first.unit, first.units) == ("groups", 60)
    later, _ = study.look(None, 0.4, rows=rows)
    assert (later.look, later.unit, later.units) == (2, "groups", 60)


def counted_later(home: Path) -> tuple[str, int | None]:
    later, _ = again(home).look(None, 0.4, rows=np.arange(5, 600))
    return later.unit, later.units


@pytest.mark.slow
def test_another_process_counts_the_units_that_were_sealed(tmp_path: Path) -> None:
    study = again(tmp_path)
    study.look(study.theirs.groups)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(counted_later, tmp_path).result() == ("groups", 60)


def test_units_that_are_drawn_otherwise_later_are_joined_with_those_on_record(tmp_path: Path) -> None:
    study = again(tmp_path)
    study.look(study.theirs.groups)
    pairs, _ = study.look(np.arange(600) // 2, 0.4)
    assert pairs.units == 60
    shifted, _ = study.look((np.arange(600) + 5) // 20, 0.5)
    assert shifted.units is None  # every border is crossed by a unit of the other statement: all is one unit
    assert shifted.interval is None


def test_a_second_study_that_says_units_is_remembered_although_it_never_looked(tmp_path: Path) -> None:
    study = again(tmp_path)
    rows, _ = study.look(None, 0.4)
    assert rows.unit == "rows"
    gate = Gate(make("guard", "warn"), tmp_path / "runs", (), Home(tmp_path))
    gate.seal(TestSetDeclaration(seal(study.theirs), study.ours, make("measure", "error"), "t", "runs/t/1", "spec t"))
    later, _ = study.look(None, 0.5)
    assert (later.unit, later.units) == ("groups", 60)
    shown, _ = study.look(None, 0.4)
    assert shown.replay
    assert (shown.unit, shown.units) == ("groups", 60)
    assert shown.interval is not None
    assert rows.interval is not None
    assert shown.interval[0] < rows.interval[0] < rows.interval[1] < shown.interval[1]


@pytest.mark.parametrize("config", [{"split": {"kind": "time"}}, {"scheme": "time_split"}])
def test_rows_sealed_in_time_stay_in_time(tmp_path: Path, config: dict[str, Any]) -> None:
    study = again(tmp_path)
    study.look(None, config=config)
    for share, rows in ((0.4, None), (0.5, np.arange(5, 600))):
        later, gate = study.look(None, share, rows=rows)
        assert later.interval is None
        assert uncertified(gate)[0] == "not certified: rows in time"
    grouped_later, _ = study.look(study.theirs.groups, 0.6)
    assert grouped_later.interval is None


def test_the_home_keeps_units_whatever_a_ledger_beside_it_keeps(tmp_path: Path) -> None:
    study = again(tmp_path, "digest_only")
    study.look(study.theirs.groups)
    same, _ = study.look(study.theirs.groups[::-1].copy()[::-1], 0.4)
    assert same.units == 60
    other, _ = study.look(None, 0.5)
    assert (other.unit, other.units) == ("groups", 60)


def test_units_are_remembered_in_the_home_whatever_ledger_or_key_is_used_later(tmp_path: Path) -> None:
    study = again(tmp_path)
    study.look(study.theirs.groups)
    for number, settings in enumerate(
        ({"ledger": "project"}, {"project": "another"}, {"ledger": "project", "project": "third"})
    ):
        gate = Gate(make("guard", "warn", **settings), tmp_path / str(number) / "runs", (), Home(tmp_path))
        ours, theirs = replace(study.ours, groups=None), replace(study.theirs, groups=None)
        said = np.full(len(theirs), number % 2, np.int32)
        result = gate.look(LookRequest(
            TestSetDeclaration(seal(theirs), ours, make("measure", "error"), "s", "runs/s/1", f"spec {number}"),
            SelectionSummary(f"w {number}", 0.5, len(ours), 0.5), lambda _, said=said: Outputs(said[None]),
        ))  # fmt: skip
        assert result.unit == "groups" or result.interval is None, settings
        assert result.units in (60, None)


def test_groups_of_one_row_do_not_lift_the_veto_of_copies(tmp_path: Path) -> None:
    ours, theirs = copies(np.random.default_rng(0), 0.0)
    ours, theirs = replace(ours, groups=np.arange(len(ours))), replace(theirs, groups=1000 + np.arange(len(theirs)))
    result, _ = Asked(ours, theirs, tmp_path, {}).look()
    assert result.interval is None
