"""`modelsel.test`, `audit`, `check` and `lint`: sealed rows, looks at them, and what the ledger knows."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.api.commands.runs import outcome_of, place
from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.core.outcome import StudySummary
from modelsel.core.spec import kind_of

if TYPE_CHECKING:  # commands start without them
    from modelsel.api.outcome import Outcome
    from modelsel.api.results.audit import Audit
    from modelsel.guard.reporting.lint import LintReport


def test(run: object, category: str = "", text: str = "") -> "Outcome":  # noqa: PT028  a command's twin, no test
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


def audit(
    run: object = None, ledger: str = "user", merge: str | None = None, vouch: str | None = None, void: Sequence[str] = ()
) -> "Audit":
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
    from modelsel.api.results.audit import Audit, audit_report

    return Audit(audit_report(None if run is None else place(run), ledger, merge, vouch, void).written())


def check(run: object, fail_on: str = "high") -> "Audit":
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
    from modelsel.api.results.audit import LEVELS
    from modelsel.core.errors import LedgerError

    if fail_on not in LEVELS:
        raise ConfigurationError(
            Problem("MSEL-810", f"{fail_on!r} is not a severity", "fail_on", f"use one of {', '.join(LEVELS)}")
        )
    found = audit(run)
    grave = [flag for flag in found["flags"] if LEVELS.index(flag["severity"]) >= LEVELS.index(fail_on)]
    problems = [Problem("MSEL-811", f"{one['code']} ({one['severity']}): {one['message']}", "", one["do"]) for one in grave]
    if found["ledger"]["intact"] is False:
        fix = "`modelsel audit` says where"
        raise LedgerError(Problem("MSEL-812", "the ledger is not whole", str(found["ledger"]["url"]), fix), *problems)
    RefusedError.raise_if(problems)
    return found


def lint(*paths: str | Path, ledger: str = "user", against: str | None = None) -> "LintReport":
    """Hold `modelsel.lock` against the ledger, and against a revision of git.

    Nothing is written, and no ledger is made where there is none. What git knows of the file is told without a ledger.

    Parameters
    ----------
    *paths : str or Path
        Lock files, or folders with one; this folder, without any.
    ledger : str
        The address of the ledger; `user` is the one of the home, `project` the one in `runs/`.
    against : str, optional
        A revision of git: looks that are new since, and looks that are gone, are findings.

    Returns
    -------
    LintReport
        With `found`, findings at lines of the files, and `intact`.

    Raises
    ------
    ConfigurationError
        Where there is no lock file, or git knows no such revision.

    Examples
    --------
    >>> Path("modelsel.lock").write_text('{"testsets": {}}')
    16
    >>> modelsel.lint().found
    ()
    """
    from modelsel.guard.reporting.lint import LintReport, lint, lock_files

    reports = [lint(path, ledger, against) for path in lock_files(tuple(map(Path, paths or (".",))))]
    found = tuple(one for report in reports for one in report.found)
    files = tuple(path for report in reports for path in report.files)
    return LintReport(files, found, all(report.intact for report in reports))


# After a sweep the sealed test set of each table is opened once, for the job that cross-validation puts first on it.
#
# Where the jobs sealed different rows of one table (a sweep over `split.seed`), none is opened: rows that are sealed in one job
# have chosen in another, and the best of many test sets is no test.
# With `guard.sweep_test` it is opened for every job: all are committed to before the first answer, and each counts as a look.


def sweep_looks(outcomes: Sequence[StudySummary]) -> Iterator[StudySummary]:
    """Yield the studies whose test set is to be opened: the best of those that sealed the same rows, or all of them.

    One test set of a table is opened; where all are, they are committed to before the first is yielded.
    """
    groups = by_test_set([outcome for outcome in outcomes if outcome.task.test_rows])
    every = [group for group in groups if _opens_every(group[0])]
    groups = [*every, *_one_of_a_table([group for group in groups if group not in every])]
    for group in every:
        _commit(group)
    for group in groups:
        yield from group if group in every else [best(group)]


def by_test_set(outcomes: Sequence[StudySummary]) -> list[list[StudySummary]]:
    """Studies that may be compared on one look: the same data, the same rows sealed, the same measure."""
    groups: dict[tuple[object, ...], list[StudySummary]] = {}
    for outcome in outcomes:
        key = (outcome.task.name, outcome.task.fingerprint, outcome.task.test_rows, outcome.measure)
        groups.setdefault(key, []).append(outcome)
    return list(groups.values())


def _one_of_a_table(groups: Sequence[list[StudySummary]]) -> list[list[StudySummary]]:
    """Keep the groups whose test set is the only one of its table, and say which of the others stay closed."""
    from modelsel.reporting.terminal import Lines

    tables: dict[str, list[list[StudySummary]]] = {}
    for group in groups:
        tables.setdefault(_table(group[0]), []).append(group)
    for several in tables.values():
        if len(several) > 1:
            Lines(sys.stderr).say(why_closed(several))
    return [several[0] for several in tables.values() if len(several) == 1]


def why_closed(several: Sequence[list[StudySummary]]) -> str:
    """Say why no test set of a table was opened, and what can be done."""
    first = several[0][0]
    return (
        f"{first.task.name}: the jobs sealed {len(several)} different sets of its rows, and what one seals has chosen "
        f"in another: no test set was opened. `modelsel test {first.folder}` opens one; guard.sweep_test=true opens all; "
        "outer=stratified_kfold estimates the whole procedure without any"
    )


def _table(outcome: StudySummary) -> str:
    """Return a key that tells the table and the measure of a study from others."""
    from modelsel.record.folder import RunFolder

    dataset = RunFolder.open(outcome.folder).config()["dataset"]
    return json.dumps([dataset, outcome.task.name, outcome.task.rows, outcome.measure], sort_keys=True, default=str)


def best(outcomes: Sequence[StudySummary]) -> StudySummary:
    """The one of the best cross-validated score; ties go to the first."""
    from modelsel.record.folder import RunFolder

    higher = bool(RunFolder.open(outcomes[0].folder).details().higher_is_better)
    return (max if higher else min)(outcomes, key=lambda outcome: outcome.winner.cv.mean)


def _opens_every(outcome: StudySummary) -> bool:
    from modelsel.record.folder import RunFolder

    return bool(RunFolder.open(outcome.folder).config()["guard"]["sweep_test"])


def _commit(outcomes: Sequence[StudySummary]) -> None:
    """Commit to all studies of one test set while no answer is known: each then pays for its index alone."""
    from modelsel.api.final_test import reseal
    from modelsel.guard.gate import Gate
    from modelsel.record.folder import RunFolder

    folder = RunFolder.open(outcomes[0].folder)
    parts, sealing = reseal(folder)
    if kind_of(parts.guard) != "off":
        Gate(parts.guard, folder.project(folder.config())).commit(sealing, [outcome.spec_id for outcome in outcomes])
