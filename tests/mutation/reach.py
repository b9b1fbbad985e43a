"""A pytest plugin that writes down the tests that pass, and how long each takes: `-p mutation.reach`.

The file named by TIMES gets a line per test: seconds of a processor, with those of its children, and its id.
"""

import os
from collections.abc import Iterator

import pytest


class Seconds:
    def __init__(self, into: str) -> None:
        self.into = into
        self.passed = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.passed

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.passed = True
        start = sum(os.times()[:4])
        yield
        if self.passed:
            with open(self.into, "a", encoding="utf-8") as file:
                file.write(f"{sum(os.times()[:4]) - start:.2f} {item.nodeid}\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Seconds(os.environ["TIMES"]))
