"""`modelsel run`: a whole study, or a sweep of studies that ends in one table over its jobs."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from modelsel.api.commands.ledger import sweep_looks
from modelsel.cli import test
from modelsel.cli.application import application, take_verbose
from modelsel.cli.compare import compare
from modelsel.cli.sweep import JobDone
from modelsel.config.compose import Config
from modelsel.config.settings import AUTO
from modelsel.core.errors import OK, REFUSED, worst
from modelsel.core.outcome import StudySummary
from modelsel.record.sweep import JobResult, SweepFolder


def main(words: Sequence[str]) -> int:
    """Run `modelsel run`: perform a study, or a sweep of them."""
    rest, verbose = take_verbose(words)
    return application("run", rest, partial(study, tuple(rest), verbose=verbose), end_sweep)


def study(words: tuple[str, ...], config: Config, swept: bool, verbose: bool = False) -> JobDone:
    """Perform a study and print its verdict. In a sweep the table says it; the test set stays closed until all have chosen."""
    from modelsel.record.folder import RunFolder
    from modelsel.reporting.show import text
    from modelsel.reporting.terminal import progress
    from modelsel.reporting.verdict import brief, verdict
    from modelsel.study.perform import perform

    for note in _of_memory():
        print(note, file=sys.stderr)
    outcome = perform(replace(config, final_test=False) if swept else config, progress(), ("modelsel", "run", *words))
    folder = RunFolder.open(outcome.folder)
    if shown := text(folder):
        print(f"== {outcome.task.name} ==\n\n{shown}" if swept else shown)
    said = verdict(folder) if verbose else brief(folder)
    print(said if not swept else outcome.folder, file=sys.stderr if swept else sys.stdout)
    place = str(Path(outcome.folder).absolute())
    return JobDone(code_of(outcome), outcome.winner.cv.mean, place, swept and _opens(config, outcome))


def _of_memory() -> list[str]:
    """Say at the first run in a container that its home is new and goes with it."""
    from modelsel.core.system.container import is_lost_afterwards
    from modelsel.ledger.home import Home

    home = Home.find()
    return [home.short_memory] if not home.ledger.exists() and is_lost_afterwards(home.folder) else []


def _opens(config: Config, outcome: StudySummary) -> bool:
    """Return whether the test set of a job is opened at the sweep's end."""
    return config.final_test is True or (config.final_test == AUTO and "grave" not in outcome.extra)


def end_sweep(sweep: SweepFolder) -> int:
    """The table over a sweep's jobs; then each test set is opened, for the best job on it or for all, and `compare` is done.

    Where the sweeper learned from the jobs' scores, at most one look is made, by the best job, and only where `final_test=true`
    was typed.
    """
    from modelsel.reporting.sweep import best_job, read_jobs, write_sweep

    print(write_sweep(sweep))
    jobs = read_jobs(sweep)
    opening = [job for job in jobs if job.result.opens and job.outcome is not None]
    if sweep.settings.learns and opening:
        opening = [best_job(opening)]
    looks = sweep_looks([job.outcome for job in opening if job.outcome is not None])
    code = worst([test.open_test(outcome.folder) for outcome in looks])
    _compare(sweep, [job.result for job in jobs])
    write_sweep(sweep)
    print(f"sweep    {sweep.report}")
    return code


def _compare(sweep: SweepFolder, jobs: Sequence[JobResult]) -> None:
    """Print the comparison of the space's entries over the data sets where `compare` is set, and store it with the sweep."""
    from modelsel.record.folder import RunFolder

    folders = [job.folder for job in jobs if job.folder]
    if folders and RunFolder.open(folders[0]).config().get("compare"):
        compare(folders, [sweep.path / "comparison.html", sweep.path / "comparison.md"])


def code_of(outcome: StudySummary) -> int:
    """4 when the guard refused the look, else 0."""
    return REFUSED if outcome.test is not None and outcome.test.refused else OK
