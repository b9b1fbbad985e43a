"""The one type that goes from the fit to the choice: every declared column arrives, whichever way it takes."""

import json
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from modelsel.planning.make import fit_digest
from modelsel.runner.evaluation.cell import evaluate
from modelsel.runner.evaluation.cell_result import CODE, COLUMNS, MEASURED, OK, CellResult, blank, numbers
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal, encode
from modelsel.runner.run_index import ScoreMatrix
from tests import doubles
from tests.doubles import Agreement, Double, DoublePath, Quadratic, Wrong, candidates, spread
from tests.runner.studies import study

TASK = doubles.task(60)
RESAMPLING = doubles.folds(TASK)
FOLD = RESAMPLING.folds[0]
SOME = (*spread(5), *candidates(Double(cut=3.5, deed="raise"), Double(cut=4.5, deed="refuse")))


@dataclass(frozen=True, eq=False)
class Measuring(DoublePath):
    """Says a different number for every measured column and candidate."""

    def model(self, learner):
        return DoublePath.model(self, learner)

    def __getattribute__(self, name):
        if name in MEASURED:
            return lambda learners: expected(name, learners)
        return super().__getattribute__(name)


def expected(name, learners):
    return np.array([100 * (1 + MEASURED.index(name)) + learner.cut for learner in learners])


@dataclass(frozen=True)
class Measured(Double):
    def fit_path(self, task, rows, rng):
        return Measuring(float(np.nanmean(task.values[rows, 0])), rows, task, len(task.classes))


def result(some=SOME, scores=True):
    return evaluate(TASK, FOLD, some, fit_digest(some[0]), 0, scores)


def same(one, other):
    assert {each.name for each in fields(CellResult)} >= set(COLUMNS)
    for each in fields(CellResult):
        left, right = getattr(one, each.name), getattr(other, each.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right, each.name)
            assert left.dtype == right.dtype, each.name
        else:
            assert left == right, each.name


@pytest.mark.parametrize("kind", ["sequential", "threads"])
def test_every_measured_column_reaches_the_score_matrix_and_the_means(tmp_path, kind):
    some = candidates(*(Measured(cut=cut) for cut in (0.0, 0.5, 1.0)))
    found = study(tmp_path, some, pool=Pool(kind))
    learners = [candidate.learner for candidate in some]
    assert set(found.means) == set(MEASURED) >= {"complexity", "training_error", "held_back"}
    for name in MEASURED:
        np.testing.assert_allclose(found.means[name], expected(name, learners))
        np.testing.assert_allclose(found.book.scores.columns[name], expected(name, learners)[:, None].repeat(3, 1))
    np.testing.assert_array_equal(found.board.complexity, found.means["complexity"])


def test_what_is_read_back_from_a_journal_has_every_column(tmp_path):
    found = result()
    with Journal(tmp_path) as journal:
        for each in (found, found.with_scores(Wrong(), TASK.target[FOLD.assessment], None, 2)):
            same(journal.load(journal.own.append(*each.encode())), each)


def test_a_part_has_every_column_and_its_own_reasons():
    whole = result()
    for which in ([6, 0, 5], [2], range(len(whole))):
        part, alone = whole.take(np.array(which)), result(tuple(SOME[position] for position in which))
        for name in ("ids", "status", "predicted", "scores", *COLUMNS):
            np.testing.assert_array_equal(getattr(part, name), getattr(alone, name), name)
        assert part.reasons == alone.reasons


def test_a_record_that_lacks_a_column_leaves_it_unknown_and_one_without_statuses_is_none():
    """A column that was added later is missing in older records: what they say is still read."""
    facts, arrays = result().encode()
    for name in COLUMNS:
        fewer = {own: array for own, array in arrays.items() if own != name}
        assert np.isnan(getattr(CellResult.decode(facts, fewer), name)).all()
    for name in ("ids", "status", "bits"):
        with pytest.raises(KeyError):
            CellResult.decode(facts, {own: array for own, array in arrays.items() if own != name})
    with pytest.raises(ValueError, match="no candidates"):
        CellResult.decode(facts, {name: array[:0] for name, array in arrays.items()})


def test_a_record_written_before_there_was_one_result_type_says_what_it_said(tmp_path):
    """Arrays and facts as version 0.2.0 wrote them, byte by byte through its container."""
    arrays = {
        "ids": numbers(spread(2)), "status": np.array([0, 1], np.int8), "predicted": np.array([[0, 1, 1], [0, 0, 0]], np.uint8),
        "complexity": np.array([2.0, np.nan]), "training_error": np.array([0.25, np.nan]), "held_back": np.array([0.5, np.nan]),
    }  # fmt: skip
    facts = {"kind": "answers", "seconds": 0.5, "reasons": {"1": "ValueError: no"}, "traceback": "Trace", "measure": ""}
    with Journal(tmp_path) as journal:
        found = journal.load(journal.own.append_bytes(encode(facts, arrays)))
    assert found is not None
    assert (found.seconds, found.reasons, found.traceback) == (0.5, {1: "ValueError: no"}, "Trace")
    for name, array in arrays.items():
        np.testing.assert_array_equal(getattr(found, name), array, name)
    assert found.scores is None
    assert np.isnan(found.score).all()


def test_candidates_are_found_by_their_ids_whatever_the_order():
    whole, rng = result(), np.random.default_rng(0)
    for _ in range(50):
        held = whole.take(rng.permutation(7)[: rng.integers(1, 8)])
        wanted = numbers(rng.permutation(np.array([*SOME, *spread(3, group=9)], object))[: rng.integers(0, 11)])
        here, there = held.find(wanted)
        assert held.ids[here].tolist() == wanted[there].tolist() == [one for one in wanted.tolist() if one in held.ids.tolist()]


