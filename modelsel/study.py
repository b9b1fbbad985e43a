"""A study from configuration to record, on one page.

    Config -> task -> development + sealed -> plan -> cells -> choice -> final model -> look -> record -> report

Each step is a room of its own; this page says in which order they are entered, and what is on disk before what is shown.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import modelsel
from modelsel.comparison.optimism.able_to_be_picked import pickable
from modelsel.comparison.optimism.correcting import near_floor, needs_nested, with_caution, with_nested
from modelsel.comparison.optimism.nested import NestedResult
from modelsel.comparison.optimism.outer import RunPlan, SelectionProcedure, score_selection, score_selection_by_bates
from modelsel.comparison.optimism.point632 import wanted, with_point632
from modelsel.comparison.winner.pairs import pairs
from modelsel.comparison.winner.score_measures import with_score_measures
from modelsel.comparison.winner.selection import choose
from modelsel.config.compose import BATES, Config, compose
from modelsel.config.fields.settings import ALL, AUTO, TrackingSettings
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.outcome import StudySummary, TestResult
from modelsel.core.protocols import Measure, Progress
from modelsel.core.selection import Assessed, Selection
from modelsel.core.spec import kind_of
from modelsel.core.system.interrupts import interruptible
from modelsel.core.types import Candidate, Finding, Floats, Outputs, Resampling, Table, Task, positions
from modelsel.examination.asking.study_answer import sit
from modelsel.explanation.explain import StudyToExplain, explanation, fold_models
from modelsel.guard.findings.looks import published_experiment
from modelsel.guard.gate import Gate
from modelsel.guard.identity.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.guard.kept import kept
from modelsel.guard.reporting.audit import audit
from modelsel.measure.beside import accompanying, named
from modelsel.planning.alike import counted_once, declared, told_apart
from modelsel.planning.make import Plan, make
from modelsel.planning.show import warnings
from modelsel.record.content import facts
from modelsel.record.content.redact import Redactor
from modelsel.record.content.study_record import FinalModel, StudyRecord
from modelsel.record.folder import ROOT, RunFolder
from modelsel.record.log import logged
from modelsel.record.mlflow.store import locate
from modelsel.record.mlflow.track import Tracker
from modelsel.record.model.model import Predictor
from modelsel.reporting import page, show
from modelsel.reporting.context import SectionContext
from modelsel.runner.aggregation.racing import Race
from modelsel.runner.aggregation.results import Results
from modelsel.runner.baselines import floor
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import chosen
from modelsel.runner.execution.single_job import Failure, apart
from modelsel.runner.families import is_family, resolve
from modelsel.runner.final_fit import Final, fit, fit_and_answer
from modelsel.runner.final_fit import outputs as answered
from modelsel.runner.journal.journal import Journal, older_journals
from modelsel.runner.prediction_time import of_candidates, seconds
from modelsel.runner.progress import QUIET
from modelsel.runner.run import run as run_plan
from modelsel.runner.study_data import StudyData, prepare

RECIPES = ("sklearn", "estimator")  # learners of which a model may be kept as its recipe alone


@dataclass
class Clock:
    """Seconds per stage, and in all."""

    start: float = field(default_factory=time.monotonic)
    stages: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("select", "final", "explain", "record"), 0.0))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.stages[name] += time.monotonic() - began

    def read(self) -> dict[str, float]:
        return {"total": time.monotonic() - self.start, **self.stages}


@dataclass(frozen=True, eq=False)
class Fitted:
    """The final model, and its answers for the sealed rows where there are any."""

    model: Final
    answers: Outputs | None


def run(*overrides: str, config_dir: str | None = None) -> StudySummary:
    """Run a study; the overrides are those of the command line.

    Raises a ModelselError (`code`, `exit_code`) for what ends a study. A look that the guard refuses is no error:
    `outcome.test.refused` says why.
    """
    return perform(compose(overrides, config_dir), command=("modelsel", "run", *overrides))


def perform(config: Config, progress: Progress = QUIET, command: Sequence[str] = (), root: Path = ROOT) -> StudySummary:
    """The whole study. What it found is on record before it is returned; failures of candidates are part of it."""
    clock = Clock()
    locate(config.tracking, root)  # an address that cannot be meant is refused before anything is read or computed
    material = prepare(config, progress.say)
    folder = RunFolder.create(root, config.name, Redactor.of(config.tracking.uri, config.guard.ledger))
    with logged(folder) as log:
        log.info("%s: %s", config.name, " ".join(command) or "modelsel.run")
        outcome = _performed(config, progress, command, material, folder, clock)
        log.info("winner %s, cv %.6g; test %s", outcome.winner["id"], outcome.winner["cv"]["mean"], outcome.test)
        log.info("floor %s", {line["learner"]: line["cv"]["mean"] for line in outcome.extra["floor"] if line["cv"]})
    return outcome


def _performed(
    config: Config, progress: Progress, command: Sequence[str], material: StudyData, folder: RunFolder, clock: Clock
) -> StudySummary:
    tracker = Tracker(config.tracking, folder)
    with _journal(config, folder) as journal:
        candidates = resolve(config.candidates, material.development, config.seed, journal)
    plan = make(candidates, material.development, material.resampling)
    if said := counted_once(len(config.candidates), len(told_apart(config.candidates, material.development.features))):
        progress.say(said)
    gate, sealing = _sealed(config, material, candidates, folder, tracker)
    with clock.stage("select"), progress:
        results, selection, extra = _selected(config, material, plan, folder, progress)
    with clock.stage("final"):
        final = _fitted(config, material, candidates, selection, sealing if gate else None)
    with clock.stage("explain"):  # before the look: nothing of it reaches the reasons
        explained, folds = _explained(config, material, folder, selection, final)
    with clock.stage("final"):
        if wanted(material.resampling.scheme, kind_of(config.measure)) and not isinstance(final, Failure):
            selection = with_point632(selection, material.development, final.model.predict(material.development))
        test = _look(gate, sealing, selection, final, opens(config, material))
        if config.exam is not None and isinstance(final, Fitted) and config.final_test is not False:
            test = _answer(config.exam, config, selection, final.model)
    with kept(test):
        with clock.stage("record"):
            outcome = StudySummary(
                study=config.name, spec_id=config.spec_id, seed=config.seed, modelsel=modelsel.__version__,
                folder=str(folder.path), task=facts.task(material.development, material.sealed),
                measure=kind_of(config.measure), rule=kind_of(config.rule), test=test,
                winner=facts.winner(selection, final if isinstance(final, Failure) else None),
                scheme=facts.scheme(kind_of(config.scheme), material.resampling),
                candidates={"declared": _declared(config, candidates), "distinct": len(candidates), **results.counts},
                fits={"needed": plan.needed, "naive": plan.naive}, failures=facts.failures(selection), seconds=clock.read(),
                findings=_findings(config, material, plan, selection, gate, final),
                extra={**extra, **_closed(config, material, folder)},
            )  # fmt: skip
            model, shows = _kept_of(final, config, material, selection, outcome, results)
            folder.save(StudyRecord(
                outcome, selection, config.resolved, material.development, material.resampling, model,
                audit=audit(gate, sealing) if gate else {}, pairs=pairs(selection, material.resampling), command=tuple(command),
                shows=shows, times=_times(config, material.development, selection, final), explained=explained,
                folds=folds,
            ))  # fmt: skip
            page.write(folder)
            tracker.finish()
        timed = replace(outcome, seconds=clock.read())
        folder.write_outcome(timed)
        _complain(config, results, outcome)
    return timed


def _declared(config: Config, candidates: Sequence[Candidate]) -> int:
    return declared(config.declared, sum(map(is_family, config.candidates)), candidates)


def _sealed(
    config: Config, material: StudyData, candidates: Sequence[Candidate], folder: RunFolder, tracker: Tracker
) -> tuple[Gate | None, TestSetDeclaration]:
    """The gate with the test rows sealed and the space declared, or with the rows that will choose where none are sealed.

    No gate for a published experiment: what it shows is in the literature, and its choice is not written into the ledger.
    """
    sealing = TestSetDeclaration(
        sealed=material.sealed, development=material.development, measure=config.measure, study=config.name,
        folder=str(folder.path), spec_id=config.spec_id, config=config.resolved,
        candidates=tuple(candidate.id for candidate in candidates), seed=config.seed,
    )  # fmt: skip
    if config.published and not len(material.sealed):
        return None, sealing
    gate = Gate(config.guard, folder.root, tracker.anchors)
    gate.seal(sealing)
    return gate, sealing


def _selected(
    config: Config, material: StudyData, plan: Plan, folder: RunFolder, progress: Progress
) -> tuple[Results, Selection, dict[str, Any]]:
    """All cells of the plan and what is chosen by them; floor and, where it is asked for, the nested estimate beside."""
    task, limits = material.development, CellLimits(config.limit.seconds, config.limit.bytes)
    bounded = named(config.measure, getattr(config.rule, "bounds", ()))
    with _journal(config, folder) as journal:

        def compute(plan: Plan, task: Task, resampling: Resampling, **more: Any) -> Results:
            more.setdefault("beside", bounded)
            return run_plan(
                plan, task, resampling, config.measure, config.pool, journal, more.pop("tell", progress), seed=config.seed,
                limits=limits, retry_failed=config.retry_failed, **more,
            )  # fmt: skip

        race = Race(config.rule) if config.race.on else None
        shown = {**_beside(config, task, material.resampling), **bounded}
        results = compute(plan, task, material.resampling, deadline=config.deadline, beside=shown, race=race)
        if race and config.race.corrected and (able := pickable(results, material.resampling, config.seed)):
            results = compute(plan, task, material.resampling, beside=shown, race=Race(config.rule, able))
        selection = choose(results, config.rule, material.resampling, config.seed, config.race.corrected)
        guessed = floor(results)
        if config.deadline is None:
            again = partial(compute, task=task, resampling=material.resampling, tell=QUIET)
            selection = with_score_measures(selection, results, lambda plan, beside: again(plan, beside=beside))
        extra: dict[str, Any] = {"floor": [line.to_dict() for line in guessed]}
        near = near_floor(selection, [line.cv["mean"] for line in guessed if line.cv])
        if config.outer is None or not needs_nested(config.corrected, selection, near):
            return results, with_caution(selection, near), extra
        nested = _nested(config, task, compute, journal)
        return results, with_nested(selection, nested, config.corrected), {**extra, "nested": nested.to_dict()}


def _beside(config: Config, task: Task, resampling: Resampling) -> Mapping[str, Measure]:
    """The measures that every candidate gets beside the one that chooses."""
    counted = accompanying(config.measure, task, resampling, scores=False)
    return {**counted, **accompanying(config.measure, task, resampling, scores=True)} if config.measures == ALL else counted


def _times(config: Config, task: Task, selection: Selection, final: Fitted | Failure) -> dict[str, float]:
    """Seconds for the prediction of 1,000 rows: the winner's, and of the best of each other entry, which is fitted for it."""
    if isinstance(final, Failure):
        return {}
    called = set(selection.assessed.ids[1:])
    others = tuple(candidate for candidate in selection.candidates if candidate.id in called)
    found = _apart(config, of_candidates, others, others, task, config.seed) if others else {}
    own = {selection.board.ids[selection.winner]: seconds(final.model, task)}
    return own if isinstance(found, Failure) else {**own, **found}


