"""End a study: its findings, and the errors that end it after everything is on record."""

from collections.abc import Sequence

from modelsel.config.compose import Config
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.outcome import FindingFacts, StudySummary, as_data
from modelsel.core.selection import Selection
from modelsel.core.types import Finding
from modelsel.guard.findings import look_findings
from modelsel.guard.gate import Gate
from modelsel.planning.make import Plan
from modelsel.planning.show import warnings
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.results import Results
from modelsel.runner.study_data import StudyData
from modelsel.study.winner import Fitted


def all_findings(
    config: Config,
    material: StudyData,
    plan: Plan,
    selection: Selection,
    gate: Gate | None,
    final: Fitted | Failure,
    changed: Sequence[Finding] = (),
) -> tuple[FindingFacts, ...]:
    """Gather the findings of all stages."""
    guarded = gate.findings if gate else (look_findings.published_experiment(),)
    found = (
        *material.findings, *changed, *warnings(plan, material.development, measure=config.measure),
        *selection.findings, *guarded,
        *((_not_fitted(final),) if isinstance(final, Failure) else ()),
        *((_chosen_by(config.sweeper),) if config.sweeper else ()),
    )  # fmt: skip
    return tuple(map(as_data, found))


def _not_fitted(failure: Failure) -> Finding:
    message = f"the winner could not be fitted on all development rows: {failure.status}, {failure.reason}"
    return Finding("WINNER_NOT_FITTED", "critical", message, "mend it, or leave it out of the space: none took its place")


def _chosen_by(sweeper: str) -> Finding:
    message = f"the sweeper {sweeper} chose this study's settings by the scores of earlier jobs: the search was adaptive"
    fix = "the corrected score here knows this study alone; the sweep's page corrects for the choice of the job"
    return Finding("ADAPTIVE_SWEEP", "medium", message, fix)


def complain(config: Config, results: Results, outcome: StudySummary) -> None:
    """Raise where the winner could not be fitted, or candidates failed under `on_failure=error` (exit 7).

    After everything is on record. The next best is not taken in a winner's place: it was not chosen.
    """
    winner = outcome.winner
    if failure := winner.failure:
        what = f"the winner, {winner.name} {winner.id}, could not be fitted on all development rows"
        fix = f"mend it, or leave it out of the space: the finished cells are kept; everything else is in {outcome.folder}"
        raise NoCandidateError(Problem("MSEL-705", f"{what}: {failure.status}, {failure.reason}", "space", fix))
    failed = results.counts["failed"]
    if failed and config.on_failure == "error":
        fix = "candidates.csv tells which; on_failure=record goes on with the others"
        raise NoCandidateError(Problem("MSEL-702", f"{failed} of {len(results.candidates)} candidates failed", "space", fix))
