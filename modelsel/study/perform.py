"""A study from configuration to record, on one page.

    Config -> task -> development + sealed -> plan -> cells -> choice -> final model -> look -> record -> report

Each step is a room of its own; this page says in which order they are entered, and what is on disk before what is shown.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import modelsel
from modelsel.comparison.indistinguishable import pairs
from modelsel.comparison.point632 import with_point632
from modelsel.config.compose import Config, compose
from modelsel.config.settings import ALL
from modelsel.core.outcome import SCHEMA, CountsFacts, FitsFacts, StudySummary
from modelsel.core.spec import kind_of
from modelsel.core.surroundings import Progress
from modelsel.core.system.memory import give_back
from modelsel.core.types import Candidate, Finding
from modelsel.guard.gate import keep_answer
from modelsel.guard.reporting.audit import audit
from modelsel.learner.trees.path import forget_columns
from modelsel.measure.beside import omission_note
from modelsel.planning.make import count_declared, distinct_candidates, make, say_identical
from modelsel.record import facts
from modelsel.record.facts import StudyRecord
from modelsel.record.folder import RunFolder, log_study, runs_folder
from modelsel.record.mlflow.place import place_study, without_autologging
from modelsel.record.mlflow.store import locate
from modelsel.record.mlflow.track import Tracker
from modelsel.record.redact import Redactor
from modelsel.record.repeated import repeated_otherwise
from modelsel.reporting import page
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.families import is_family, resolve
from modelsel.runner.run import QUIET
from modelsel.runner.study_data import StudyData, prepare
from modelsel.study.ending import all_findings, complain
from modelsel.study.final_test import answer_exam, open_test, opens_test, reason_closed, seal, trained_share, word_answer
from modelsel.study.jobs import compile_kernels, journal_of
from modelsel.study.selection import choices_anew, select
from modelsel.study.winner import Fitted, explain_choice, fit_winner, kept_of, prediction_times


@dataclass
class Clock:
    """Seconds per stage, and in all."""

    start: float = field(default_factory=time.monotonic)
    stages: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("select", "final", "explain", "record"), 0.0))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and return the memory that it no longer needs."""
        began = time.monotonic()
        yield
        give_back()
        self.stages[name] += time.monotonic() - began

    def read(self) -> dict[str, float]:
        return {"total": time.monotonic() - self.start, **self.stages}


def run(*overrides: str, config_dir: str | None = None) -> StudySummary:
    """Run a study; the overrides are those of the command line.

    Raises a ModelselError (`code`, `exit_code`) for what ends a study. A look that the guard refuses is no error:
    `outcome.test.refused` says why.
    """
    return perform(compose(overrides, config_dir), command=("modelsel", "run", *overrides))


def perform(config: Config, progress: Progress = QUIET, command: Sequence[str] = ()) -> StudySummary:
    """Perform a whole study, and return its outcome once it is on record; candidates that failed are part of it."""
    clock, root = Clock(), runs_folder(config.runs)
    config = place_study(config)
    for note in config.notes:
        progress.say(note)
    locate(config.tracking, root)  # an address that cannot be meant is refused before anything is read or computed
    with without_autologging():
        material = prepare(config, progress.say)
        config = material.config
        compile_kernels(config, material.development)
        folder = RunFolder.create(root, config.name, Redactor.of(config.tracking.uri, config.guard.ledger))
        with log_study(folder) as log:
            log.info("%s: %s", config.name, " ".join(command) or "modelsel.run")
            outcome = _perform_steps(config, progress, command, material, folder, clock)
            log.info("winner %s, cv %.6g; test %s", outcome.winner.id, outcome.winner.cv.mean, outcome.test)
            log.info("floor %s", {line.learner: line.cv.mean for line in outcome.floor if line.cv})
        return outcome