def _nested(config: Config, task: Task, compute: RunPlan, journal: Journal) -> NestedResult:
    """The whole selection anew inside each outer fold."""
    fitted = partial(_fitted_outside, config)
    selecting = SelectionProcedure(
        config.candidates, config.scheme, config.measure, config.rule, config.seed, compute, journal, fitted
    )
    score = score_selection_by_bates if config.interval == BATES else score_selection
    return score(selecting, task, config.outer.instantiate(task, config.seed))


def _journal(config: Config, folder: RunFolder) -> Journal:
    """The run's journal, which asks those of older runs, `resume` first."""
    first = (RunFolder.open(config.resume, folder.root).journal,) if config.resume else ()
    return Journal(folder.journal, older_journals(folder.root, first))


def _fitted(
    config: Config,
    material: StudyData,
    candidates: Sequence[Candidate],
    selection: Selection,
    sealing: TestSetDeclaration | None,
) -> Fitted | Failure:
    """The winner fitted on all development rows, and its answers for the sealed rows: a job of the pool like any other."""
    table = sealing.sealed if sealing and len(sealing.sealed) else None
    winner, scores = candidates[selection.winner], config.measure.needs_scores
    done = _apart(config, fit_and_answer, candidates, winner, material.development, table, config.seed, scores)
    return done if isinstance(done, Failure) else Fitted(*done)


