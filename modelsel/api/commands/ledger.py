"""`modelsel.test`, `audit` and `check`: sealed rows, looks at them, and what the ledger knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from modelsel.api.commands.runs import outcome_of, place
from modelsel.api.outcome import Outcome
from modelsel.core.errors import ConfigurationError, Problem, RefusedError

LEVELS = ("info", "low", "medium", "high", "critical")


def test(run: Any, category: str = "", text: str = "") -> Outcome:  # noqa: PT028  a command's twin, no test
    """Open the sealed test set of a study that left it closed.

    The look is on record before its score is shown. A look that the guard refuses is no error: `outcome.test.refused` says why.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    category : str
        Why a further look is needed: one of the categories that `docs/guard` lists. Needed under `guard=strict` alone.
    text : str
        The reason in words, kept in the ledger.

    Returns
    -------
    Outcome
        The outcome with its test: score, price and interval.

    Raises
    ------
    ConfigurationError
        Where there is no such run, or it has no sealed rows.
    LedgerError
        Where the ledger cannot be written: then nothing is opened.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it, its test rows still sealed:

    >>> modelsel.test(outcome).test.look
    1
    """
    return outcome_of(run).open_test(category, text)


test.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name


@dataclass(frozen=True, eq=False)
class Audit(Mapping[str, Any]):
    """The report of `modelsel.audit`: the shape of `modelsel audit --json` as a mapping, with its tables beside it.

    Parameters
    ----------
    report : Mapping
        The report as data.

    Examples
    --------
    >>> sorted(modelsel.audit(outcome))[:2]
    ['at', 'contacts']
    """

    report: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def __iter__(self) -> Any:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    @property
    def findings(self) -> pd.DataFrame:
        """A row per finding: code, severity, message, and what to do.

        Examples
        --------
        >>> modelsel.audit(outcome).findings.columns.tolist()
        ['code', 'severity', 'message', 'do']
        """
        return pd.DataFrame(list(self["flags"]), columns=["code", "severity", "message", "do"])

    @property
    def looks(self) -> pd.DataFrame:
        """A row per look, with the test set it was at.

        Examples
        --------
        >>> len(modelsel.audit(outcome).looks)
        0
        """
        return pd.DataFrame([{"test_set": one["id"], **look} for one in self["test_sets"] for look in one["looks"]])

    def __str__(self) -> str:
        from modelsel.guard.reporting.page import markdown

        return markdown(self.report)

    def __repr__(self) -> str:
        return f"<Audit: {len(self['test_sets'])} test sets, {len(self['flags'])} findings>"

    def _repr_html_(self) -> str:
        from modelsel.guard.reporting.page import html

        return html(self.report)


def audit(
    run: Any = None, ledger: str = "user", merge: str | None = None, vouch: str | None = None, void: Sequence[str] = ()
) -> Audit:
    """Tell what touched the test rows of a run, what it cost, and whether the ledger is whole.

    Before it looks, other entries can be taken over or judged, as the options of `modelsel audit` do.

    Parameters
    ----------
    run : str, Path or Outcome, optional
        A run's folder, `latest`, a study's name, an MLflow run id, or an outcome; all that the ledger knows, without one.
    ledger : str
        The address of another ledger (a file or PostgreSQL); `user` is the one of the home.
    merge : str, optional
        Another ledger (a file or address) whose entries are taken over first.
    vouch : str, optional
        Another public key that is said to be one's own.
    void : sequence of str
        Places of bad entries that the ledger's owner rules void.

    Returns
    -------
    Audit
        The shape of `modelsel audit --json` as a mapping, with `findings` and `looks` as data frames.

    Raises
    ------
    ConfigurationError
        Where there is no such run or ledger.
    LedgerError
        Where a ledger cannot be read at all.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.audit(outcome)["ledger"]["intact"]
    True
    """
    from modelsel.cli.audit import audited, statement

    return Audit(audited(None if run is None else place(run), ledger, merge, statement(vouch, void)))


def check(run: Any, fail_on: str = "high") -> Audit:
    """Audit a run for a test suite or a pipeline, and raise where `modelsel audit --fail-on LEVEL` would fail.

    The errors carry the exit code of the command.

    Parameters
    ----------
    run : str, Path or Outcome
        A run's folder, `latest`, a study's name (its newest run), an MLflow run id, or an outcome.
    fail_on : str
        The severity from which on it fails: `info`, `low`, `medium`, `high` or `critical`.

    Returns
    -------
    Audit
        What `audit` returns, where nothing is that grave.

    Raises
    ------
    RefusedError
        Names the findings from that severity on (exit code 4).
    LedgerError
        The ledger is not whole (exit code 5).

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.check(outcome, fail_on="critical")["ledger"]["intact"]
    True
    """
    from modelsel.core.errors import LedgerError

    if fail_on not in LEVELS:
        raise ConfigurationError(
            Problem("MSEL-810", f"{fail_on!r} is no severity", "fail_on", f"use one of {', '.join(LEVELS)}")
        )
    found = audit(run)
    grave = [flag for flag in found["flags"] if LEVELS.index(flag["severity"]) >= LEVELS.index(fail_on)]
    problems = [Problem("MSEL-811", f"{one['code']} ({one['severity']}): {one['message']}", "", one["do"]) for one in grave]
    if found["ledger"]["intact"] is False:
        fix = "`modelsel audit` says where"
        raise LedgerError(Problem("MSEL-812", "the ledger is not whole", str(found["ledger"]["url"]), fix), *problems)
    RefusedError.raise_if(problems)
    return found
