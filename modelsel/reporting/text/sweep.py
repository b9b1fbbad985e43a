"""One table over the jobs of a sweep: what won where, cross-validated (a sweep never shows test scores side by side)."""

from collections.abc import Sequence
from dataclasses import dataclass

from modelsel.core.outcome import StudySummary
from modelsel.reporting.text.words import score


@dataclass(frozen=True)
class SweepJob:
    """A job by the overrides that tell it from the others; `outcome` is None where it ended with `code`, or was passed over."""

    overrides: str
    outcome: StudySummary | None
    code: int = 0


def table(jobs: Sequence[SweepJob]) -> str:
    """Left-aligned text columns: job, winner, mean ± se, corrected, candidates."""
    rows = [("job", "winner", "cross-validated", "corrected", "candidates"), *map(_row, jobs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]]) + "\n"


def _row(job: SweepJob) -> tuple[str, ...]:
    """Write the row of a job: its winner, or how it ended."""
    if job.outcome is None:
        return (job.overrides, f"ended with exit code {job.code}" if job.code else "passed over: not at hand", "–", "–", "–")
    won, corrected = job.outcome.winner, job.outcome.winner.get("corrected")
    return (
        job.overrides,
        f"{won.get('entry') or won['learner']} {won['id'][:8]}",
        f"{score(won['cv']['mean'])} ± {score(won['cv']['se'])}",
        score(corrected["mean"]) if corrected else "–",
        str(job.outcome.candidates.get("distinct", "–")),
    )
