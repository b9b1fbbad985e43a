"""Honest work stays silent, and a planted peek never does."""

from dataclasses import replace
from pathlib import Path

import pytest

from modelsel.core.types import Task, seal
from tests.guard.projects import honest, peeking
from tests.guard.studies import Rule, Study, numbers, shuffled


def grave(study: Study) -> list[str]:
    return [finding.code for finding in study.run()[1].findings if finding.severity in ("high", "critical")]


@pytest.mark.slow
@pytest.mark.parametrize("index", range(8))
def test_honest_projects_raise_no_grave_flag(home: Path, index: int) -> None:
    assert honest(home, index) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("index", range(8))
def test_a_planted_peek_is_flagged(home: Path, index: int) -> None:
    assert peeking(home, index)


@pytest.mark.soak
@pytest.mark.parametrize("index", range(8, 200))
def test_two_hundred_of_each(tmp_path: Path, index: int) -> None:
    assert honest(tmp_path / "honest", index) == []
    assert peeking(tmp_path / "peeking", index)


def test_an_identical_rerun_from_another_place(home: Path, tmp_path: Path) -> None:
    study = Study(numbers(), home, runs=tmp_path / "here" / "runs")
    study.look()
    result, gate = study.but(runs=tmp_path / "there" / "runs").run()
    assert result.replay
    assert [finding.code for finding in gate.findings] == ["G002"]


@pytest.mark.slow
def test_a_second_machine_with_the_shared_ledger_and_key(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'team' / 'ledger.db'}"
    (tmp_path / "b" / "keys").mkdir(parents=True)
    one = Study(numbers(), tmp_path / "a", settings={"ledger": url})
    one.look()
    (tmp_path / "b" / "keys" / "user").write_bytes((tmp_path / "a" / "keys" / "user").read_bytes())
    result, gate = one.but(home=tmp_path / "b").run()
    assert result.replay
    assert [finding.code for finding in gate.findings] == ["G002"]


@pytest.mark.slow
def test_a_new_disjoint_test_set_and_next_years_data(home: Path) -> None:
    Study(numbers(seed=0), home).look()
    assert grave(Study(numbers(seed=1), home, rule=Rule(1))) == []


def test_last_years_test_rows_may_train_next_years_model(home: Path) -> None:
    old, new = numbers(seed=0), numbers(200, seed=1)
    first = Study(old, home)
    first.look()
    both = Study(new, home, rule=Rule(1))
    sealing = replace(both.sealing(), development=old, sealed=seal(new))
    gate = both.gate()
    assert gate.look(both.request(sealing)).look == 1
    assert not [finding for finding in gate.findings if finding.severity in ("high", "critical")]


@pytest.mark.slow
def test_another_measure_on_development_rows_only(home: Path) -> None:
    from modelsel.core.spec import make

    study = Study(numbers(), home)
    study.choose_only()
    for kind in ("balanced_error", "auc", "log_loss"):
        assert study.but(measure=make("measure", kind), rule=Rule(1)).choose_only().findings == []
    result, gate = study.run()
    assert [finding.code for finding in gate.findings] == ["G001"]
    assert result.look == 1
    assert study.but(measure=make("measure", "auc"), rule=Rule(2)).choose_only().findings == []


def test_the_first_look_may_be_by_another_measure_than_the_first_choice(home: Path) -> None:
    from modelsel.core.spec import make

    study = Study(numbers(), home)
    study.but(measure=make("measure", "auc")).choose_only()
    assert [finding.code for finding in study.run()[1].findings] == ["G001"]


def test_an_upgrade_that_predicts_the_same(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    assert study.but(spec="the same under new versions").look().replay


def test_a_moved_project_with_its_own_ledger(home: Path, tmp_path: Path) -> None:
    study = Study(numbers(), home, settings={"ledger": "project"}, runs=tmp_path / "here" / "runs")
    study.look()
    (tmp_path / "here").rename(tmp_path / "there")
    result, gate = study.but(runs=tmp_path / "there" / "runs").run()
    assert result.replay
    assert [finding.code for finding in gate.findings] == ["G002"]


@pytest.mark.slow
def test_two_people_who_share_a_public_data_set(home: Path, tmp_path: Path) -> None:
    Study(numbers(), home, settings={"project": "one"}).look()
    assert grave(Study(numbers(), tmp_path / "another home", settings={"project": "two"}, rule=Rule(1))) == []


@pytest.mark.slow
def test_disjoint_halves_of_a_fully_enumerated_table(home: Path) -> None:
    import numpy as np

    from modelsel.core.spec import make

    boards: Task = shuffled(make("dataset", "tic_tac_toe").read())
    first, second = boards.take(np.arange(479)), boards.take(np.arange(479, 958))
    Study(first, home).look()
    result, gate = Study(second, home, rule=Rule(4)).run()
    assert result.look == 1
    assert not [finding for finding in gate.findings if finding.severity in ("medium", "high", "critical")]
