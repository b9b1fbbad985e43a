"""Nothing of modelsel needs what Linux alone has: with it hidden every module is imported, and studies run."""

import errno
import ntpath
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from modelsel.cli.dispatch import main
from modelsel.ledger.home import Home

HERE = Path(__file__).parents[2]
HIDING = '''
import builtins, os, signal, sys

HIDDEN = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix"}
ABSENT = {os: ("killpg", "getpgid", "setsid", "fork", "pread", "pwrite", "getuid", "geteuid", "getgid", "fchmod", "O_CLOEXEC",
               "sched_getaffinity", "uname", "statvfs", "fdatasync"),
          signal: ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "setitimer", "ITIMER_REAL", "alarm", "pthread_sigmask")}


def of_ours(depth):
    return str(sys._getframe(depth + 1).f_globals.get("__name__", "")).startswith("modelsel")


def without(name, *rest, original=builtins.__import__, **more):
    """What modelsel itself imports; the libraries beneath have their own ways on other systems."""
    if name.partition(".")[0] in HIDDEN and of_ours(1):
        raise ImportError(f"{name} is not on every system")
    return original(name, *rest, **more)


class Without(type(os)):
    """A module that lacks some names where modelsel asks for them."""

    def __getattribute__(self, name):
        if of_ours(1) and name in type(self).absent[id(self)]:
            raise AttributeError(f"{name} is not on every system")
        return super().__getattribute__(name)

    absent = {id(module): names for module, names in ABSENT.items()}


builtins.__import__ = without
for module in ABSENT:
    module.__class__ = Without
'''
ALL = (
    HIDING
    + """
import importlib, pkgutil
import modelsel
count = 0
for found in pkgutil.walk_packages(modelsel.__path__, "modelsel."):
    if found.name.rpartition(".")[2] != "__main__":
        importlib.import_module(found.name)
        count += 1
print(count)
"""
)
STUDY = (
    HIDING
    + """
if __name__ == "__main__":
    from modelsel.cli.dispatch import main
    sys.exit(main(sys.argv[1:]))
"""
)


def python(script: str, *words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "hidden.py").write_text(script)
    command = [sys.executable, "hidden.py", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)


def test_the_hiding_hides(tmp_path: Path) -> None:
    """Or the other tests could not fail."""
    ours = "exec(compile({0!r}, 'x', 'exec'), {{'__name__': 'modelsel.x'}})"
    for asking in ("import fcntl", "import os; os.killpg", "import signal; signal.SIGALRM"):
        assert python(HIDING + ours.format(asking), folder=tmp_path).returncode == 1, asking
        assert python(HIDING + asking, folder=tmp_path).returncode == 0, asking


@pytest.mark.slow
def test_every_module_is_imported_without_what_linux_alone_has(tmp_path: Path) -> None:
    done = python(ALL, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 400


@pytest.mark.slow
@pytest.mark.parametrize("more", [("pool=threads", "deadline=100"), ("pool=processes", "limit.seconds=60")])
def test_a_study_runs_without_what_linux_alone_has(tmp_path: Path, more: tuple[str, ...]) -> None:
    small = ("dataset=wine", "learner=naive_bayes", "scheme.folds=3", "tracking=sqlite")
    done = python(STUDY, "run", *small, *more, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "failed" not in done.stdout
    audit = python(STUDY, "audit", "latest", folder=tmp_path)
    assert audit.returncode == 0, audit.stderr[-2000:]


# Where what POSIX alone has is used, or what other systems do otherwise. Each place has its way for them: what the word is
# answered with there stands beside it.

HOMES = {
    r"\bos\.link\(": {"ledger/home.py": "a file that is created where there is none"},
    r"\bos\.(killpg|getpgid|setsid)\(|\bSIG(KILL|HUP|ALRM|USR1)\b|\bsetitimer\b": {
        "api/commands/ui.py": "psutil ends who started whom",
        "runner/evaluation/limits.py": "a thread that sends Ctrl-C's interrupt",
        "core/system/interrupts.py": "the signals that there are",
    },
    r"/proc/|/sys/": {
        "ledger/database/schema.py": "no mount is known as a network's",
        "core/system/machine.py": "the machine's memory alone",
    },
    r"\bos\.fsync\(": {
        "runner/journal.py": "a file's own, which all systems have",
        "ledger/home.py": "a file's own",
        "record/mlflow/store.py": "a file's own",
        "record/files.py": "a file's own",
        "core/system/disk.py": "a folder's, left out on Windows",
    },
    r"\b(import (fcntl|resource|pwd|grp|termios|msvcrt)|from (fcntl|resource|pwd|grp|termios|msvcrt) import)\b": {
        "core/system/machine.py": "limit.memory is refused",
    },
    r"\bsymlink_to\(|\bos\.symlink\(": {"record/folder.py": "a line of text"},
    r"\bos\.rename\(": {},  # os.replace and Path.replace take the place of a file on every system
    r"\bos\.(fork|mkfifo|getuid|geteuid|getpwuid|uname|statvfs)\(": {},
}


@pytest.mark.parametrize("word", HOMES)
def test_what_posix_alone_has_stands_where_it_is_known(word: str) -> None:
    roots = {HERE / "modelsel": "", **{path: f"{path.name}/" for path in HERE.glob("packages/*/modelsel_*")}}
    found = {
        f"{before}{path.relative_to(root).as_posix()}"
        for root, before in roots.items()
        for path in root.rglob("*.py")
        if any(re.search(word, line.partition("#")[0]) for line in path.read_text("utf-8").splitlines())
    }
    assert found == set(HOMES[word])


def test_a_file_system_without_second_names_has_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    key = Home(tmp_path).secret("own.key")
    assert Home(tmp_path).secret("own.key") == key
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["con", "NUL.txt", "a.", "a ", "12:30", "a?b", "lpt1.csv", 'a"b', "tab\t"])
def test_names_that_windows_cannot_have_are_refused_everywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The oracle is Python's own list of what is reserved there."""
    assert ntpath.isreserved(name) if hasattr(ntpath, "isreserved") else PureWindowsPath(name).is_reserved() or name in STRANGE
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,y\n" + "1,p\n2,q\n" * 20)
    for words in (("plan", "t.csv", "y", "tracking=off", "--write", name), ("exam", "create", "t.csv", name, "--target", "y")):
        assert main(words) == 2
        assert "MSEL-618" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("t.csv", "home")] == []


STRANGE = ("a.", "a ", "12:30", "a?b", 'a"b', "tab\t")  # that Python reserves from 3.13 on


def test_a_run_whose_name_windows_cannot_have_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(("run", "dataset=play_tennis", "space=majority", "split=none", "tracking=off", "name=con")) == 2
    assert "'con' is not a file name on Windows: it is the name of a device" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "con").exists()
