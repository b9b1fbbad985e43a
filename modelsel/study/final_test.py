"""The final test of a study: seal the test rows, decide whether they are opened, and open them once; or answer an exam."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from modelsel.config.compose import Config
from modelsel.config.settings import AUTO
from modelsel.core.facts import UNSTATED
from modelsel.core.outcome import ClosedFacts, TestResult
from modelsel.core.reading import TableReading
from modelsel.core.satellites import part
from modelsel.core.selection import Assessed, Selection
from modelsel.core.spec import kind_of
from modelsel.core.types import Candidate, NumberOutputs, NumberTask, Outputs, Resampling, Table, Task
from modelsel.guard.copied_units import declared_units
from modelsel.guard.gate import Gate
from modelsel.guard.labels import wrong
from modelsel.guard.policy.base import Policy
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary, TestSetDeclaration
from modelsel.measure.base import BaseMeasure
from modelsel.measure.capped import CappedError, ErrorQuantiles
from modelsel.measure.within import Within
from modelsel.record.folder import RunFolder, is_unfinished
from modelsel.record.mlflow.track import Tracker
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.final_fit import Final
from modelsel.runner.number_look import POWERS, quantiles_beside
from modelsel.runner.study_data import StudyData
from modelsel.study.winner import Fitted, ask_winner


def seal(
    config: Config, material: StudyData, candidates: Sequence[Candidate], folder: RunFolder, tracker: Tracker
) -> tuple[Gate | None, TestSetDeclaration]:
    """The gate with the test rows sealed and the space declared, or with the rows that will choose where none are sealed.

    No gate for a published experiment: what it shows is in the literature, and its choice is not written into the ledger.
    """
    asked = asked_of_test(config.measure, config.guard, material.development)
    sealing = TestSetDeclaration(
        sealed=material.sealed, development=material.development, measure=asked, study=config.name,
        folder=str(folder.path), spec_id=config.spec_id, config=config.resolved,
        candidates=tuple(candidate.id for candidate in candidates), seed=config.seed,
        most=config.to_ask, searched=config.searched,
    )  # fmt: skip
    if config.published and not len(material.sealed):
        return None, sealing
    gate = Gate(config.guard, folder.project(config.resolved), tracker.anchors)
    gate.seal(sealing)
    return gate, sealing


def asked_of_test(measure: BaseMeasure, guard: Policy, task: Task) -> BaseMeasure:
    """The measure that the sealed rows answer: the study's, and of numbers the share of rows off by more than the tolerance.

    With `guard.beside` the study's own stands beside that share, each error capped, or quantiles of the errors do.
    """
    if not isinstance(task, NumberTask) or guard.tolerance is None:
        return measure
    quantiles = quantiles_beside(guard.beside, kind_of(measure))
    if quantiles and guard.cap is not None:
        return ErrorQuantiles(guard.tolerance, guard.cap, quantiles)
    if guard.beside and guard.cap is not None:
        return CappedError(guard.tolerance, guard.cap, POWERS[kind_of(measure)])
    return Within(guard.tolerance)


def opens_test(config: Config, material: StudyData) -> bool:
    """Return whether the test set is to be opened: `auto` leaves it closed while the data have findings of high severity."""
    return config.final_test is True or (config.final_test == AUTO and not material.grave)


def reason_closed(config: Config, material: StudyData, folder: RunFolder) -> tuple[Sequence[str], ClosedFacts | None]:
    """The grave findings for which the test set stays closed; of `auto` why, and what opens it. A sweep's end reads it too."""
    codes = [finding.code for finding in material.grave]
    if not codes or not len(material.sealed):
        return UNSTATED, UNSTATED
    if config.final_test != AUTO:
        return codes, UNSTATED
    one = len(codes) == 1
    reason = f"{', '.join(dict.fromkeys(codes))}: {'a finding' if one else 'findings'} of high severity in the data"
    return codes, ClosedFacts(reason=reason, open=f"modelsel test {folder.path.parent.name}")


def open_test(
    gate: Gate | None, sealing: TestSetDeclaration, selection: Selection, final: Fitted | Failure, opened: bool,
    trained: float = 1.0,
) -> TestResult | None:  # fmt: skip
    """Look once for the winner, still to be worded; a note of the choice where the test stays closed or no model is there."""
    if gate is None:
        return None
    board, winner = selection.board, selection.winner
    choice = summarise_selection(
        board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates), trained, sealing.measure
    )
    if isinstance(final, Failure) or final.answers is None:
        gate.select(sealing, choice)
        return None
    answers = final.answers
    if not opened:
        gate.select(sealing, choice, lambda _table: answers)  # what is on record now may be tested later as it was declared
        return None
    seen = out_of_fold(selection.assessed, sealing)
    candidate = selection.candidates[winner]
    return gate.look(LookRequest(sealing, choice, lambda _table: answers, candidate, seen=seen, unfinished=is_unfinished))


