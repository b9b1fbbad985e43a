"""Fit the winner on all development rows, time it, describe it for the record, and explain the choice as far as asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelsel.comparison.point632 import is_defined
from modelsel.config.compose import Config
from modelsel.config.settings import NESTED, TrackingSettings
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.facts import UNSTATED
from modelsel.core.outcome import StudySummary
from modelsel.core.selection import Selection
from modelsel.core.spec import kind_of
from modelsel.core.types import Candidate, Outputs, Resampling, Table, Task, positions
from modelsel.explanation.explain import StudyToExplain, explanation, fold_models
from modelsel.guard.requests import TestSetDeclaration
from modelsel.planning.make import Plan
from modelsel.record.documents import ExplanationFacts, SetsFacts
from modelsel.record.facts import FinalModel, UnseenRows
from modelsel.record.folder import RunFolder
from modelsel.reporting import show
from modelsel.reporting.show import SectionContext
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.single_job import Arguments, Failure, Returned
from modelsel.runner.final_fit import ROWS, Final, answers, fit_and_answer, outputs, prediction_seconds, prediction_time
from modelsel.runner.results import Results
from modelsel.runner.run import run as run_plan
from modelsel.runner.study_data import StudyData
from modelsel.study.jobs import journal_of, run_apart


@dataclass(frozen=True, eq=False)
class Fitted:
    """The final model, and its answers for the sealed rows and for its own, where there are any and they are wanted."""

    model: Final
    answers: Outputs | None
    own: Outputs | None = None


def fit_winner(
    config: Config,
    material: StudyData,
    candidates: Sequence[Candidate],
    selection: Selection,
    sealing: TestSetDeclaration | None,
) -> Fitted | Failure:
    """The winner fitted on all development rows, and its answers for the sealed rows: a job of the pool like any other."""
    tables: list[Table] = [sealing.sealed] if sealing and len(sealing.sealed) else []
    learnt = [material.development] if is_defined(material.resampling.scheme, kind_of(config.measure)) else []
    winner, scores = selection.candidates[selection.winner], config.measure.needs_scores
    asked = (*tables, *learnt)
    done = run_apart(config, fit_and_answer, candidates, winner, material.development, config.seed, scores, *asked)
    if isinstance(done, Failure):
        return done
    model, said = done
    return Fitted(model, said[0] if tables else None, said[-1] if learnt else None)


def ask_outer_winner(
    config: Config, candidate: Candidate, task: Task, seed: int, scores: bool, *tables: Table
) -> tuple[Outputs, ...]:
    """Ask the winner of an outer fold about tables, a job of the pool; raises NoCandidateError where it cannot."""
    done = run_apart(config, answers, config.foreseen, candidate, task, seed, scores, *tables)
    if isinstance(done, Failure):
        what = f"the winner of an outer fold, {candidate.id}, could not be fitted: {done.status}, {done.reason}"
        raise NoCandidateError(Problem("MSEL-706", what, "outer", "mend it, or leave it out of the space"))
    return done


def ask_winner(config: Config, selection: Selection, final: Final, table: Table) -> Outputs:
    """Ask the final model about a table, a job of the pool; raises NoCandidateError where it cannot."""
    done = run_apart(config, outputs, selection.candidates, final, table, config.measure.needs_scores)
    if isinstance(done, Failure):
        what = f"the final model gave no answers: {done.status}, {done.reason}"
        raise NoCandidateError(Problem("MSEL-710", what, table.name or "the rows", "mend it, or leave it out of the space"))
    return done


def prediction_times(config: Config, task: Task, selection: Selection, final: Fitted | Failure) -> dict[str, float]:
    """Seconds for the prediction of 1,000 rows: the winner's, and of the best of each other entry, which is fitted for it."""
    if isinstance(final, Failure):
        return {}
    called = set(selection.assessed.ids[1:])
    others = tuple(candidate for candidate in selection.candidates if candidate.id in called)
    found = run_apart(config, prediction_seconds, others, others, task, config.seed) if others else {}
    took = run_apart(config, prediction_time, selection.candidates, final.model, task.take(positions(task)[:ROWS]))
    own = {} if isinstance(took, Failure) else {selection.board.ids[selection.winner]: took}
    return own if isinstance(found, Failure) else {**own, **found}


def kept_of(
    final: Fitted | Failure, config: Config, material: StudyData, selection: Selection, outcome: StudySummary, results: Results
) -> tuple[FinalModel | None, Mapping[str, Mapping[str, Any]]]:
    """The model as data and what the study shows; neither where the winner could not be fitted."""
    if isinstance(final, Failure):
        return None, {}
    studied = SectionContext(material.development, selection, final.model, config.seed, outcome.measure, results)
    described = describe_model(final.model, material.development, config.tracking)
    return described, show.facts(config.show, studied)


def describe_model(final: Final, task: Task, tracking: TrackingSettings) -> FinalModel:
    """The model as data, with a few rows as an example; a fitted estimator goes along where the person allows that."""
    learner, estimator = final.learner, getattr(final.model, "estimator", None)
    recipe = "stored" not in learner.facts
    return FinalModel(
        features=final.features, classes=final.classes, learner=learner, steps=final.descriptions,
        example=task.take(positions(task)[:5]), estimator=estimator if tracking.allow_skops and recipe else None,
        pickled=estimator if tracking.allow_pickle and recipe else None, reading=task.reading,
    )  # fmt: skip


RECIPES = ("sklearn", "estimator")  # learners of which a model may be kept as its recipe alone


def explain_choice(
    config: Config, material: StudyData, folder: RunFolder, selection: Selection, final: Fitted | Failure,
    anew: Callable[[], Sequence[Candidate]] = tuple,
) -> tuple[ExplanationFacts, tuple[tuple[FinalModel, UnseenRows], ...]]:  # fmt: skip
    """Reasons and weak spots of the choice as far as they were asked for, from development rows; the models of the folds.

    `anew` makes the choice on the analysis rows of each fold, where that is wanted.
    """
    model = final.model if isinstance(final, Fitted) else None

    def apart(function: Callable[[*Arguments], Returned], *arguments: *Arguments) -> Returned | Failure:
        return run_apart(config, function, selection.candidates, *arguments)

    def run(plan: Plan, task: Task, resampling: Resampling) -> Results:
        limits = CellLimits(config.limit.seconds, config.limit.bytes)
        with journal_of(config, folder) as journal:
            return run_plan(plan, task, resampling, config.measure, config.pool, journal, seed=config.seed, limits=limits)

    of = StudyToExplain(
        material.development,
        material.resampling,
        selection,
        config.measure,
        config.seed,
        model,
        apart,
        run,
        config.rule,
        config.guard.tolerance,
    )
    found = explanation(of, config.explanations, config.slices, config.curve, config.optimal)
    if not config.explanations.sets:
        return found, ()
    nested = config.explanations.sets == NESTED
    try:
        kept = fold_models(of, anew() if nested else ())
    except NoCandidateError as nobody:
        return found.but(sets=SetsFacts(failed=f"{nobody.problems[0].what}, {nobody.problems[0].where}")), ()
    if isinstance(kept, Failure):
        return found.but(sets=SetsFacts(failed=f"{kept.status}, {kept.reason}")), ()
    described = [(describe_model(one, material.development, config.tracking), strange) for one, strange in kept]
    if any(one.learner.kind in RECIPES and "stored" not in one.learner.facts for one, _ in described):
        return found.but(sets=SetsFacts(failed="of this learner only the recipe is kept; learner=estimator may keep more")), ()
    return found.but(sets=SetsFacts(folds=len(described), nested=nested or UNSTATED)), tuple(described)
