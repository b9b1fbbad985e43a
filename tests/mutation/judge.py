"""A pytest plugin that judges mutants, each in a fork of the process that has collected all tests: `-p mutation.judge`.

The file named by JOB says which tests each mutant meets, by its key, and the seconds of each. In a fork its switch is on; the
first test that fails ends it, and has to pass in another fork with no switch on. A test that takes far too long has failed.
"""

import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE, FACTOR = 60, 30  # seconds of a clock that a test has at least, and for each that it took alone


class Judge:
    def __init__(self, job: dict[str, Any], config: pytest.Config) -> None:
        self.mutants: dict[str, list[str]] = job["mutants"]
        self.seconds: dict[str, float] = job["seconds"]
        self.into, self.workers, self.config = Path(job["into"]), job["workers"], config
        self.items: dict[str, pytest.Item] = {}
        self.failed, self.now = False, ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        running: dict[int, Iterator[int]] = {}
        left = [self.story(key, [test for test in tests if test in self.items]) for key, tests in self.mutants.items()]
        while left or running:
            while left and len(running) < self.workers:
                _step(left.pop(0), running)
            child, _ = os.wait()
            if child in running:
                _step(running.pop(child), running)
        return True

    def story(self, key: str, tests: list[str]) -> Iterator[int]:
        """Yield each process that has to end before the story goes on; write the verdict down at its end."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            said, word, test = Path(folder, "failed"), "SURVIVED", ""
            while tests and word != "killed":
                yield self.fork(key, tests, folder, said)
                if not said.is_file():
                    break
                test = said.read_text("utf-8")
                said.unlink()
                yield self.fork("", [test], folder, said)
                word = "SURVIVED" if said.is_file() else "killed"
                said.unlink(missing_ok=True)
                tests = tests[tests.index(test) + 1 :]  # where it fails by itself, the others go on
        with self.into.open("a", encoding="utf-8") as file:
            file.write(f"{word} {key} {test}\n")

    def fork(self, key: str, tests: list[str], folder: str, said: Path) -> int:
        """Run tests in a process, a leader of its own group, until one fails or ends it, whose name is written down."""
        child = os.fork()
        if child:
            return child
        os.setpgid(0, 0)
        try:
            os.chmod(folder, 0o755)  # some tests go on as somebody who may do little
            tempfile.tempdir = folder
            os.environ.update(TMPDIR=folder, MODELSEL_HOME=f"{folder}/home", MUTANT=key)
            sys.modules["modelsel.switch"].ON = key  # type: ignore[attr-defined]
            self.run(tests, said)
        except BaseException:  # what breaks pytest itself is a failure, too
            said.write_text(self.now or tests[0], "utf-8")
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)  # servers and workers that the test has left
            os._exit(0)

    def run(self, tests: list[str], said: Path) -> None:
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            self.now = test
            said.write_text(test, "utf-8")  # what ends the process itself is a failure, too
            item, then = self.items[test], self.items.get(following or "")
            item.add_marker(pytest.mark.timeout(PATIENCE + FACTOR * self.seconds.get(test, 10.0)), append=False)
            self.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
            if self.failed:
                return
        said.unlink()


def _step(story: Iterator[int], running: dict[int, Iterator[int]]) -> None:
    child = next(story, None)
    if child is not None:
        running[child] = story


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Judge(json.loads(Path(os.environ["JOB"]).read_text("utf-8")), config))
