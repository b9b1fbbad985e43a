"""A study sits an exam: it chooses on the development rows, and its final model hands in one answer."""

import re
from collections.abc import Callable
from pathlib import Path

from modelsel.core.errors import RefusedError
from modelsel.core.outcome import TestResult
from modelsel.core.types import Feature, Outputs, Table
from modelsel.dataset.tables.prediction_rows import read_like
from modelsel.examination.sit import ExamSession, Shown

POLICY = "exam"


def sit(
    folder: Path, name: str, features: tuple[Feature, ...], classes: tuple[str, ...], predict: Callable[[Table], Outputs],
    forecast: tuple[float, int] | None,
) -> TestResult:  # fmt: skip
    """Predict the questions and hand in the answer under the study's name; a refusal is a result that says why."""
    import pandas as pd

    exam = ExamSession(folder)
    path = folder / exam.terms.files["questions"].name
    outputs = predict(read_like(path, features).table)
    token = exam.terms.token
    answer = pd.DataFrame({token: exam.store.tokens(), "prediction": [classes[code] for code in outputs.predicted[0].tolist()]})
    if outputs.scores is not None:
        for label in exam.terms.classes:
            answer[f"score_{label}"] = outputs.scores[0][:, classes.index(label)] if label in classes else 0.0
    try:
        return _result(exam.answer(answer, _named(name), forecast))
    except RefusedError as error:
        policy = exam.terms.policy
        return TestResult(None, None, len(answer), 0, False, 0.0, 0.0, None, 1 - policy.intervals, POLICY, policy.release,
                          refused=error.problems[0].what)  # fmt: skip


def _result(shown: Shown) -> TestResult:
    """Write the shown answer as the test result of a study."""
    return TestResult(
        score=shown.score, errors=shown.errors, n=shown.n, look=shown.look or 0, replay=shown.replay, price=shown.price,
        spent=shown.spent, interval=shown.interval, level=shown.level, policy=POLICY, release=shown.release,
    )  # fmt: skip


def _named(name: str) -> str:
    """A study's name as one of an asker.

    >>> _named("wine/trees, first")
    'wine-trees- first'
    """
    return re.sub(r"[^\w .@+-]", "-", name)[:64].strip() or "study"