def word_answer(test: TestResult, measure: BaseMeasure) -> TestResult:
    """The result with the measure that it is of, and its tolerance where it has one; capped errors stand beside the share."""
    tolerance = getattr(measure, "tolerance", None)
    if not isinstance(measure, CappedError):
        counts_off = isinstance(measure, Within)
        return replace(test, measure=WITHIN if counts_off else kind_of(measure), tolerance=tolerance)
    shown = replace(test, measure=WITHIN, tolerance=tolerance, cap=None, above=None)
    if test.released is None or test.errors is None:
        return shown
    beside = {"measure": MEASURES[measure.power], "score": test.released, "interval": test.interval, "cap": measure.cap,
              "above": test.above}  # fmt: skip
    counted = test.counted.interval if test.counted else None
    limits = None if counted is None else (float(counted[0]), float(counted[1]))
    return replace(shown, score=test.errors / test.n, step=None, read_as="", interval=limits, beside=beside, counted=None)


WITHIN, MEASURES = "within", {1: "mae", 2: "mse"}


class ExamPart(Protocol):
    """What exams offer a study; they stand in a package of their own."""

    def measure(self, folder: Path) -> BaseMeasure:
        """Return the measure of an exam."""

    def sit(
        self, folder: Path, name: str, reading: TableReading, classes: tuple[str, ...],
        predict: Callable[[Table], Outputs], forecast: tuple[float, int] | None, assessed: Assessed | None,
    ) -> TestResult:  # fmt: skip
        """Hand in the answer of a study."""


def answer_exam(exam: str, config: Config, selection: Selection, final: Final) -> TestResult:
    """Hand in the winner's answer to an exam, foreseen by its errors out of fold, with these if all rows have one."""
    board, winner = selection.board, selection.winner
    sitting: ExamPart = part("exam")
    asked = sitting.measure(Path(exam))
    chosen = summarise_selection(
        board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates), measure=asked
    )
    foreseen = None if chosen.cv_error is None else (chosen.cv_error, chosen.cv_rows)

    def predict(table: Table) -> Outputs:
        return ask_winner(config, selection, final, table)

    whole = bool(selection.assessed.assessed_by(0).all())
    known = selection.assessed if whole else None
    reading = TableReading.of(final.features) if final.reading is None else final.reading
    return sitting.sit(Path(exam), config.name, reading, final.classes, predict, foreseen, known)


def out_of_fold(assessed: Assessed, sealing: TestSetDeclaration) -> OutOfFold | None:
    """The winner's predictions out of fold; None where it kept no scores and the measure reads them."""
    if sealing.measure.needs_scores and assessed.scores is None:
        return None
    rows, development = np.flatnonzero(assessed.assessed_by(0)), sealing.development
    scores = None if assessed.scores is None else np.asarray(assessed.scores[:1, rows], np.float64)
    units, weights = declared_units(development), development.weights
    return OutOfFold(
        assessed.outputs(assessed.predicted[:1, rows], scores), assessed.truth[rows],
        None if units is None else units[rows], None if weights is None else weights[rows],
    )  # fmt: skip


def trained_share(resampling: Resampling, rows: int) -> float:
    """Compute the share of the development rows that a fold's models are fitted on, on average; repeats count once."""
    return float(np.mean([fold.analysed for fold in resampling.folds])) / rows


def summarise_selection(
    winner: str, mean: float, assessed: Assessed, tried: int, trained: float = 1.0, measure: BaseMeasure | None = None
) -> SelectionSummary:  # fmt: skip
    """Summarise selection's evidence on the winner, whose out-of-fold predictions come first."""
    there = assessed.assessed_by(0)
    said, truth = assessed.predicted[0][there], assessed.truth[there]
    numbers = isinstance(measure, Within | CappedError)
    off = wrong(measure, NumberOutputs(said[None]), truth, 0) if numbers and measure is not None else said != truth
    error = float(off.mean()) if len(off) and (numbers or said.dtype.kind != "f") else None
    if isinstance(measure, CappedError):
        mean = float(measure.losses(truth, NumberOutputs(said[None]), 0).mean()) if len(off) else mean
    elif numbers and error is not None:
        mean = error
    return SelectionSummary(winner, mean, int(there.sum()), error, tried, trained)