def _apart(config: Config, function: Callable[..., Any], candidates: Sequence[Candidate], *arguments: Any) -> Any:
    """Call the function where the cells of these candidates are computed; return its result, or the Failure."""
    limits = CellLimits(config.limit.seconds, config.limit.bytes)
    with interruptible():
        return apart(chosen(config.pool, limits, candidates), limits, function, *arguments)


def _explained(
    config: Config, material: StudyData, folder: RunFolder, selection: Selection, final: Fitted | Failure
) -> tuple[dict[str, Any], tuple[tuple[FinalModel, Floats], ...]]:
    """Reasons and weak spots of the choice as far as they were asked for, from development rows; the models of the folds."""
    model = final.model if isinstance(final, Fitted) else None

    def apart(function: Callable[..., Any], *arguments: Any) -> Any:
        return _apart(config, function, selection.candidates, *arguments)

    def run(plan: Plan, task: Task, resampling: Resampling) -> Results:
        limits = CellLimits(config.limit.seconds, config.limit.bytes)
        with _journal(config, folder) as journal:
            return run_plan(plan, task, resampling, config.measure, config.pool, journal, seed=config.seed, limits=limits)

    of = StudyToExplain(material.development, material.resampling, selection, config.measure, config.seed, model, apart, run)
    found = explanation(of, config.explain, config.slices, config.curve)
    if not config.explain.sets:
        return found, ()
    kept = fold_models(of)
    if isinstance(kept, Failure):
        return {**found, "sets": {"failed": f"{kept.status}, {kept.reason}"}}, ()
    described = [(_described(one, material.development, config.tracking), strange) for one, strange in kept]
    if any(one.learner.kind in RECIPES and "stored" not in one.learner.facts for one, _ in described):
        return {
            **found,
            "sets": {"failed": "of this learner only the recipe is kept; learner=estimator may keep more"},
        }, ()
    return {**found, "sets": {"folds": len(described)}}, tuple(described)


