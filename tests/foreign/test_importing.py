"""A package that crashes on import is found by a process of its own, and asked of once."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modelsel.foreign import allowed
from modelsel.foreign.allowed import NotAllowedError, class_of, crash_on_import, home_of

ENDS = {
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "SIGSEGV",
    "import os; os._exit(3)": "exit code 3",
    "import os; print('imported', flush=True); os.abort()": "SIGABRT",
}


@pytest.fixture(autouse=True)
def _afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MODELSEL_CACHE", str(tmp_path / "cache"))
    for known in (crash_on_import, class_of, home_of):
        known.cache_clear()
    yield
    for known in (crash_on_import, class_of, home_of):
        known.cache_clear()
    sys.modules.pop("fragilelearners", None)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution whose package does nothing."""
    info, file = tmp_path / "here" / "fragilelearners-1.0.dist-info", tmp_path / "here" / "fragilelearners" / "__init__.py"
    info.mkdir(parents=True)
    file.parent.mkdir()
    file.write_text("from sklearn.dummy import DummyClassifier\nclass Own(DummyClassifier):\n    pass\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fragilelearners\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("fragilelearners\n")
    (info / "RECORD").write_text("fragilelearners/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(info.parent))
    return file


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages that processes are started for."""
    asked: list[str] = []
    run = subprocess.run

    def noted(command: Any, **more: Any) -> Any:
        asked.append(command[4])
        return run(command, **more)

    monkeypatch.setattr(allowed.subprocess, "run", noted)
    return asked


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ends", ENDS)
def test_a_package_that_takes_its_process_along_is_refused_by_name(package: Path, ends: str) -> None:
    package.write_text(ends)
    with pytest.raises(NotAllowedError) as said:
        class_of("fragilelearners.Own", ("fragilelearners",))
    assert str(said.value) == (f"fragilelearners.Own: importing fragilelearners ends the process that does it ({ENDS[ends]})")
    assert "fragilelearners" not in sys.modules


def test_what_a_package_does_when_a_process_ends_is_not_asked(package: Path) -> None:
    package.write_text("import atexit, os, sys\natexit.register(lambda: (print('bye'), sys.stdout.flush(), os._exit(3)))\n")
    assert crash_on_import("fragilelearners", "fragilelearners 1.0") == ""


@pytest.mark.slow
def test_what_can_be_imported_is_asked_of_once_and_what_cannot_anew(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    for _ in range(2):
        assert class_of("fragilelearners.Own", ("fragilelearners",)).__name__ == "Own"
        sys.modules.pop("fragilelearners")
        crash_on_import.cache_clear()
        class_of.cache_clear()
    assert asked == ["fragilelearners"], "another process finds what the first has found"
    assert crash_on_import("fragilelearners", "fragilelearners 1.1") == ""
    assert len(asked) == 2, "another version is another question"
    package.write_text("raise RuntimeError('no licence')")
    for _ in range(2):
        assert crash_on_import("fragilelearners", "fragilelearners 1.2") == "", "an error is said where it is met"
        crash_on_import.cache_clear()
    assert len(asked) == 4


@pytest.mark.slow
def test_scikit_learn_and_what_is_imported_already_are_not_asked_about(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    class_of("sklearn.svm.SVC")
    __import__("fragilelearners")
    class_of("fragilelearners.Own", ("fragilelearners",))
    assert asked == []


@pytest.mark.slow
def test_nothing_of_the_working_directory_is_run(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sys.py").write_text("raise SystemExit")
    (tmp_path / "site.py").write_text("import pathlib; pathlib.Path('RAN').write_text('ran')")
    monkeypatch.chdir(tmp_path)
    assert crash_on_import("fragilelearners", "fragilelearners 1.0") == ""
    assert not Path("RAN").exists()
