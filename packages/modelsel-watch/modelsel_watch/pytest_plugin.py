"""The pytest plugin: `pytest --modelsel` fails when a run of the tests adds a grave finding about sealed rows.

Tests are watched as in `modelsel.watching()`, in every worker of pytest-xdist. The audit of the ledger is taken at the start
and at the end; what the end has more is new, whoever wrote it: a test, or a program that a test ran. Without the flag nothing
is imported but this file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from modelsel.cli.arguments import LEVELS

if TYPE_CHECKING:  # without the flag nothing is loaded
    from modelsel.core.types import Finding

PROPERTY = "modelsel"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("modelsel", "what tests do with sealed rows")
    group.addoption("--modelsel", action="store_true", help="watch the tests; fail when a grave finding is new")
    group.addoption("--modelsel-fail-on", choices=LEVELS, default="high", metavar="LEVEL",
                    help=f"the severity from which on a new finding fails: {', '.join(LEVELS)}; default: high")  # fmt: skip
    group.addoption("--modelsel-ledger", default="user", metavar="ADDRESS", help="user, project or an SQLAlchemy URL")


def pytest_configure(config: pytest.Config) -> None:
    """Watch where that is asked for."""
    if config.getoption("modelsel"):
        config.pluginmanager.register(SealedRowsPlugin(config), "modelsel-sealed-rows")


class SealedRowsPlugin:
    """A run of the tests, watched."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; nothing is watched yet."""
        self._config = config
        self._worker = hasattr(config, "workerinput")  # of pytest-xdist: it watches, and the process that started it tells
        self._before: set[tuple[str, str]] = set()
        self._new: list[Finding] = []
        self._by: dict[str, list[str]] = {}  # the tests in which a finding was seen, by its words
        self._told = 0
        self._watch: Any = None

    def pytest_sessionstart(self) -> None:
        """Take the audit before the first test, and watch."""
        from modelsel_watch.startup import WATCHING

        if not self._worker:
            self._before = {(one.code, one.message) for one in self._findings()}
        self._watch = WATCHING.begin(False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[Any]:
        """Note at a test what was seen in it; reports of workers carry it on."""
        seen = self._watch.findings[self._told :]
        self._told += len(seen)
        item.user_properties += [(PROPERTY, f"{one.code}: {one.message}") for one in seen]
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather in which tests something was seen."""
        if report.when == "teardown":
            for name, said in report.user_properties:
                if name == PROPERTY:
                    self._by.setdefault(str(said), []).append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Compare the audit with the one before, and fail where a grave finding is new."""
        from modelsel_watch.startup import WATCHING

        WATCHING.end()
        if self._worker:
            return
        self._new = [one for one in self._findings() if (one.code, one.message) not in self._before]
        if self._grave and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what is new, and where it was seen."""
        if not self._new:
            return
        level = self._config.getoption("modelsel_fail_on")
        terminalreporter.section(f"modelsel: {len(self._new)} new, {len(self._grave)} from {level} on")
        for one in self._new:
            terminalreporter.line(f"{one.code} ({one.severity}): {one.message}; {one.do}")
            for test in dict.fromkeys(self._by.get(f"{one.code}: {one.message}", ())):
                terminalreporter.line(f"    in {test}")

    @property
    def _grave(self) -> "list[Finding]":
        from_ = LEVELS.index(self._config.getoption("modelsel_fail_on"))
        return [one for one in self._new if LEVELS.index(one.severity) >= from_]

    def _findings(self) -> "list[Finding]":
        """All findings of the ledger and of the lock file; none where there is no ledger."""
        from modelsel.core.types import Finding
        from modelsel.guard.face import findings_now

        told: list[Finding] = findings_now(Path(self._config.rootpath), self._config.getoption("modelsel_ledger"))
        return told
