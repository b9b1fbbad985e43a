"""Processes compile ahead what a study will use: each kernel once, said in one line, and never for longer than the study."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.kernels import ahead, compiler

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is kept, and there is where to keep it."""
    monkeypatch.setenv("MODELSEL_CACHE", str(tmp_path))
    monkeypatch.delenv("MODELSEL_KERNELS", raising=False)
    monkeypatch.setattr(ahead, "folder", compiler.folder.__wrapped__)
    monkeypatch.setattr(compiler, "folder", compiler.folder.__wrapped__)
    monkeypatch.setattr("modelsel.kernels.ready.has", lambda name: False)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Words of the processes that would be started."""
    words: list[list[str]] = []

    def keep(given: list[str]) -> "subprocess.Popen[bytes]":
        words.append(given[1:])
        return subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)

    monkeypatch.setattr(ahead, "_start", keep)
    return words


def test_what_is_not_kept_is_taken_the_largest_first_and_said_in_one_line(started, capfd) -> None:
    place = compiler.place_of(compiler.path_of("forest_nodes"))
    place.mkdir(parents=True)
    (place / "a.nbi").touch()
    ahead.compile_ahead(["confusion", "forest_nodes", "grow_forest", "confusion"], 2)
    assert started == [["grow_forest", "confusion"]] * 2
    assert capfd.readouterr().err == "modelsel: compiling 2 kernels by 2 processes, once on this machine (up to a minute)\n"


@pytest.mark.parametrize(("names", "processes", "many"), [(["confusion"], 4, 1), (["confusion", "draws", "route"], 1, 1)])
def test_there_are_no_more_processes_than_kernels_and_workers(names, processes: int, many: int, started) -> None:
    ahead.compile_ahead(names, processes)
    assert len(started) == many


@pytest.mark.parametrize("why", ["nothing used", "twins", "nowhere to keep it", "all kept"])
def test_no_process_is_started_where_none_can_help(why: str, started, monkeypatch, capfd) -> None:
    if why == "twins":
        monkeypatch.setenv("MODELSEL_KERNELS", "python")
    if why == "nowhere to keep it":
        monkeypatch.setattr(ahead, "folder", lambda: None)
    if why == "all kept":
        monkeypatch.setattr("modelsel.kernels.ready.has", lambda name: True)
    ahead.compile_ahead([] if why == "nothing used" else ["confusion", "route"], 2)
    assert started == []
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_it_ends_when_nobody_holds_the_other_end_of_its_input(tmp_path: Path) -> None:
    process = ahead._start([str(tmp_path), "grow_forest"])
    process.stdin.close()
    assert process.wait(timeout=120) == 1


@pytest.mark.slow
def test_several_processes_compile_what_is_not_kept_and_each_kernel_once(tmp_path: Path) -> None:
    code = """
from modelsel.kernels import ahead, compiler
names = ["preorder", "tallies", "distinct"]
ahead.compile_ahead(names, 2)
print(*map(compiler.is_kept, names), compiler._load.cache_info().currsize)
"""
    settings = {**os.environ, "MODELSEL_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "True True True 0\n", "all of them, and none in the process that asks"
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "largest", "not_used"),
    [
        ("default", "grow_forest", "grow_numbers"),
        ("naive_bayes", "gaussian", "grow_counted"),
        ("trees", "raising", "grow_forest"),
    ],
)
def test_a_first_study_compiles_what_it_uses_before_its_cells_and_says_so_once(
    space: str, largest: str, not_used: str, tmp_path: Path
) -> None:
    settings = {**os.environ, "MODELSEL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "modelsel", "run", f"space={space}", "pool.n_jobs=2", "tracking=off"]
    done = subprocess.run(words, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "compiling" in line]
    assert len(said) == 1, said
    made = {path.name.rpartition("-")[0] for path in (tmp_path / "cache" / "kernels").iterdir()}
    assert largest in made
    assert not_used not in made
