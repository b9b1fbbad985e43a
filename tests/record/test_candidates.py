"""candidates.csv reads back as it was written, and no spreadsheet runs it."""

import csv
import math
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Candidate, Scoreboard
from modelsel.preparer.select_top import SelectTop
from modelsel.record import candidates

words = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1, max_size=12)
cells = st.floats(allow_nan=False, allow_infinity=False) | st.just(math.nan)


@st.composite
def tables(draw):
    folds = draw(st.integers(0, 4))
    names = draw(st.lists(words.filter(lambda w: not w.startswith("fold_")), max_size=4, unique=True))
    count = draw(st.integers(1, 5))
    return [
        candidates.Row(
            f"{i:016x}",
            draw(words),
            draw(words),
            "ok",
            draw(st.integers(0, 9)),
            draw(cells),
            draw(cells),
            draw(cells),
            draw(words),
            draw(cells),
            draw(words),
            tuple(draw(cells) for _ in range(folds)),
            {name: draw(words) for name in names if draw(st.booleans())},
            difference_se=draw(cells),
        )
        for i in range(count)
    ]


@pytest.mark.slow
@given(tables())
def test_what_is_read_is_what_was_written(table):
    assert [_as_text(row) for row in candidates.read_candidates(candidates.text(table))] == [_as_text(row) for row in table]


def _as_text(row):
    """NaN equals NaN as text; the order of parameters is the file's."""
    return repr(replace(row, parameters=dict(sorted(row.parameters.items()))))


@given(tables())
def test_no_cell_is_a_formula(table):
    for line in csv.reader(StringIO(candidates.text(table), newline="")):
        for cell in line:
            assert not cell.startswith(("=", "+", "@", "\t", "\r")) or _is_number(cell)
            assert not cell.startswith("-") or _is_number(cell)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_the_columns_are_those_of_the_contract(finished):
    lines = candidates.text(candidates.rows(finished.selection)).split("\n")
    header = next(csv.reader([lines[0]]))
    assert header[: len(candidates.FIXED)] == list(candidates.FIXED)
    assert header[len(candidates.FIXED) :][:10] == [f"fold_{i:02d}" for i in range(10)]
    assert set(header[len(candidates.FIXED) + 10 :]) == {"max_depth", "criterion", "stop.min_leaf", "k", "vote", "smoothing"}
    assert "\r" not in "".join(lines)
    assert lines[-1] == ""
    assert len(lines) == len(finished.selection.candidates) + 2


@pytest.mark.slow
def test_a_parameter_that_does_not_apply_is_empty_and_none_is_a_word(finished):
    rows = candidates.read_candidates(candidates.text(candidates.rows(finished.selection)))
    knn = next(row for row in rows if row.entry == "knn")
    assert "max_depth" not in knn.parameters
    assert any(row.parameters.get("max_depth") == "none" for row in rows)


def test_numbers_keep_every_digit(finished):
    rows = candidates.read_candidates(candidates.text(candidates.rows(finished.selection)))
    means = np.array([row.mean for row in rows])
    np.testing.assert_array_equal(means, finished.selection.board.mean)


def test_a_file_of_a_version_without_the_error_of_the_difference_is_read(finished):
    rows = candidates.rows(finished.selection)
    older = [line.split(",") for line in candidates.text([replace(row, reason="") for row in rows]).splitlines()]
    at = older[0].index("difference_se")
    read = candidates.read_candidates("\n".join(",".join(cells[:at] + cells[at + 1 :]) for cells in older))
    assert all(math.isnan(row.difference_se) for row in read)
    assert [_as_text(replace(row, difference_se=math.nan, reason="")) for row in rows] == list(map(_as_text, read))


def test_fixed_columns_are_known_by_name_wherever_they_stand(finished):
    rows = candidates.rows(finished.selection)
    header, *lines = csv.reader(StringIO(candidates.text(rows), newline=""))
    fixed = len(candidates.FIXED)
    moved = [*reversed(range(fixed)), *range(fixed, len(header))]
    content = StringIO()
    csv.writer(content, lineterminator="\n").writerows([line[place] for place in moved] for line in (header, *lines))
    assert list(map(_as_text, candidates.read_candidates(content.getvalue()))) == list(map(_as_text, rows))


@pytest.mark.parametrize("behind", ["id", "reason"])
def test_a_fixed_column_of_a_later_version_is_refused_and_not_taken_for_a_parameter(finished, behind):
    lines = [
        line.split(",")
        for line in candidates.text([replace(r, reason="") for r in candidates.rows(finished.selection)]).splitlines()
    ]
    at = lines[0].index(behind) + 1
    content = "\n".join(",".join([*cells[:at], "of_later" if cells is lines[0] else "7", *cells[at:]]) for cells in lines)
    with pytest.raises(KeyError, match="of_later"):
        candidates.read_candidates(content)


def test_ranks_follow_score_then_complexity_then_declared_order():
    board = Scoreboard(tuple("abcde"), np.zeros((5, 1)), np.array([0.2, 0.1, 0.1, 0.1, np.nan]), np.zeros(5),
                       np.array([1.0, 5.0, 3.0, 3.0, 1.0]), ("leaves",) * 5, np.array([True] * 4 + [False]))  # fmt: skip
    assert candidates.ranks(board).tolist() == [4, 3, 1, 2, 0]


def test_only_what_differs_within_an_entry_tells_candidates_apart(finished):
    rows = candidates.rows(finished.selection)
    told = candidates.varied_parameters(rows)
    assert set(told[rows[0].id]) == {"max_depth", "criterion", "stop.min_leaf"}
    assert set(told[rows[-1].id]) == {"smoothing"}


def row_of(candidate: Candidate) -> candidates.Row:
    words = {name: candidates.word(value) for name, value in candidate.parameters.items() if name != "kind"}
    return candidates.Row(candidate.id, "e", "knn", "ok", 1, 0.1, 0.0, 1.0, "rows", 0.0, "", (0.1,), words)


def test_each_setting_of_a_preparation_step_is_a_parameter_of_its_own():
    twice = Candidate(make("learner", "knn"), (make("preparer", "impute"), *(SelectTop(n=n) for n in (8, 4))))
    found = twice.parameters
    assert found["preparer"] == "impute, select_top, select_top"
    assert (found["preparer.select_top.n"], found["preparer.select_top_2.n"]) == (8, 4)
    assert "preparer" not in Candidate(make("learner", "knn")).parameters


def test_a_part_that_others_do_not_have_is_none_there_and_its_settings_are_not_told():
    steps = [(), (SelectTop(n=4),), (SelectTop(n=8),)]
    rows = [row_of(Candidate(make("learner", "knn"), own)) for own in steps]
    assert list(candidates.varied_parameters(rows).values()) == [
        {"preparer": "none"},
        {"preparer": "select_top", "preparer.select_top.n": "4"},
        {"preparer": "select_top", "preparer.select_top.n": "8"},
    ]


def test_a_file_that_is_not_ours_is_refused():
    with pytest.raises(KeyError):
        candidates.read_candidates("a,b\n1,2\n")