def test_a_score_that_is_not_finite_is_a_status_with_a_reason():
    one_class, found = np.zeros(len(FOLD.assessment), np.int32), result()
    said = found.with_scores(Agreement(), one_class, None, 2)
    assert (found.status[:5] == OK).all(), "the record keeps what the candidate said"
    assert (said.status[:5] == CODE["invalid_score"]).all()
    assert said.reasons[0] == "the measure is not defined on this fold"
    assert said.reasons[5] == "ValueError: asked to raise"
    assert not said.has_rows


def test_scores_are_those_of_the_measure():
    truth = TASK.target[FOLD.assessment]
    found = result()
    wrong = found.with_scores(Wrong(), truth, None, 2)
    np.testing.assert_allclose(wrong.score[:5], np.mean(found.predicted[:5] != truth, axis=1))
    other = found.with_scores(Quadratic(), truth, None, 2)
    np.testing.assert_allclose(other.score[:5], Quadratic().score(truth, found.outputs(np.arange(5)), None, 2))
    assert np.isnan(other.score[5:]).all()


def test_who_left_nothing_but_a_reason_has_every_column():
    found = CellResult.of_failure(SOME, "crashed", "it killed its worker twice", rows=20)
    matrix = ScoreMatrix(len(SOME), 3)
    matrix.add(1, np.arange(len(SOME)), found)
    assert matrix.hopeless(1)
    assert set(matrix.columns) == set(COLUMNS)
    same(CellResult.decode(*found.encode()), found)


ONE_MORE = """
import re, sys
from pathlib import Path
import modelsel.runner.evaluation.cell_result as module
source = Path(module.__file__).read_text()
line = re.search(r"    training_error: Floats = column\\(measured=True\\).*\\n", source)[0]
more = source.replace(line, line + "    leaves_twice: Floats = column(measured=True)\\n")
assert more != source
exec(compile(more, module.__file__, "exec"), module.__dict__)
import numpy as np
from tests.doubles import DoublePath, spread
from tests.runner.studies import study
DoublePath.leaves_twice = lambda self, learners: 2 * self.complexity(learners)
folder = Path(sys.argv[1])
first = study(folder, spread(4), name="a")
np.testing.assert_array_equal(first.means["leaves_twice"], 2 * first.means["complexity"])
again = study(folder, spread(4), name="b", older=[folder / "a"])
assert again.computed == 0
np.testing.assert_array_equal(again.means["leaves_twice"], first.means["leaves_twice"])
"""


@pytest.mark.slow
def test_a_new_column_is_one_line_in_one_file(tmp_path):
    """A column that is declared is measured, journalled, read back and averaged: no other file is touched."""
    subprocess.run([sys.executable, "-c", ONE_MORE, tmp_path], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("which", ["kernels", "plain"])
@pytest.mark.parametrize(
    ("numbers", "few"),
    [
        (np.tile([1.5, -0.0, 0.0, 5e-324, 1e308], (3, 20)), True),
        (np.arange(90_000.0).reshape(3, -1) // 4.5, True),
        (np.arange(300.0).reshape(3, -1), False),
        (np.arange(12.0).reshape(3, -1) % 3, True),  # as many as a quarter of all, and one more
        (np.arange(12.0).reshape(3, -1) % 4, False),
        (np.arange(900_000.0).reshape(3, -1) // 9, False),
    ],
)
def test_numbers_that_recur_are_kept_in_a_table_to_the_last_bit(numbers, few, which, code):
    rows = numbers.shape[1]
    whole = CellResult(**blank(SOME[:3], rows, 0, scores=False))._with(predicted=numbers)
    with code(which):
        facts, arrays = whole.encode()
    assert ("places" in arrays) == few
    assert not few or arrays["places"].nbytes * 4 <= numbers.nbytes
    assert CellResult.decode(facts, arrays).predicted.tobytes() == numbers.tobytes()


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 16, 17, 200])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 1000])
def test_classes_and_scores_that_recur_are_kept_in_few_bytes_to_the_last_bit(classes: int, rows: int) -> None:
    rng = np.random.default_rng([classes, rows])
    predicted = rng.integers(0, classes, (4, rows)).astype(np.uint8)
    predicted[0, 0] = classes - 1
    scores = rng.choice([0.1, 1 / 3, -0.0, np.nan], (4, rows, classes))
    whole = CellResult(**blank(SOME[:4], rows, classes, scores=True))._with(predicted=predicted, scores=scores)
    facts, arrays = whole.encode()
    assert ("bits" in arrays) == (classes <= 16)
    assert rows < 1000 or arrays["score_places"].nbytes * 8 == scores.nbytes
    assert rows < 1000 or classes > 2 or arrays["bits"].nbytes * 8 == predicted.nbytes
    found = CellResult.decode(json.loads(json.dumps(facts)), arrays)
    assert found.predicted.dtype == np.uint8
    assert found.predicted.tobytes() == predicted.tobytes()
    assert found.scores is not None
    assert found.scores.tobytes() == scores.tobytes()


@pytest.mark.parametrize("rows", [0, 8, 17, -8])
def test_bits_of_other_rows_are_no_record(rows: int) -> None:
    facts, arrays = CellResult(**blank(SOME[:2], 16, 2, scores=False)).encode()
    with pytest.raises(ValueError, match=f"not those of {rows} rows"):
        CellResult.decode({**facts, "rows": rows}, arrays)
