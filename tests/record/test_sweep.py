"""A sweep's folder: jobs are its only witnesses, an interrupted one is found again, a finished one is not."""

import json
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.record.sweep import FINISHED, JobResult, SweepFolder, SweepSettings, stamp_of, write_result

WORDS = ("-m", "dataset=iris,wine")


def test_jobs_are_read_in_the_order_of_their_numbers_whatever_their_folders_are_called(tmp_path: Path) -> None:
    sweep = SweepFolder.create(tmp_path).write(SweepSettings(WORDS))
    for number, name in ((2, "a"), (0, "z"), (10, "deep/er")):
        write_result(sweep.path / name, JobResult(number, (f"seed={number}",)))
    assert [job.number for job in sweep.jobs()] == [0, 2, 10]
    assert sweep.jobs()[1].overrides == ("seed=2",)


def test_two_jobs_in_one_folder_are_both_kept(tmp_path: Path) -> None:
    sweep = SweepFolder.create(tmp_path).write(SweepSettings(WORDS))
    for number in (0, 1, 1):
        write_result(sweep.path / "same", JobResult(number, ("seed=0",)))
    assert [job.number for job in sweep.jobs()] == [0, 1]


def test_a_second_sweep_in_the_same_folder_has_jobs_of_its_own_alone(tmp_path: Path) -> None:
    first = SweepFolder.create(tmp_path / "runs", tmp_path / "mine").write(SweepSettings(WORDS))
    for number in (0, 1):
        write_result(first.path / str(number), JobResult(number, (f"seed={number}",)))
    (first.path / "results.json").write_text('{"theirs": 1}')
    second = SweepFolder.create(tmp_path / "runs", tmp_path / "mine").write(SweepSettings(WORDS))
    assert second.jobs() == []
    write_result(second.path / "0", JobResult(0, ("seed=7",)))
    assert [job.overrides for job in second.jobs()] == [("seed=7",)]
    assert (second.path / "results.json").is_file()


@pytest.mark.parametrize("content", ["", "[1]", '{"number": 1}', "{", "\0\0"])
def test_a_file_that_is_no_result_is_passed_over(tmp_path: Path, content: str) -> None:
    sweep = SweepFolder.create(tmp_path).write(SweepSettings(WORDS))
    (sweep.path / "0").mkdir()
    (sweep.path / "0" / "result.json").write_text(content)
    assert sweep.jobs() == []


def test_only_a_sweep_of_the_same_words_that_did_not_end_and_that_nobody_works_on_is_gone_on_with(tmp_path: Path) -> None:
    sweep = SweepFolder.create(tmp_path).write(SweepSettings(WORDS))
    assert SweepFolder.find_interrupted(tmp_path, WORDS) == sweep
    assert SweepFolder.find_interrupted(tmp_path, ("-m", "dataset=iris")) is None
    with sweep.at_work():
        assert SweepFolder.find_interrupted(tmp_path, WORDS) is None
    sweep.write(SweepSettings(WORDS, state=FINISHED))
    assert SweepFolder.find_interrupted(tmp_path, WORDS) is None


def test_a_sweep_elsewhere_is_found_by_its_name_and_as_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_RUNS", str(tmp_path / "runs"))
    sweep = SweepFolder.create(tmp_path / "runs", tmp_path / "elsewhere").write(SweepSettings(WORDS))
    assert sweep.path == tmp_path / "elsewhere"
    (link,) = (tmp_path / "runs" / "sweeps").iterdir()
    assert SweepFolder.open("latest").path == SweepFolder.open(link.name).path == sweep.path
    assert SweepFolder.find(link.name) == sweep
    assert SweepFolder.find("none") is None
    with pytest.raises(ConfigurationError, match="MSEL-613"):
        SweepFolder.open("none")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    sweep = SweepFolder.create(tmp_path).write(SweepSettings(WORDS))
    (sweep.path / "sweep.json").write_text(json.dumps([1]))
    with pytest.raises(ConfigurationError, match=r"MSEL-614: sweep.json holds no mapping"):
        _ = SweepFolder(sweep.path).settings


def test_another_file_of_rows_is_another_job(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,y\n1,2\n")
    settings = {"dataset": {"path": str(table)}, "seed": 0}
    first = stamp_of(settings)
    assert stamp_of(settings) == first
    table.write_text("a,y\n1,2\n3,4\n")
    assert stamp_of(settings) != first
