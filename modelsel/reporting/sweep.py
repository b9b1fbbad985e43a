"""A sweep's table, page and files: one row per job, the jobs' intervals on one axis, what the best of so many is worth.

Test scores stand in the table only of jobs whose test set was opened; they are never what jobs are ordered by.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from modelsel.comparison.bbc import Corrected
from modelsel.comparison.jobs import correct_best
from modelsel.core.outcome import StudySummary
from modelsel.record.files import write
from modelsel.record.sweep import REPORT, TABLE, JobResult, SweepFolder, labels_of, settings_of
from modelsel.reporting import charts
from modelsel.reporting.charts import Document, DocumentTable, Plot, Scale
from modelsel.reporting.comparison import INTERVAL, page
from modelsel.reporting.words import interval, plural, score, shown_score

COLUMNS = (
    "code", "winner", "candidate", "measure", "cv", "se", "corrected", "corrected_low", "corrected_high",
    "test", "test_low", "test_high", "seconds", "run",
)  # fmt: skip


@dataclass(frozen=True)
class SweepJob:
    """A job of a sweep with the words that tell it from the others, and what its study found, where it finished."""

    label: str
    result: JobResult
    outcome: StudySummary | None


def read_jobs(sweep: SweepFolder) -> list[SweepJob]:
    """Read the jobs of a sweep, in the order of their numbers."""
    results = sweep.jobs()
    labels = labels_of([each.overrides for each in results])
    return [SweepJob(label, each, each.outcome()) for label, each in zip(labels, results)]


def write_sweep(sweep: SweepFolder) -> str:
    """Write sweep.csv, sweep.json and the page from what the jobs found; return the table for the terminal."""
    jobs = read_jobs(sweep)
    said = document(sweep, jobs)
    write(sweep.path / TABLE, _csv(jobs))
    sweep.write(sweep.settings, jobs=[_facts(job) for job in jobs], sentences=list(said.sentences))
    write(sweep.path / REPORT, page(said, "modelsel run -m"))
    return "\n".join([text_table(jobs), *said.sentences])


def text_table(jobs: Sequence[SweepJob]) -> str:
    """Left-aligned text columns: job, winner, mean ± se, corrected, candidates."""
    rows = [("job", "winner", "cross-validated", "corrected", "candidates"), *map(_row, jobs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]]) + "\n"


def _row(job: SweepJob) -> tuple[str, ...]:
    """Write the row of a job: its winner, or how it ended."""
    if job.outcome is None:
        ended = "passed over: not at hand" if job.result.passed_over else f"ended with exit code {job.result.code}"
        return (job.label, ended, "–", "–", "–")
    won, corrected = job.outcome.winner, job.outcome.winner.corrected
    return (
        job.label,
        f"{won.name} {won.id[:8]}",
        f"{score(won.cv.mean)} ± {score(won.cv.se)}",
        score(corrected.mean) if corrected else "–",
        str(job.outcome.candidates.distinct),
    )


def document(sweep: SweepFolder, jobs: Sequence[SweepJob]) -> Document:
    """The page of a sweep as plain values."""
    finished = [job for job in jobs if job.outcome is not None]
    sweeper = sweep.settings.sweeper
    by_scores = f"chosen by {sweeper}, which went by the cross-validated scores of earlier jobs"
    how = by_scores if sweep.settings.learns else "declared"
    return Document(
        title=f"A sweep of {plural(len(jobs), 'job')}", lead=f"Jobs were {how}: modelsel run {' '.join(sweep.settings.words)}",
        sentences=tuple(_sentences(sweep, jobs, finished)), tables=(_table(jobs),), picture=draw_intervals(finished),
        style=f"{charts.FILE}{INTERVAL}", css=INTERVAL,
    )  # fmt: skip


def _sentences(sweep: SweepFolder, jobs: Sequence[SweepJob], finished: Sequence[SweepJob]) -> list[str]:
    """Say which job is best on each data set, and what that is worth."""
    said = [] if len(finished) == len(jobs) else [f"{len(jobs) - len(finished)} of {len(jobs)} jobs have no result."]
    if sweep.settings.ended:
        said.append(f"The sweep ended before its time: {sweep.settings.ended}.")
    groups: dict[tuple[str, str], list[SweepJob]] = {}
    for job in finished:
        assert job.outcome is not None
        groups.setdefault((str(job.outcome.task.name), job.outcome.measure), []).append(job)
    for (data, measure), own in groups.items():
        if len(own) > 1:
            said.append(_best(data, measure, own))
    if sweep.settings.learns:
        opened = any(job.outcome is not None and job.outcome.test is not None for job in finished)
        of_test = "one test set was opened, by the best job, when all had ended" if opened else "no test set was opened"
        said.append(f"The search was adaptive, by cross-validated scores alone: {of_test}.")
    return said


def _best(data: str, measure: str, jobs: Sequence[SweepJob]) -> str:
    """Name the best job on a data set, its score, and the score without the luck of the choice."""
    outcomes = [job.outcome for job in jobs if job.outcome is not None]
    best = best_job(jobs)
    assert best.outcome is not None
    found = correct_best(outcomes)
    mean = score(best.outcome.winner.cv.mean)
    said = f"{data}: best of {len(jobs)} jobs is {best.label}, cross-validated {measure} {mean}"
    if isinstance(found, Corrected):
        return f"{said}; corrected for the choice among them {score(found.mean)} {interval((found.low, found.high))}."
    return f"{said}; not corrected for the choice among them: {found}."


def best_job(jobs: Sequence[SweepJob]) -> SweepJob:
    """The job of best cross-validated score among those that finished; the first where several are alike."""
    from modelsel.record.folder import RunFolder

    finished = [job for job in jobs if job.outcome is not None]
    first = finished[0].outcome
    assert first is not None
    sign = -1.0 if RunFolder.open(first.folder).details().higher_is_better else 1.0
    return min(finished, key=lambda job: sign * job.outcome.winner.cv.mean if job.outcome else 0.0)


def _table(jobs: Sequence[SweepJob]) -> DocumentTable:
    """The jobs as a table of the page."""
    head = ("job", "winner", "cross-validated", "corrected", "test", "seconds")
    rows = [
        (*_row(job)[:4], _test(job.outcome) if job.outcome else "–", f"{job.result.seconds:.1f}") for job in jobs
    ]  # fmt: skip
    return DocumentTable("Jobs", head, tuple(rows), "in the order in which they ran")


def _test(outcome: StudySummary) -> str:
    if outcome.test is None:
        return "closed"
    return "refused" if outcome.test.refused else f"{shown_score(outcome.test)} {interval(outcome.test.interval)}"


def draw_intervals(jobs: Sequence[SweepJob]) -> Plot | None:
    """A row per job: the winner's corrected score with its interval, else the mean with one standard error to each side."""
    rows = [(job.label, *_ends(job.outcome)) for job in jobs if job.outcome is not None]
    if not rows:
        return None
    row, left, width = 26, 320, 940
    scale = Scale.of([end for _, *ends in rows for end in ends], left, width - 20, log=False)
    bottom = 12 + row * len(rows)
    measures = " and ".join(dict.fromkeys(job.outcome.measure for job in jobs if job.outcome))
    plot = Plot(width, bottom + 40, "scores of the jobs with their intervals")
    plot.axis_below(scale, 6, bottom, measures, 8)
    for i, (label, low, middle, high) in enumerate(rows):
        y = 12 + row * i + row / 2
        plot.text(left - 12, y + 4, label if len(label) <= 46 else f"{label[:45]}…", "name", "end")
        plot.line(scale(low), y, scale(high), y, "span")
        plot.line(scale(middle), y - 6, scale(middle), y + 6, "span")
    return plot