def opens(config: Config, material: StudyData) -> bool:
    """Return whether the test set is to be opened: `auto` leaves it closed while the data have findings of high severity."""
    return config.final_test is True or (config.final_test == AUTO and not material.grave)


def _closed(config: Config, material: StudyData, folder: RunFolder) -> dict[str, Any]:
    """Say why `auto` left the test set closed, and what opens it; a sweep, which looks at its end, reads it too."""
    codes = [finding.code for finding in material.grave]
    if not codes or not len(material.sealed):
        return {}
    if config.final_test != AUTO:
        return {"grave": codes}
    one = len(codes) == 1
    reason = f"{', '.join(dict.fromkeys(codes))}: {'a finding' if one else 'findings'} of high severity in the data"
    return {"grave": codes, "closed": {"reason": reason, "open": f"modelsel test {folder.path.parent.name}"}}


def _look(
    gate: Gate | None, sealing: TestSetDeclaration, selection: Selection, final: Fitted | Failure, opened: bool
) -> TestResult | None:
    """One look for the winner; a note of what chose on which rows when the test stays closed, or there is none, or no model."""
    if gate is None:
        return None
    board, winner = selection.board, selection.winner
    choice = selected(board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates))
    if isinstance(final, Failure) or final.answers is None:
        gate.select(sealing, choice)
        return None
    answers = final.answers
    if not opened:
        gate.select(sealing, choice, lambda _table: answers)  # what is on record now may be tested later as it was declared
        return None
    return gate.look(LookRequest(sealing, choice, lambda _table: answers, selection.candidates[winner]))


def _answer(exam: str, config: Config, selection: Selection, final: Final) -> TestResult:
    """One answer of the winner's to an exam, foreseen by its errors out of fold."""
    board, winner = selection.board, selection.winner
    chosen = selected(board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates))
    foreseen = None if chosen.cv_error is None else (chosen.cv_error, chosen.cv_rows)

    def predict(table: Table) -> Outputs:
        return outputs(final, table, config.measure)

    return sit(Path(exam), config.name, final.features, final.classes, predict, foreseen)


