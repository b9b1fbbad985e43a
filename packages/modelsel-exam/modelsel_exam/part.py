"""What the core asks of exams (`exam=DIR`, certificates): settings, measure and answer of a study; the looks at an exam's rows.

A study that sits an exam chooses on its development rows, and its final model hands in one answer.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from modelsel.certificates.certify import Certified
from modelsel.core.column_kind.base import kind_named
from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.core.outcome import TestResult
from modelsel.core.reading import TableReading
from modelsel.core.selection import Assessed
from modelsel.core.types import Outputs, Strings, Table
from modelsel.dataset.read_table import read_like
from modelsel.measure.base import BaseMeasure
from modelsel_exam.sit import ExamSession, Shown, is_answer, is_close
from modelsel_exam.terms import FILE, read_terms

CSV = ".csv"


def settings(folder: Path, task: object) -> Mapping[str, object]:
    """Return the settings that an exam brings to a study: data set, split, and the task where none was chosen.

    Raises ConfigurationError where no exam is there.
    """
    path = folder / FILE
    try:
        terms = json.loads(path.read_text("utf-8"))
        stated = {"task": terms["task"]} if "task" in terms and task == "auto" else {}
        return {"dataset": _dataset(folder, terms), "split": {"kind": "none"}, **stated}
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "name the folder that `modelsel exam create` wrote"
        raise ConfigurationError(Problem("MSEL-247", f"no exam is there ({type(error).__name__})", str(path), fix)) from error


def _dataset(folder: Path, terms: Mapping[str, Any]) -> dict[str, object]:
    """The development rows, with kinds and levels as the terms state them."""
    columns, name = terms["columns"], str(terms["files"]["development"]["name"])
    kinds = {one["name"]: _kind(one) for one in terms["features"]}
    roles = {"weights": columns["weight"], "unit" if terms.get("unit") else "groups": columns["group"]}
    if terms.get("measured_in"):
        roles["measured_in"] = terms["measured_in"]
    return {
        "kind": "csv" if name.endswith(CSV) else "parquet", "path": str(folder / name), "target": columns["target"],
        "features": {**kinds, columns["token"]: "ignore"}, **{role: column for role, column in roles.items() if column},
    }  # fmt: skip


def _kind(feature: Mapping[str, Any]) -> object:
    kind = feature["kind"]
    return {kind: list(feature["levels"])} if kind_named(kind).is_ranked else kind


def measure(folder: Path) -> BaseMeasure:
    """Return the measure of an exam."""
    return read_terms(folder).make_measure()


def certified(folder: Path) -> Certified:
    """Gather the looks of an exam that a certificate covers."""
    exam = ExamSession(folder)
    made = [look for look in exam.history() if is_answer(look, exam.terms.id) or is_close(look, exam.terms.id)]
    about = {"terms": exam.terms.written(), "terms_sha256": exam.terms.digest}
    return Certified(exam.gate, "exam", exam.terms.name, made, about, exam.terms.id)


# The answer of a study.


POLICY = "exam"


def sit(
    folder: Path, name: str, reading: TableReading, classes: tuple[str, ...], predict: Callable[[Table], Outputs],
    forecast: tuple[float, int] | None, assessed: Assessed | None = None,
) -> TestResult:  # fmt: skip
    """Predict the questions and hand in the answer under the study's name; a refusal is a result that says why.

    With predictions out of fold for the development rows (the first of `assessed`) a bounded loss is planned from them.
    """
    import pandas as pd

    exam = ExamSession(folder)
    path = folder / exam.terms.files["questions"].name
    outputs = predict(read_like(path, reading).table)
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