def _perform_steps(
    config: Config, progress: Progress, command: Sequence[str], material: StudyData, folder: RunFolder, clock: Clock
) -> StudySummary:
    """Perform the steps of a study in their order, and return its summary."""
    tracker = Tracker(config.tracking, folder)
    with journal_of(config, folder) as journal:
        candidates = resolve(config.candidates, material.development, config.seed, journal, config.reads_scores)
    foreseen = (*candidates, *(corner for entry in config.adaptive for corner in entry.corners))
    plan = make(foreseen if config.adaptive else candidates, material.development, material.resampling)
    alone = distinct_candidates(config.candidates, material.development.features, config.reads_scores)
    if said := say_identical(len(config.candidates), len(alone)):
        progress.say(said)
    if config.measures != ALL and (beside := omission_note(material.development.class_count)):
        progress.say(beside)
    changed = _find_repetitions(config, material, candidates, folder.path.parent)
    for finding in changed:
        progress.say(f"{finding.code}: {finding.message}; {finding.do}")
    gate, sealing = seal(config, material, candidates, folder, tracker)
    give_back()
    with clock.stage("select"), progress:
        results, selection, extra = select(config, material, candidates, plan, folder, progress, clock.read()["total"])
    plan, candidates = results.book.work.plan, results.candidates
    if config.adaptive:
        sealing = replace(sealing, asked=tuple(candidate.id for candidate in candidates))
    with clock.stage("final"):
        final = fit_winner(config, material, candidates, selection, sealing if gate else None)
    with clock.stage("explain"):  # before the look: nothing of it reaches the reasons
        anew = partial(choices_anew, config, material, folder)
        explained, folds = explain_choice(config, material, folder, selection, final, anew)
    with keep_answer() as released:
        with clock.stage("final"):
            if isinstance(final, Fitted) and final.own is not None:
                selection = with_point632(selection, material.development, final.own.predicted[0])
            trained = trained_share(material.resampling, len(material.development))
            released.test = open_test(gate, sealing, selection, final, opens_test(config, material), trained)
            if released.test is not None:
                released.test = word_answer(released.test, sealing.measure)
            if config.exam is not None and isinstance(final, Fitted) and config.final_test is not False:
                released.test = answer_exam(config.exam, config, selection, final.model)
        with clock.stage("record"):
            grave, closed = reason_closed(config, material, folder)
            outcome = StudySummary(
                schema=SCHEMA, modelsel=modelsel.__version__, study=config.name, spec_id=config.spec_id, seed=config.seed,
                task=facts.task(material.development, material.sealed),
                scheme=facts.scheme(kind_of(config.scheme), material.resampling, trained),
                measure=kind_of(config.measure), rule=kind_of(config.rule),
                candidates=CountsFacts(
                    declared=_count_declared(config, candidates), distinct=len(candidates), **results.counts
                ),
                fits=FitsFacts(needed=plan.needed, naive=plan.naive),
                winner=facts.winner(selection, final if isinstance(final, Failure) else None), test=released.test,
                failures=facts.failures(selection), seconds=clock.read(), folder=str(folder.path),
                findings=all_findings(config, material, plan, selection, gate, final, changed),
            ).but(**extra.stated).but(grave=grave, closed=closed)  # fmt: skip
            model, shows = kept_of(final, config, material, selection, outcome, results)
            compared = pairs(selection, material.resampling, material.development.groups)
            folder.save(StudyRecord(
                outcome, selection, config.resolved, material.development, material.resampling, model,
                audit=audit(gate, sealing) if gate else {}, pairs=compared, command=tuple(command),
                shows=shows, times=prediction_times(config, material.development, selection, final), explained=explained,
                folds=folds,
            ))  # fmt: skip
            forget_columns(material.development)  # nothing is grown any more
            give_back()
            page.write(folder)
            tracker.finish()
        timed = outcome.but(seconds=clock.read())
        folder.write_outcome(timed)
        complain(config, results, outcome)
    return timed


def _find_repetitions(config: Config, material: StudyData, candidates: Sequence[Candidate], root: Path) -> list[Finding]:
    """What is said before a look that an earlier run's would have answered but for other settings."""
    if not len(material.sealed) or not opens_test(config, material):
        return []
    return repeated_otherwise(root, candidates, material.development, material.sealed)


def _count_declared(config: Config, candidates: Sequence[Candidate]) -> int:
    return count_declared(config.declared, sum(map(is_family, config.candidates)), candidates) + config.to_ask