def _ends(outcome: StudySummary) -> tuple[float, float, float]:
    """Low end, middle and high end of a job's score."""
    corrected, cv = outcome.winner.corrected, outcome.winner.cv
    if corrected:
        return corrected.low, corrected.mean, corrected.high
    se = cv.se or 0.0
    return cv.mean - se, cv.mean, cv.mean + se


def _facts(job: SweepJob) -> dict[str, object]:
    """A job as sweep.json and sweep.csv say it."""
    facts: dict[str, object] = {"job": job.result.number, "label": job.label, **settings_of(job.result.overrides)}
    facts |= dict.fromkeys(COLUMNS)
    facts |= {"code": job.result.code, "seconds": round(job.result.seconds, 3), "run": job.result.folder}
    if job.outcome is None:
        return facts
    won, test = job.outcome.winner, job.outcome.test
    corrected = won.corrected
    limits = (None, None, None) if corrected is None else (corrected.mean, corrected.low, corrected.high)
    ends = test.interval if test and test.interval else (None, None)
    return facts | {
        "winner": won.name, "candidate": won.id, "measure": job.outcome.measure,
        "cv": won.cv.mean, "se": won.cv.se, "corrected": limits[0], "corrected_low": limits[1], "corrected_high": limits[2],
        "test": test.score if test else None, "test_low": ends[0], "test_high": ends[1],
    }  # fmt: skip


def table_rows(jobs: Sequence[SweepJob]) -> list[dict[str, object]]:
    """A row per job: number, label, what was swept, scores, seconds and run."""
    settings = [settings_of(job.result.overrides) for job in jobs]
    swept = [key for key in dict.fromkeys(chain(*settings)) if len({each.get(key) for each in settings}) > 1]
    order = ("job", "label", *swept, *COLUMNS)
    return [{key: facts.get(key) for key in order} for facts in map(_facts, jobs)]


def _csv(jobs: Sequence[SweepJob]) -> str:
    """Write sweep.csv."""
    rows = table_rows(jobs)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["job", "label", *COLUMNS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
