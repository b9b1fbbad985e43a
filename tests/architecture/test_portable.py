"""Nothing of modelsel needs what Linux alone has: with it hidden every module is imported, and studies run."""

import subprocess
import sys
from pathlib import Path

import pytest

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
