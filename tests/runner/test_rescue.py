"""Workers that die: only the guilty candidate is condemned, everything else is finished."""

from pathlib import Path

import pytest

from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool
from tests.doubles import Double, candidates, spread
from tests.runner.studies import answer, study

PROCESSES = Pool("processes", 2)


def test_processes_give_the_answer_of_one_process(tmp_path):
    some = (*spread(7, noise=True), *spread(5, group=1, lean=1))
    assert answer(study(tmp_path, some, pool=PROCESSES, name="two")) == answer(study(tmp_path, some, name="one"))


def test_workers_that_were_started_in_another_folder_write_where_the_run_is(tmp_path, monkeypatch):
    """Worker processes are kept for the next run: what a relative name means is settled before it reaches them."""
    said = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        said.append(answer(study(Path("runs"), spread(3), pool=PROCESSES)))
    assert said[0] == said[1]


@pytest.mark.slow
def test_a_candidate_that_kills_its_worker_is_crashed_and_thirty_nine_of_its_batch_finish(tmp_path):
    some = (*spread(20), *candidates(Double(cut=9.5, deed="kill")), *spread(19, lean=1))
    results = study(tmp_path, some, pool=PROCESSES)
    assert [status for status in results.status if status != "ok"] == ["crashed"]
    assert results.status[20] == "crashed"
    assert "killed its worker" in results.reasons[20]


@pytest.mark.slow
def test_whoever_kills_is_found_by_one_more_death_and_not_by_halving(tmp_path):
    """Fits of the batch on two folds: both die with it, one is asked one by one, then both go on without the guilty one."""
    log = str(tmp_path / "fits")
    some = candidates(*(Double(cut=i / 10, deed="kill" if i == 17 else "none", log=log) for i in range(40)))
    results = study(tmp_path, some, pool=PROCESSES, folds=2)
    assert [position for position, status in enumerate(results.status) if status != "ok"] == [17]
    assert len(Path(log).read_text().splitlines()) <= 5


@pytest.mark.slow
def test_where_no_mark_tells_who_was_reached_the_batch_is_halved(tmp_path, monkeypatch):
    monkeypatch.setattr("modelsel.runner.run.last_reached", lambda _folder, _job: None)
    some = (*spread(3), *candidates(Double(cut=9.5, deed="kill")))
    results = study(tmp_path, some, pool=PROCESSES, folds=2)
    assert results.status == ("ok", "ok", "ok", "crashed")


@pytest.mark.slow
@pytest.mark.parametrize("guilty", [(20,), pytest.param((3, 11, 19, 27, 35), marks=pytest.mark.slow)])
def test_of_forty_batches_those_that_kill_their_worker_are_named_and_the_others_finish(tmp_path, guilty):
    some = candidates(*(Double(group=i, cut=i / 20, deed="kill" if i in guilty else "none") for i in range(40)))
    results = study(tmp_path, some, pool=PROCESSES, folds=2)
    assert [position for position, status in enumerate(results.status) if status == "crashed"] == list(guilty)
    assert results.status.count("ok") == 40 - len(guilty)
    whole = study(tmp_path, candidates(*(Double(group=i, cut=i / 20) for i in range(40))), folds=2, name="whole")
    others = [position for position in range(40) if position not in guilty]
    assert results.board.folds[others].tolist() == whole.board.folds[others].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "status"), [("stall", "timeout"), ("spin", "timeout"), ("long_c_call", "timeout"), ("hoard", "memory")]
)
def test_limits_stop_what_exceeds_them_and_say_so(tmp_path, deed, status):
    some = (*spread(3), *candidates(Double(cut=9.5, deed=deed)))
    results = study(tmp_path, some, pool=PROCESSES, folds=2, limits=CellLimits(seconds=0.5, memory=300 << 20))
    assert results.status == ("ok", "ok", "ok", status)
