"""A process compiles the longest kernels beside a study: only where that helps, and never for longer than the study."""

import subprocess
from pathlib import Path

import pytest

from modelsel.kernels import ahead, compiler


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is kept, there is where to keep it, and there are two cores."""
    monkeypatch.setenv("MODELSEL_CACHE", str(tmp_path))
    monkeypatch.delenv("MODELSEL_KERNELS", raising=False)
    monkeypatch.setattr(ahead, "folder", compiler.folder.__wrapped__)
    monkeypatch.setattr(compiler, "folder", compiler.folder.__wrapped__)
    monkeypatch.setattr("modelsel.kernels.ready.has", lambda name: False)
    monkeypatch.setattr(ahead, "cores", lambda: 2)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """The processes that are started."""
    processes: list[subprocess.Popen[bytes]] = []
    start = ahead._start

    def keep(names: list[str]) -> "subprocess.Popen[bytes]":
        processes.append(start(names))
        return processes[-1]

    monkeypatch.setattr(ahead, "_start", keep)
    return processes


def test_it_takes_what_is_not_kept_in_order_and_ends_with_the_study(started, tmp_path: Path) -> None:
    place = compiler.place_of(Path(compiler.__file__).parent / "forests" / "forest_nodes.py")
    place.mkdir(parents=True)
    (place / "a.nbi").touch()
    with pytest.raises(ZeroDivisionError), ahead.compiled_ahead(["grow_forest", "forest_nodes", "confusion"], 2):
        raise ZeroDivisionError
    (process,) = started
    assert process.args[-2:] == ["grow_forest", "confusion"]
    assert process.poll() is not None
    assert process.stdin.closed


@pytest.mark.parametrize("why", ["one worker", "one core", "nothing slow", "twins", "nowhere to keep it", "all kept"])
def test_no_process_is_started_where_none_can_help(why: str, started, monkeypatch, tmp_path: Path) -> None:
    if why == "one core":
        monkeypatch.setattr(ahead, "cores", lambda: 1)
    if why == "twins":
        monkeypatch.setenv("MODELSEL_KERNELS", "python")
    if why == "nowhere to keep it":
        monkeypatch.setattr(ahead, "folder", lambda: None)
    if why == "all kept":
        monkeypatch.setattr("modelsel.kernels.ready.has", lambda name: True)
    with ahead.compiled_ahead([] if why == "nothing slow" else ["confusion"], 1 if why == "one worker" else 2):
        assert started == []


def test_it_ends_when_nobody_holds_the_other_end_of_its_input() -> None:
    process = ahead._start(["grow_forest"])
    process.stdin.close()
    assert process.wait(timeout=120) == 1


@pytest.mark.slow
def test_what_it_compiled_is_there_for_the_study() -> None:
    process = ahead._start(["confusion"])
    assert process.wait(timeout=240) == 0
    process.stdin.close()
    assert compiler.is_kept("confusion")