def selected(winner: str, mean: float, assessed: Assessed, tried: int) -> SelectionSummary:
    """Summarise selection's evidence on the winner, whose out-of-fold predictions come first."""
    there = assessed.predicted[0] >= 0
    wrong = assessed.predicted[0][there] != assessed.truth[there]
    return SelectionSummary(winner, mean, int(there.sum()), float(wrong.mean()) if len(wrong) else None, tried)


def outputs(fitted: Final | Predictor, table: Table, measure: Measure) -> Outputs:
    """Compute a fitted model's outputs for a raw table: classes, and scores where the measure reads them."""
    return answered(fitted, table, measure.needs_scores)


def _fitted_outside(config: Config, candidate: Candidate, task: Task, seed: int) -> Final:
    """The winner of an outer fold; raises NoCandidateError where it cannot be fitted."""
    done = _apart(config, fit, config.candidates, candidate, task, seed)
    if isinstance(done, Failure):
        what = f"the winner of an outer fold, {candidate.id}, could not be fitted: {done.status}, {done.reason}"
        raise NoCandidateError(Problem("MSEL-706", what, "outer", "mend it, or leave it out of the space"))
    fitted: Final = done
    return fitted


def _kept_of(
    final: Fitted | Failure, config: Config, material: StudyData, selection: Selection, outcome: StudySummary, results: Results
) -> tuple[FinalModel | None, dict[str, Any]]:
    """The model as data and what the study shows; neither where the winner could not be fitted."""
    if isinstance(final, Failure):
        return None, {}
    studied = SectionContext(material.development, selection, final.model, config.seed, outcome.measure, results)
    described = _described(final.model, material.development, config.tracking)
    return described, show.facts(config.show, studied)


def _described(final: Final, task: Task, tracking: TrackingSettings) -> FinalModel:
    """The model as data, with a few rows as an example; a fitted estimator goes along where the person allows that."""
    learner, estimator = final.learner, getattr(final.model, "estimator", None)
    recipe = "stored" not in learner.facts
    return FinalModel(
        features=final.features, classes=final.classes, learner=learner, steps=final.descriptions,
        example=task.take(positions(task)[:5]), estimator=estimator if tracking.allow_skops and recipe else None,
        pickled=estimator if tracking.allow_pickle and recipe else None,
    )  # fmt: skip


def _findings(
    config: Config, material: StudyData, plan: Plan, selection: Selection, gate: Gate | None, final: Fitted | Failure
) -> tuple[Mapping[str, Any], ...]:
    guarded = gate.findings if gate else (published_experiment.finding(),)
    found = (
        *material.findings, *warnings(plan, material.development, measure=config.measure), *selection.findings, *guarded,
        *((_not_fitted(final),) if isinstance(final, Failure) else ()),
    )  # fmt: skip
    return tuple(asdict(finding) for finding in found)


def _not_fitted(failure: Failure) -> Finding:
    message = f"the winner could not be fitted on all development rows: {failure.status}, {failure.reason}"
    return Finding("WINNER_NOT_FITTED", "critical", message, "mend it, or leave it out of the space: nobody took its place")


def _complain(config: Config, results: Results, outcome: StudySummary) -> None:
    """Raise where the winner could not be fitted, or candidates failed under `on_failure=error` (exit 7).

    After everything is on record. The next best is not taken in a winner's place: it was not chosen.
    """
    winner = outcome.winner
    if failure := winner.get("failure"):
        what = f"the winner, {winner['entry'] or winner['learner']} {winner['id']}, could not be fitted on all development rows"
        fix = f"mend it, or leave it out of the space: the finished cells are kept; everything else is in {outcome.folder}"
        raise NoCandidateError(Problem("MSEL-705", f"{what}: {failure['status']}, {failure['reason']}", "space", fix))
    failed = results.counts["failed"]
    if failed and config.on_failure == "error":
        fix = "candidates.csv tells which; on_failure=record goes on with the others"
        raise NoCandidateError(Problem("MSEL-702", f"{failed} of {len(results.candidates)} candidates failed", "space", fix))
