"""A study sits an exam: it chooses on the development rows, and its final model hands in one answer."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from modelsel.core.errors import RefusedError
from modelsel.core.outcome import TestResult
from modelsel.core.selection import Assessed
from modelsel.core.types import Feature, Outputs, Strings, Table
from modelsel.dataset.read_table import read_like
from modelsel.examination.sit import ExamSession, Shown

POLICY = "exam"


def sit(
    folder: Path, name: str, features: tuple[Feature, ...], classes: tuple[str, ...], predict: Callable[[Table], Outputs],
    forecast: tuple[float, int] | None, assessed: Assessed | None = None,
) -> TestResult:  # fmt: skip
    """Predict the questions and hand in the answer under the study's name; a refusal is a result that says why.

    With predictions out of fold for the development rows (the first of `assessed`) a bounded loss is planned from them.
    """
    import pandas as pd

    exam = ExamSession(folder)
    path = folder / exam.terms.files["questions"].name
    outputs = predict(read_like(path, features).table)
    parts = [(exam.store.tokens(), outputs), *_known_answers(exam, assessed, outputs)]
    answer = pd.concat([pd.DataFrame(_columns(exam, *part, classes)) for part in parts], ignore_index=True)
    try:
        return _result(exam.answer(answer, _asker_name(name), forecast), exam)
    except RefusedError as error:
        policy = exam.terms.policy
        refused = error.problems[0].what
        return TestResult(None, None, len(exam.store.sealed), 0, False, 0.0, 0.0, None, 1 - policy.intervals, POLICY,
                          policy.release, refused=refused, **_score_of_numbers(exam))  # fmt: skip


def _known_answers(exam: ExamSession, assessed: Assessed | None, outputs: Outputs) -> Iterator[tuple[Strings, Outputs]]:
    """Tokens of the development rows with what was said of them out of fold; none where a row, or the scores, are missing."""
    tokens = exam.store.tokens("development")
    if assessed is None or len(assessed.truth) != len(tokens):  # rows of rare classes may have been left out
        return
    if outputs.scores is None:
        yield tokens, Outputs(assessed.predicted[:1])
    elif assessed.scores is not None:
        yield tokens, Outputs(assessed.predicted[:1], assessed.scores[:1])


def _columns(exam: ExamSession, tokens: Strings, outputs: Outputs, classes: tuple[str, ...]) -> dict[str, Any]:
    """Columns of an answer."""
    said = outputs.predicted[0].tolist()
    columns = {exam.terms.token: tokens, "prediction": [classes[code] for code in said] if classes else said}
    if outputs.scores is not None:
        for label in exam.terms.classes:
            columns[f"score_{label}"] = outputs.scores[0][:, classes.index(label)] if label in classes else 0.0
    return columns


def _score_of_numbers(exam: ExamSession) -> dict[str, Any]:
    """What the score of an exam of numbers is of, and the tolerance; nothing of one of classes."""
    measure = exam.terms.measure
    return {"measure": measure["kind"], "tolerance": measure["tolerance"]} if exam.terms.of_numbers else {}


def _result(shown: Shown, exam: ExamSession) -> TestResult:
    """Write the shown answer as the test result of a study."""
    return TestResult(
        score=shown.score, errors=shown.errors, n=shown.n, look=shown.look or 0, replay=shown.replay, price=shown.price,
        spent=shown.spent, interval=shown.interval, level=shown.level, policy=POLICY, release=shown.release,
        **_score_of_numbers(exam),
    )  # fmt: skip


def _asker_name(name: str) -> str:
    """A study's name as one of an asker.

    >>> _asker_name("wine/trees, first")
    'wine-trees- first'
    """
    return re.sub(r"[^\w .@+-]", "-", name)[:64].strip() or "study"
