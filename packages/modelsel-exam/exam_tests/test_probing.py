"""Labels probed by changes of single rows: through what is said, through the board; what an answer made of them is worth."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from exam_tests.conftest import errors, guess, questions
from modelsel.core.errors import RefusedError
from modelsel.ledger.home import Home
from modelsel.statistics.certificate import interval
from modelsel_exam import board as boards
from modelsel_exam import store
from modelsel_exam.service import ExamService
from modelsel_exam.sit import ExamSession
from tests.extras import needs

needs("mcp")
page = needs("modelsel_exam.web").page
Make = Callable[..., ExamSession]
EXACT = ("full", "predicted")
TOLD = {"full": 1, "predicted": 1, "better": 2, "ladder": 99}  # rows that have to be turned at once before it shows
OTHER = {"yes": "no", "no": "yes"}
HIDING: dict[str, dict[str, Any]] = {
    "ladder": {"resolution": 0.05}, "grid": {"resolution": 0.2}, "passfail": {"target_rate": 0.4},
    "better": {"resolution": 0.05},
    "closed": {},
}  # fmt: skip


def turned(said: pd.DataFrame, row: int) -> pd.DataFrame:
    """The same answer but for one row."""
    changed = said.copy()
    changed.loc[row, "prediction"] = OTHER[str(said.prediction[row])]
    return changed


def two_worlds(made: ExamSession, folder: Path, flipped: str, monkeypatch: pytest.MonkeyPatch) -> ExamSession:
    """A copy of an exam, keys and all, in which the label of one question is another."""
    home = Path(shutil.copytree(made.store.home.folder, folder / "home"))
    shutil.copytree(made.folder, folder / "exam")
    read = store._labels

    def labels(asked: Any) -> Any:
        classes, codes = read(asked)
        if asked.home.folder != home:
            return classes, codes
        return classes, np.where(asked.tokens() == flipped, 1 - codes, codes).astype(np.int32)

    monkeypatch.setattr(store, "_labels", labels)
    return ExamSession(folder / "exam", Home(home))


def public(exam: ExamSession) -> list[Any]:
    """All that anybody may see of an exam while it is open: board, state, page; without the time of day."""
    service = ExamService(exam.folder, home=exam.store.home)  # which is not the environment's
    lines = [replace(line, at="") for line in service.board()]
    return [lines, service.state(), page(service, "http://x/"), boards.status(exam)]


@pytest.mark.slow
@pytest.mark.parametrize("release", HIDING)
def test_the_board_is_a_function_of_what_was_released(
    exam: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    """Two worlds that differ in the label of one question, and the same questions asked in both, one row changed at a time.

    As long as what askers were told is the same, everything that is public is the same: whatever the board tells of that
    label, the answers had told, at their price.
    """
    made = exam(release=release, looks=None, **HIDING[release])
    row = 7
    other = two_worlds(made, tmp_path / "other", str(questions(made).token[row]), monkeypatch)
    base, hidden = guess(made), 0
    for number, changed in enumerate((base, *(turned(base, place) for place in (row, row + 1, row)), guess(made, 2.6)), 1):
        here, there = made.answer(changed, "ann"), other.answer(changed, "ann")
        if (here.said, here.score, here.interval, here.price) != (there.said, there.score, there.interval, there.price):
            break
        hidden += 1
        assert public(made) == public(other), number
    assert hidden >= 3  # else nothing was compared
    assert errors(made, base) != errors(made, turned(base, row))


def coins(loans: Path, exam: Make, **terms: Any) -> tuple[ExamSession, pd.Series]:
    """An exam whose labels are coin tosses, so that whatever is predicted is wrong at a rate of one half; and the labels."""
    rng = np.random.default_rng(5)
    frame = pd.read_csv(loans).iloc[:120]
    frame["income"] = rng.permutation(120) + 0.5
    frame["default"] = rng.choice(["yes", "no"], 120)
    frame.to_csv(loans, index=False)
    made = exam("split.test=0.4", looks=None, **terms)
    truth = frame.set_index("income").default[questions(made).income]
    return made, truth.set_axis(questions(made).token)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["full", "predicted", "better", "ladder"])
def test_an_answer_made_of_labels_that_were_read_is_not_believed(exam: Make, loans: Path, release: str) -> None:
    """Every count, or bit at a step of one row, tells a label. The answer made of them shines, and its interval does not."""
    made, truth = coins(loans, exam, release=release)
    best = pd.DataFrame({"token": truth.index, "prediction": "yes"})
    last = made.answer(best, "ann")
    score, moved = last.score, []
    changes = [(row,) for row in range(24)]
    if release in ("better", "ladder"):  # which move for more than a step alone: a single row does not show
        changes = [*changes[:4], *((row, row + 1) for row in range(0, 24, 2))]
    for rows in changes:
        changed = best
        for row in rows:
            changed = turned(changed, row)
        last = made.answer(changed, "ann")
        if last.said.startswith("better") or (last.score is not None and score is not None and last.score < score):
            best, score = changed, last.score
            moved.append(rows)
    assert moved == [rows for rows in changes if set(truth.iloc[[*rows]]) == {"no"} and len(rows) >= TOLD[release]]
    wrong = int((best.prediction.to_numpy() != truth.to_numpy()).sum())
    if release in EXACT:
        assert interval(wrong, wrong, 48, float(np.log(2 / 0.04)))[1] < 0.5  # what one that charges nothing would say
    done = boards.close(made)
    assert wrong in [one.errors for one in done.answers]
    assert all(low <= 0.5 <= high for low, high in (one.interval for one in done.answers))
    with pytest.raises(RefusedError):
        made.answer(turned(best, 40), "ann")
