"""The final test of a recorded study, opened later: its rows read and sealed again, its model asked, its record amended."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from modelsel.config.build import reopen
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.outcome import StudySummary, TestResult
from modelsel.core.surroundings import Progress
from modelsel.core.types import Task, seal
from modelsel.dataset.targets import AUTO, read_as
from modelsel.dataset.weights import weigh_as_recorded
from modelsel.guard.gate import Gate, keep_answer
from modelsel.guard.reporting.audit import audit
from modelsel.guard.requests import LookRequest, TestSetDeclaration
from modelsel.record.folder import RunFolder, is_unfinished
from modelsel.record.mlflow.track import Tracker
from modelsel.record.refit import ask_model, ready
from modelsel.reporting import page
from modelsel.runner.run import QUIET
from modelsel.study.final_test import asked_of_test, out_of_fold, summarise_selection, word_answer


def open_test(
    run: str, category: str = "", text: str = "", root: Path | None = None, progress: Progress = QUIET
) -> StudySummary:
    """Open the sealed test of a study that ran with `final_test=false`; `category` and `text` justify a further look.

    The recorded model is what is tested (a recipe is fitted again, and `progress` is told). A replay keeps the price and the
    flags of the look that it repeats, where this study made it.
    """
    folder = RunFolder.open(run, root)
    outcome = folder.outcome()
    parts, sealing = reseal(folder)
    tracker = Tracker(parts.tracking, folder)
    policy = replace(parts.guard, justify=replace(parts.guard.justify, category=category, text=text)) if text else parts.guard
    gate = Gate(policy, folder.project(folder.config()), tracker.anchors)
    model = ready(folder, progress.say, sealing.development)
    assessed = folder.assessed()
    chosen = summarise_selection(
        outcome.winner.id, outcome.winner.cv.mean, assessed, outcome.candidates.distinct,
        float(outcome.scheme.trained), sealing.measure,
    )  # fmt: skip
    scores = sealing.measure.needs_scores
    seen = out_of_fold(assessed, sealing)
    ask = LookRequest(
        sealing, chosen, lambda table: ask_model(folder, model, table, scores), seen=seen, unfinished=is_unfinished
    )  # fmt: skip
    result = gate.look(ask)
    with keep_answer(result) as released:
        released.test = result = word_answer(result, sealing.measure)
        tested = outcome.but(test=_keep_first_price(outcome.test, result))
        folder.amend(tested, audit(gate, sealing))
        page.write(folder)
        tracker.finish()
    return tested.but(folder=str(folder.path))


def reseal(folder: RunFolder) -> tuple[Any, TestSetDeclaration]:
    """The parts of a recorded study, and its rows read, split and sealed again; they have to be those of the record."""
    outcome, config = folder.outcome(), folder.config()
    parts = reopen(config, "dataset", "split", "measure", "guard", "tracking")
    with read_as(config.get("task", AUTO)):
        task = parts.dataset.load().task
    partition = parts.split.partition(task)
    development, test = (
        weigh_as_recorded(task.take(rows), outcome.task.weights) for rows in (partition.development, partition.test)
    )
    ConfigurationError.raise_if(_untestable(outcome, development, len(partition.test), folder))
    return parts, TestSetDeclaration(
        sealed=seal(test), development=development,
        measure=asked_of_test(parts.measure, parts.guard, development), study=outcome.study,
        folder=outcome.folder or str(folder.path), spec_id=outcome.spec_id, config=config,
        candidates=tuple(row.id for row in folder.candidates()), seed=outcome.seed,
    )  # fmt: skip


def _keep_first_price(first: TestResult | None, result: TestResult) -> TestResult:
    """A replay costs nothing now, and the answer on record what it cost at first."""
    if first is None or first.refused or not result.replay or first.look != result.look:
        return result
    return replace(result, price=first.price, flags=tuple(dict.fromkeys((*first.flags, *result.flags))))


def _untestable(outcome: StudySummary, development: Task, sealed: int, folder: RunFolder) -> Iterator[Problem]:
    """Yield the reasons why a recorded study cannot be tested now."""
    if development.fingerprint != outcome.task.fingerprint:
        yield Problem("MSEL-801", "the data are not those of the study", str(folder.path), "run the study again")
    if not sealed:
        yield Problem("MSEL-802", "the study sealed no rows", str(folder.path), "run it with split=random")
