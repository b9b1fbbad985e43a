"""Attacks at the gate itself, in short: 20 runs; `python -m benchmarks.attacks.at_the_gate` has 500 of each cell."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.attacks import at_the_gate, guard_units
from benchmarks.attacks._in_memory import in_memory
from benchmarks.attacks.at_the_gate import attack, cells, outcomes, page, too_many
from benchmarks.attacks.guard_numbers import NumberAttack, question
from modelsel.guard.history import History
from modelsel.statistics.certificate import SpendingState

PROMISED = [cell for cell in cells() if cell[0] == "units" and cell[1] != at_the_gate.NO_PROMISE]
DECLARED = ("units", "declared", "groups")


@pytest.mark.slow
def test_of_twenty_runs_few_have_a_look_that_misses() -> None:
    """A cell after the other, each by another run: of a true method more than 4 of 20 miss once in four hundred times."""
    with in_memory():
        missed = [cells()[cell](run) for run, cell in enumerate(PROMISED[:: len(PROMISED) // 20][:20])]
    assert len(missed) == 20
    assert sum(missed) <= 4


def test_the_attack_is_missed_where_units_are_not_declared_or_answers_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table can fail: this is what declaring and paying are for."""
    assert sum(attack([("units", "undeclared", "groups")], 8, None)["units", "undeclared", "groups"].values()) >= 4
    monkeypatch.setattr(SpendingState, "nats", lambda self, delta: float(np.log(2 / delta)))
    assert sum(attack([("numbers", "share", "runs")], 3, None)["numbers", "share", "runs"].values()) >= 2


@pytest.mark.parametrize(("scenario", "units"), [("members", "brier"), ("left out", "groups"), ("merged", "costs")])
def test_a_run_in_memory_has_the_intervals_that_it_has_on_disk(
    tmp_path: Path, scenario: str, units: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On disk each look is made by a gate of its own, as `modelsel run` has one; prices are equal too."""
    monkeypatch.setattr(guard_units, "LOOKS", 2)
    monkeypatch.setattr(guard_units, "SPACE", 2)

    def found(folder: Path, anew: bool) -> tuple[list[Any], list[Any]]:
        run = guard_units.Attack(scenario, units, folder, np.random.default_rng(5), anew)
        told = [*run.intervals()]
        entries = next(reversed(run.gates.values())).session.ledger.entries()
        prices = [look.price for look in History.of(entries).looks]
        return told, prices

    on_disk = found(tmp_path / "disk", True)
    with in_memory():
        in_memory_ = found(tmp_path / "memory", False)
    assert on_disk == in_memory_
    assert any(interval is not None for interval, _ in on_disk[0])
    assert len(on_disk[1]) >= 2


def test_numbers_in_memory_have_the_intervals_that_they_have_on_disk(tmp_path: Path) -> None:
    def found(folder: Path) -> list[Any]:
        run, rows = NumberAttack(np.random.default_rng(4), folder), np.arange(100)
        return [run._through_the_gate(_signs(turn), rows, question("turns", run, turn)) for turn in range(3)]

    on_disk = found(tmp_path / "disk")
    with in_memory():
        assert found(tmp_path / "memory") == on_disk


def _signs(turn: int) -> Any:
    from modelsel.core.types import NumberOutputs

    return NumberOutputs(np.random.default_rng(turn).choice([-1.0, 1.0], (1, 100)))


def test_runs_go_on_where_they_were_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(at_the_gate, "cells", lambda: {DECLARED: lambda run: made.append(run) or run == 2})
    file = tmp_path / "outcomes.jsonl"
    attack([DECLARED], 3, file)
    with file.open("a") as out:
        out.write('{"table": "units", "row": "decl')  # as a killed process leaves it
    attack([DECLARED], 5, file)
    assert made == [0, 1, 2, 3, 4]
    assert outcomes(file)[DECLARED] == {0: False, 1: False, 2: True, 3: False, 4: False}
    assert "| declared | 1 of 5 |" in page(outcomes(file), [DECLARED])
    attack([DECLARED], 9, file, share=(2, 2))
    assert made[5:] == [5, 7]


def test_more_than_41_of_500_are_too_many() -> None:
    found = {DECLARED: {run: run < 41 for run in range(500)}}
    assert not too_many(found, [DECLARED])
    found[DECLARED][41] = True
    assert too_many(found, [DECLARED]) == [DECLARED]
    unnamed = {("units", "undeclared", "groups"): dict.fromkeys(range(20), True)}
    assert not too_many(unnamed, [*unnamed])


@pytest.mark.slow
@pytest.mark.parametrize("cell", [cell for cell in cells() if cell[0] != "releases"], ids=", ".join)
def test_no_cell_has_more_misses_than_a_true_method(cell: Any, tmp_path: Path) -> None:
    found = attack([cell], 20, tmp_path / "outcomes.jsonl")
    assert not too_many(found, [cell])
    assert len(json.loads((tmp_path / "outcomes.jsonl").read_text().splitlines()[0])) == 6
