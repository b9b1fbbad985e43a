"""`modelsel run`: a whole study, or a sweep of studies that ends in one table over its jobs."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from modelsel.cli.application import SweepScore, application
from modelsel.cli.compare import compared
from modelsel.config.compose import Config
from modelsel.config.settings import AUTO
from modelsel.core.errors import OK, REFUSED, worst
from modelsel.core.outcome import StudySummary
from modelsel.core.spec import kind_of

VERBOSE = ("-v", "--verbose")


def main(words: Sequence[str]) -> int:
    """Run `modelsel run`: perform a study, or a sweep of them."""
    rest = [word for word in words if word not in VERBOSE]
    return application("run", rest, partial(study, tuple(rest), verbose=len(rest) < len(words)), ended)


def study(words: tuple[str, ...], config: Config, swept: bool, verbose: bool = False) -> SweepScore:
    """One study, its verdict on stdout. In a sweep the table says it, and the test set stays closed until all have chosen."""
    from modelsel.record.folder import RunFolder
    from modelsel.reporting.show import text
    from modelsel.reporting.text.terminal import progress
    from modelsel.reporting.text.verdict import brief, verdict
    from modelsel.study.perform import perform

    for note in config.notes:
        print(note, file=sys.stderr)
    outcome = perform(replace(config, final_test=False) if swept else config, progress(), ("modelsel", "run", *words))
    folder = RunFolder.open(outcome.folder)
    if shown := text(folder):
        print(f"== {outcome.task['name']} ==\n\n{shown}" if swept else shown)
    said = verdict(folder) if verbose else brief(folder)
    print(said if not swept else outcome.folder, file=sys.stderr if swept else sys.stdout)
    return SweepScore.of(outcome.winner["cv"]["mean"], code_of(outcome), result=(outcome, swept and _opens(config, outcome)))


def _opens(config: Config, outcome: StudySummary) -> bool:
    """Return whether the test set of a job is opened at the sweep's end."""
    return config.final_test is True or (config.final_test == AUTO and "grave" not in outcome.extra)


def ended(jobs: Sequence[SweepScore]) -> int:
    """The table over a sweep's jobs; then each test set is opened, for the best job on it or for all, and `compare` is done."""
    from modelsel.reporting.text.sweep import SweepJob, table

    names = telling([job.overrides.split() for job in jobs])
    print(table([SweepJob(name, job.result and job.result[0], job.code) for name, job in zip(names, jobs, strict=True)]))
    code = open_tests([job.result[0] for job in jobs if job.result and job.result[1]])
    _compared([job for job in jobs if job.result])
    return code


def _compared(jobs: Sequence[SweepScore]) -> None:
    """Print the comparison of the space's entries over the data sets where `compare` is set, and store it beside Hydra's."""
    from modelsel.record.folder import RunFolder

    folders = [job.result[0].folder for job in jobs]
    if folders and RunFolder.open(folders[0]).config().get("compare"):
        place = Path(jobs[0].place)
        place.mkdir(parents=True, exist_ok=True)
        compared(folders, [place / "comparison.html", place / "comparison.md"])


def telling(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Return the overrides that tell each job from the others; all of them when nothing does.

    >>> telling([["dataset=iris", "seed=1"], ["dataset=wine", "seed=1"]])
    ['dataset=iris', 'dataset=wine']
    """
    common = set.intersection(*map(set, jobs)) if len(jobs) > 1 else set()
    return [" ".join(word for word in words if word not in common) or " ".join(words) or "(defaults)" for words in jobs]


def code_of(outcome: StudySummary) -> int:
    """4 when the guard refused the look, else 0."""
    return REFUSED if outcome.test is not None and outcome.test.refused else OK


# After a sweep the sealed test set of each table is opened once, for the job that cross-validation puts first on it.
#
# Where the jobs sealed different rows of one table (a sweep over `split.seed`), none is opened: rows that are sealed in one job
# have chosen in another, and the best of many test sets is no test.
# With `guard.sweep_test` it is opened for every job: all are committed to before the first answer, and each counts as a look.


def open_tests(outcomes: Sequence[StudySummary]) -> int:
    """Open the test set of each group of studies that sealed the same rows, one of a table; the worst exit code."""
    groups = by_test_set([outcome for outcome in outcomes if outcome.task["test_rows"]])
    every = [group for group in groups if _opens_every(group[0])]
    groups = [*every, *_one_of_a_table([group for group in groups if group not in every])]
    for group in every:
        _commit(group)
    return worst([_open(outcome) for group in groups for outcome in (group if group in every else [best(group)])])


def by_test_set(outcomes: Sequence[StudySummary]) -> list[list[StudySummary]]:
    """Studies that may be compared on one look: the same data, the same rows sealed, the same measure."""
    groups: dict[tuple[object, ...], list[StudySummary]] = {}
    for outcome in outcomes:
        key = (outcome.task["name"], outcome.task["fingerprint"], outcome.task["test_rows"], outcome.measure)
        groups.setdefault(key, []).append(outcome)
    return list(groups.values())


def _one_of_a_table(groups: Sequence[list[StudySummary]]) -> list[list[StudySummary]]:
    """The groups whose test set is the only one of its table; of the others it is said that they stay closed."""
    tables: dict[str, list[list[StudySummary]]] = {}
    for group in groups:
        tables.setdefault(_table(group[0]), []).append(group)
    for several in tables.values():
        if len(several) > 1:
            print(_closed(several), file=sys.stderr)
    return [several[0] for several in tables.values() if len(several) == 1]


def _closed(several: Sequence[list[StudySummary]]) -> str:
    """Say why no test set of a table was opened, and what can be done."""
    first = several[0][0]
    return (
        f"{first.task['name']}: the jobs sealed {len(several)} different sets of its rows, and what one seals has chosen "
        f"in another: no test set was opened. `modelsel test {first.folder}` opens one; guard.sweep_test=true opens all; "
        "outer=stratified_kfold estimates the whole procedure without any"
    )


def _table(outcome: StudySummary) -> str:
    """Return a key that tells the table and the measure of a study from others."""
    from modelsel.record.folder import RunFolder

    dataset = RunFolder.open(outcome.folder).config()["dataset"]
    return json.dumps([dataset, outcome.task["name"], outcome.task["rows"], outcome.measure], sort_keys=True, default=str)


def best(outcomes: Sequence[StudySummary]) -> StudySummary:
    """The one of the best cross-validated score; ties go to the first."""
    from modelsel.record.folder import RunFolder

    higher = bool(RunFolder.open(outcomes[0].folder).details().get("higher_is_better"))
    return (max if higher else min)(outcomes, key=lambda outcome: outcome.winner["cv"]["mean"])


def _opens_every(outcome: StudySummary) -> bool:
    from modelsel.record.folder import RunFolder

    return bool(RunFolder.open(outcome.folder).config()["guard"]["sweep_test"])


def _commit(outcomes: Sequence[StudySummary]) -> None:
    """Commit to all studies of one test set while no answer is known: each then pays for its index alone."""
    from modelsel.final_test import resealed
    from modelsel.guard.gate import Gate
    from modelsel.record.folder import RunFolder

    folder = RunFolder.open(outcomes[0].folder)
    parts, sealing = resealed(folder)
    if kind_of(parts.guard) != "off":
        Gate(parts.guard, folder.root).commit(sealing, [outcome.spec_id for outcome in outcomes])


def _open(outcome: StudySummary) -> int:
    from modelsel.cli.test import opened

    return opened(outcome.folder)
