"""Explain the choice as far as it was asked for: reasons, weak spots, learning curve, the models of the folds."""

from collections.abc import Callable
from typing import Any

from modelsel.config.compose import Config
from modelsel.core.selection import Selection
from modelsel.core.types import Resampling, Task
from modelsel.explanation.explain import StudyToExplain, explanation, fold_models
from modelsel.planning.make import Plan
from modelsel.record.folder import RunFolder
from modelsel.record.study_record import FinalModel, UnseenRows
from modelsel.runner.aggregation.results import Results
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.run import run as run_plan
from modelsel.runner.study_data import StudyData
from modelsel.study.jobs import journal_of, run_apart
from modelsel.study.winner import Fitted, described_model

RECIPES = ("sklearn", "estimator")  # learners of which a model may be kept as its recipe alone


def explain_choice(
    config: Config, material: StudyData, folder: RunFolder, selection: Selection, final: Fitted | Failure
) -> tuple[dict[str, Any], tuple[tuple[FinalModel, UnseenRows], ...]]:
    """Reasons and weak spots of the choice as far as they were asked for, from development rows; the models of the folds."""
    model = final.model if isinstance(final, Fitted) else None

    def apart(function: Callable[..., Any], *arguments: object) -> Any:
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
    found = explanation(of, config.explain, config.slices, config.curve)
    if not config.explain.sets:
        return found, ()
    kept = fold_models(of)
    if isinstance(kept, Failure):
        return {**found, "sets": {"failed": f"{kept.status}, {kept.reason}"}}, ()
    described = [(described_model(one, material.development, config.tracking), strange) for one, strange in kept]
    if any(one.learner.kind in RECIPES and "stored" not in one.learner.facts for one, _ in described):
        return {
            **found,
            "sets": {"failed": "of this learner only the recipe is kept; learner=estimator may keep more"},
        }, ()
    return {**found, "sets": {"folds": len(described)}}, tuple(described)
