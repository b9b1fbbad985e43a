"""Seal the test rows, decide whether they are opened, and look once; or answer an exam."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.config.compose import Config
from modelsel.config.settings import AUTO
from modelsel.core.outcome import TestResult
from modelsel.core.selection import Assessed, Selection
from modelsel.core.types import Candidate, Outputs, Resampling, Table
from modelsel.examination.study_answer import sit
from modelsel.guard.gate import Gate
from modelsel.guard.history.statements import declared_units
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary, TestSetDeclaration
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.track import Tracker
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.final_fit import Final
from modelsel.runner.study_data import StudyData
from modelsel.study.winner import Fitted, answered


def seal(
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


def opens(config: Config, material: StudyData) -> bool:
    """Return whether the test set is to be opened: `auto` leaves it closed while the data have findings of high severity."""
    return config.final_test is True or (config.final_test == AUTO and not material.grave)


def reason_closed(config: Config, material: StudyData, folder: RunFolder) -> dict[str, Any]:
    """Say why `auto` left the test set closed, and what opens it; a sweep, which looks at its end, reads it too."""
    codes = [finding.code for finding in material.grave]
    if not codes or not len(material.sealed):
        return {}
    if config.final_test != AUTO:
        return {"grave": codes}
    one = len(codes) == 1
    reason = f"{', '.join(dict.fromkeys(codes))}: {'a finding' if one else 'findings'} of high severity in the data"
    return {"grave": codes, "closed": {"reason": reason, "open": f"modelsel test {folder.path.parent.name}"}}


def look(
    gate: Gate | None, sealing: TestSetDeclaration, selection: Selection, final: Fitted | Failure, opened: bool,
    trained: float = 1.0,
) -> TestResult | None:  # fmt: skip
    """One look for the winner; a note of what chose on which rows when the test stays closed, or there is none, or no model."""
    if gate is None:
        return None
    board, winner = selection.board, selection.winner
    choice = selected(board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates), trained)
    if isinstance(final, Failure) or final.answers is None:
        gate.select(sealing, choice)
        return None
    answers = final.answers
    if not opened:
        gate.select(sealing, choice, lambda _table: answers)  # what is on record now may be tested later as it was declared
        return None
    seen = out_of_fold(selection.assessed, sealing)
    return gate.look(LookRequest(sealing, choice, lambda _table: answers, selection.candidates[winner], seen=seen))


def answer(exam: str, config: Config, selection: Selection, final: Final) -> TestResult:
    """One answer of the winner's to an exam, foreseen by its errors out of fold, with these if all rows have one."""
    board, winner = selection.board, selection.winner
    chosen = selected(board.ids[winner], float(board.mean[winner]), selection.assessed, len(selection.candidates))
    foreseen = None if chosen.cv_error is None else (chosen.cv_error, chosen.cv_rows)

    def predict(table: Table) -> Outputs:
        return answered(config, selection, final, table)

    whole = bool((selection.assessed.predicted[0] >= 0).all())
    return sit(Path(exam), config.name, final.features, final.classes, predict, foreseen, selection.assessed if whole else None)


def out_of_fold(assessed: Assessed, sealing: TestSetDeclaration) -> OutOfFold | None:
    """What the winner predicted out of fold; None where it kept no scores and the measure reads them."""
    if sealing.measure.needs_scores and assessed.scores is None:
        return None
    rows, development = np.flatnonzero(assessed.predicted[0] >= 0), sealing.development
    scores = None if assessed.scores is None else np.asarray(assessed.scores[:1, rows], np.float64)
    units, weights = declared_units(development), development.weights
    return OutOfFold(
        Outputs(assessed.predicted[:1, rows], scores), assessed.truth[rows],
        None if units is None else units[rows], None if weights is None else weights[rows],
    )  # fmt: skip


def trained_share(resampling: Resampling, rows: int) -> float:
    """Compute the share of the development rows that a fold's models are fitted on, on average; repeats count once."""
    return float(np.mean([len(np.unique(fold.analysis)) for fold in resampling.folds])) / rows


def selected(winner: str, mean: float, assessed: Assessed, tried: int, trained: float = 1.0) -> SelectionSummary:
    """Summarise selection's evidence on the winner, whose out-of-fold predictions come first."""
    there = assessed.predicted[0] >= 0
    wrong = assessed.predicted[0][there] != assessed.truth[there]
    return SelectionSummary(winner, mean, int(there.sum()), float(wrong.mean()) if len(wrong) else None, tried, trained)
