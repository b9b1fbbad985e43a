"""A pytest plugin that writes down which lines of the package each test reaches, and how long it takes: `-p mutation.reach`.

PLACES in the environment says which files are watched. The file named by REACH
gets a JSON line per test that passes: its id, its seconds of a processor, with those of its children,
and the lines of each file. What is done in other processes is not seen.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import pytest


class Reach:
    def __init__(self, into: str, root: str) -> None:
        self.into, self.root = into, root
        self.places = tuple(f"{root}/{place}" for place in os.environ["PLACES"].split(os.pathsep))
        self.lines: dict[CodeType, set[int]] = {}
        self.watched: dict[CodeType, bool] = {}
        self.passed = True

    def enter(self, frame: FrameType, _event: str, _value: Any) -> Any:
        code = frame.f_code
        if code not in self.watched:
            self.watched[code] = code.co_filename.startswith(self.places)
        return self.step if self.watched[code] else None

    def step(self, frame: FrameType, event: str, _value: Any) -> Any:
        if event == "line":
            self.lines.setdefault(frame.f_code, set()).add(frame.f_lineno)
        return self.step

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.passed

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.lines.clear()
        self.passed = True
        threading.settrace(self.enter)
        sys.settrace(self.enter)
        start = sum(os.times()[:4])
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        if not self.passed:
            return
        found: dict[str, set[int]] = {}
        for code, lines in list(self.lines.items()):
            found.setdefault(code.co_filename.removeprefix(f"{self.root}/"), set()).update(lines)
        said = {"test": item.nodeid, "seconds": sum(os.times()[:4]) - start, "lines": {k: sorted(v) for k, v in found.items()}}
        with open(self.into, "a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reach(os.environ["REACH"], str(config.rootpath)))
