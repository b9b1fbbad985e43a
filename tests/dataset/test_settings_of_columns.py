"""Settings that read a table as it is meant: the oracle is the clean table that the same numbers were written to."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.errors import DataError, ModelselError
from modelsel.core.types import Loaded
from modelsel.dataset import months
from modelsel.dataset.csv import Csv
from modelsel.dataset.read_table import read_like

FIGURES = Path(__file__).parents[1] / "figures"
ROWS = 60
X = np.arange(ROWS) * 37.25 % 4000 + 1000.5
Y = ["pq"[row % 3 % 2] for row in range(ROWS)]
DAYS = [datetime(2018, 1, 1, tzinfo=UTC) + timedelta(days=17 * row, minutes=61 * row) for row in range(ROWS)]


def write(path: Path, columns: dict[str, list[str]], sign: str = ",") -> Path:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def load(path: Path, **said: object) -> Loaded:
    return Csv(path=str(path), **{"target": "y", **said}).load()  # type: ignore[arg-type]


def codes(loaded: Loaded) -> dict[str, str]:
    return {finding.code: finding.message for finding in loaded.findings}


Words = Callable[[float], str]
DRESSED: dict[str, tuple[Words, dict[str, object], str]] = {  # how a number is written, the settings, the sign between fields
    "thousands": (lambda x: f"{x:,.2f}", {"thousands": ","}, ","),
    "apostrophe": (lambda x: f"{x:,.2f}".replace(",", "'"), {"thousands": "'"}, ","),
    "point and comma": (lambda x: f"{x:,.2f}".translate(str.maketrans(",.", ".,")), {"thousands": "."}, ";"),
    "narrow blank": (lambda x: f"{x:,.2f}".replace(",", "\u202f"), {"thousands": " "}, ","),
    "per cent": (lambda x: f"{x} %", {"signs": "strip"}, ","),
    "currency": (lambda x: f"${x:,.2f}", {"signs": "strip", "thousands": ","}, ","),
    "letters of a currency": (lambda x: f"CHF {x:.2f}", {"signs": "strip"}, ","),
    "unit": (lambda x: f"{x}kg", {"signs": "strip"}, ","),
    "unit and comma": (lambda x: f"{x:.2f} m²".replace(".", ","), {"signs": "strip"}, ";"),
    "below zero": (lambda x: f"-${x:.2f}" if x > 2000 else f"${x:.2f}", {"signs": "strip"}, ","),
}  # fmt: skip


@pytest.mark.parametrize("case", DRESSED)
def test_numbers_in_their_dress_are_those_of_the_clean_table_and_new_rows_too(case: str, tmp_path: Path) -> None:
    word, said, sign = DRESSED[case]
    meant = np.where(X > 2000, -X, X) if case == "below zero" else X
    path = write(tmp_path / "t.csv", {"x": [word(x) for x in X], "y": Y}, sign)
    without = [finding for finding in _findings_without(path) if finding]
    assert without, "read otherwise in silence"
    task = load(path, **said).task
    assert np.allclose(task.values[:, 0], meant, atol=0.0051)
    again = read_like(path, task.reading, **{name: value for name, value in said.items() if name == "thousands"})
    assert np.array_equal(again.table.values, task.values)


def _findings_without(path: Path) -> list[str]:
    """What is said of a table that is read without settings: an error, or findings beside the kinds."""
    try:
        return [one.message for one in load(path).findings if one.code not in ("INFERRED_KINDS", "DELIMITER", "DECIMAL_COMMA")]
    except DataError as error:
        return [str(error)]


def test_a_sign_parts_thousands_in_all_numbers_of_a_column_or_is_asked_about(tmp_path: Path) -> None:
    cells = ["1.500" if row % 2 else f"{row}.5" for row in range(ROWS)]
    with pytest.raises(DataError, match="MSEL-342"):
        load(write(tmp_path / "t.csv", {"x": cells, "y": Y}), thousands=".")
    with pytest.raises(ModelselError, match="MSEL-305"):
        load(write(tmp_path / "t.csv", {"x": cells, "y": Y}), thousands=".", decimal=".")


def test_signs_that_differ_are_never_left_out(tmp_path: Path) -> None:
    cells = [f"{x} {'kg' if row % 2 else 'g'}" for row, x in enumerate(X)]
    loaded = load(write(tmp_path / "t.csv", {"x": cells, "y": Y}), signs="strip")
    assert loaded.task.features[0].kind == "nominal"


def test_new_rows_with_another_sign_are_refused(tmp_path: Path) -> None:
    task = load(write(tmp_path / "t.csv", {"x": [f"{x} kg" for x in X], "y": Y}), signs="strip").task
    with pytest.raises(DataError, match="MSEL-346"):
        read_like(write(tmp_path / "new.csv", {"x": ["3 g"]}), task.reading)
    assert read_like(write(tmp_path / "new.csv", {"x": ["3 kg", "4"]}), task.reading).table.values.tolist() == [[3.0], [4.0]]


FORMS = [
    "%d-%m-%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y-%m-%d", "%Y/%m/%d", "%d %b %Y", "%d-%b-%y", "%d/%m/%Y %H:%M:%S", "%m/%d/%y",
    "%Y-%m-%dT%H:%M:%S", "%B %d, %Y", "%d %B %Y", "%b %d %Y %I:%M %p", "%Y.%m.%d", "%d.%m.%y", "%a, %d %b %Y %H:%M:%S GMT",
    "%d %m %Y", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_read_or_asked_about_and_the_answer_reads_them_as_strptime_does(form: str, tmp_path: Path) -> None:
    cells = [day.strftime(form) for day in DAYS]
    path = write(tmp_path / "t.csv", {"d": cells, "y": Y})
    said: dict[str, object] = {}
    try:
        load(path)
    except DataError as error:
        (problem,) = error.problems
        assert problem.code == "MSEL-343"
        said = {"dates": list(problem.proposes[0].value)}  # type: ignore[arg-type]
    loaded = load(path, **said)
    meant = [datetime.strptime(cell, form) for cell in cells]
    seconds = [(one if one.tzinfo else one.replace(tzinfo=UTC)).timestamp() for one in meant]
    assert loaded.task.values[:, 0].tolist() == seconds
    assert loaded.task.features[0].dates
    again = read_like(write(tmp_path / "new.csv", {"d": cells[:3]}), loaded.task.reading)
    assert again.table.values[:, 0].tolist() == seconds[:3]
    with pytest.raises(DataError, match="MSEL-346"):
        read_like(write(tmp_path / "new.csv", {"d": ["soon"]}), loaded.task.reading)


CLDR = json.loads((FIGURES / "dates_of_cldr.json").read_text("utf-8"))["dates"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("written", CLDR)
def test_months_are_read_by_their_names_in_other_languages(written: str, tmp_path: Path) -> None:
    cells = CLDR[written] * 5
    loaded = load(write(tmp_path / "t.csv", {"d": cells, "y": Y}))
    meant = [datetime(2020, month, 1 if written.endswith("MMMM y") else 9 + month, tzinfo=UTC) for month in range(1, 13)] * 5
    assert loaded.task.values[:, 0].tolist() == [one.timestamp() for one in meant]
    again = read_like(write(tmp_path / "new.csv", {"d": cells[1:4]}), loaded.task.reading)
    assert again.table.values[:, 0].tolist() == [one.timestamp() for one in meant[1:4]]


def test_no_word_stands_for_two_months() -> None:
    names = [line.split() for line in (months._LONG + months._SHORT).split("\n") if line]
    assert {len(line) for line in names} == {12}
    assert all(months.NUMBERS[word] == number for line in names for number, word in enumerate(line, 1))


def test_what_is_ambiguous_is_asked_and_either_answer_holds(tmp_path: Path) -> None:
    cells = [f"{row % 12 + 1:02d}/{row % 11 + 1:02d}/2020" for row in range(ROWS)]
    path = write(tmp_path / "t.csv", {"d": cells, "y": Y})
    with pytest.raises(DataError) as caught:
        load(path)
    assert [one.value for one in caught.value.problems[0].proposes[:2]] == [("d=%d/%m/%Y",), ("d=%m/%d/%Y",)]
    assert not any(one.sure for one in caught.value.problems[0].proposes)
    for word, form in (("day_first", "%d/%m/%Y"), ("month_first", "%m/%d/%Y")):
        found = load(path, dates=word).task.values[:, 0]
        assert found.tolist() == [datetime.strptime(cell, form).replace(tzinfo=UTC).timestamp() for cell in cells]


@pytest.mark.parametrize(
    "cells", [["18.00.00", "19.30.00"], ["1.2.3", "1.3.0"], ["2009-10", "2010-11"], ["12-14", "15-17"], ["out 42", "set 10"]]
)
def test_what_is_no_date_is_none(cells: list[str], tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "t.csv", {"d": (cells * ROWS)[:ROWS], "y": Y}))
    assert (loaded.task.features[0].kind, loaded.task.features[0].levels) == ("nominal", tuple(cells))


def test_days_without_signs_are_numbers_until_it_is_said(tmp_path: Path) -> None:
    cells = [day.strftime("%Y%m%d") for day in DAYS]
    path = write(tmp_path / "t.csv", {"d": cells, "y": Y})
    (finding,) = [one for one in load(path).findings if one.code == "NUMBERS_LIKE_DATES"]
    loaded = load(path, dates=list(finding.proposes[0].value))  # type: ignore[arg-type]
    assert loaded.task.values[:, 0].tolist() == [(day.replace(hour=0, minute=0)).timestamp() for day in DAYS]
    assert "NUMBERS_LIKE_DATES" not in codes(loaded)
    frame = pd.DataFrame({"d": [int(cell) for cell in cells], "y": Y})
    assert np.array_equal(modelsel.read_table(frame, "y", dates={"d": "%Y%m%d"}).values, loaded.task.values)


def test_words_and_ranges_become_gaps_that_are_counted(tmp_path: Path) -> None:
    cells = [str(x) if row % 6 else "30-40" if row % 4 else "many" for row, x in enumerate(X)]
    path = write(tmp_path / "t.csv", {"x": cells, "y": Y})
    loaded = load(path, coerce=["x"])
    assert np.array_equal(loaded.task.values[:, 0], np.where(np.arange(ROWS) % 6, X, np.nan), equal_nan=True)
    assert "10 of 60 rows" in codes(loaded)["NO_NUMBERS"]
    assert np.isnan(read_like(write(tmp_path / "new.csv", {"x": ["50-60"]}), loaded.task.reading).table.values).all()


@pytest.mark.parametrize("code", ["-200", "9999", "-"])
def test_codes_for_missing_are_asked_about_and_taken_in_one_column(code: str, tmp_path: Path) -> None:
    gone = np.arange(ROWS) % 7 == 0
    cells = [code if row_gone else str(x % 50) for row_gone, x in zip(gone, X)]
    path = write(tmp_path / "t.csv", {"x": cells, "z": [code if row == 1 else str(row) for row in range(ROWS)], "y": Y})
    (asked,) = [one for one in load(path).findings if one.code == ("WORDS_FOR_MISSING" if code == "-" else "SENTINEL_CODES")]
    assert asked.proposes[0].setting == "dataset.missing_in"
    loaded = load(path, missing_in=[f"x={code}"])
    assert np.array_equal(loaded.task.values[:, 0], np.where(gone, np.nan, X % 50), equal_nan=True)
    assert "SENTINEL_CODES" not in codes(loaded)
    if code != "-":
        assert loaded.task.values[1, 1] == float(code)  # in the other column it is a number
        frame = pd.read_csv(path)
        task = modelsel.read_table(frame, "y", missing_in={"x": [float(code)]})
        assert np.array_equal(task.values, loaded.task.values, equal_nan=True)
    new = read_like(write(tmp_path / "new.csv", {"x": [code, "1"], "z": ["1", "2"]}), loaded.task.reading)
    assert np.array_equal(new.table.values[:, 0], [np.nan, 1.0], equal_nan=True)


@pytest.mark.parametrize("numbers", [False, True])
def test_rows_without_target_are_left_out_as_if_they_were_not_there(numbers: bool, tmp_path: Path) -> None:
    gone = np.arange(ROWS) % 9 == 4
    target = [f"{x}" if numbers else word for x, word in zip(X, Y)]
    cells = ["only here" if row_gone else "uvw"[row % 3] for row, row_gone in enumerate(gone)]
    columns = {"x": [str(x) for x in X], "n": cells, "y": ["" if row_gone else word for word, row_gone in zip(target, gone)]}
    path = write(tmp_path / "t.csv", columns)
    with pytest.raises(DataError, match="MSEL-320"):
        load(path)
    loaded = load(path, without_target="drop")
    clean = {name: [cell for cell, row_gone in zip(own, gone) if not row_gone] for name, own in columns.items()}
    meant = load(write(tmp_path / "clean.csv", clean)).task
    assert loaded.task.features == meant.features
    assert np.array_equal(loaded.task.values, meant.values)
    assert loaded.task.rows.tolist() == np.flatnonzero(~gone).tolist()
    assert f"{gone.sum()} of {ROWS} rows" in codes(loaded)["ROWS_WITHOUT_TARGET"]


def test_messages_name_the_rows_of_the_file_where_some_were_left_out(tmp_path: Path) -> None:
    columns = {
        "x": ["inf" if row == 20 else str(row) for row in range(ROWS)],
        "y": ["" if row < 10 else "pq"[row % 2] for row in range(ROWS)],
    }
    with pytest.raises(DataError, match=r"MSEL-340.*row 20;"):
        load(write(tmp_path / "t.csv", columns), without_target="drop")


def test_empty_columns_without_a_name_are_dropped_and_named_ones_are_asked_about(tmp_path: Path) -> None:
    body = "".join(f"{row},{row % 7},{Y[row]},,\n" for row in range(ROWS))
    (tmp_path / "t.csv").write_text(f"a,b,y,,\n{body}")
    loaded = load(tmp_path / "t.csv")
    assert [feature.name for feature in loaded.task.features] == ["a", "b"]
    assert "EMPTY_COLUMNS" in codes(loaded)
    (tmp_path / "t.csv").write_text(f"a,,y,,\n{body}")
    with pytest.raises(DataError, match="MSEL-319: column 2 has no name"):
        load(tmp_path / "t.csv")
    assert [feature.name for feature in load(tmp_path / "t.csv", ignore=[2]).task.features] == ["a"]
    assert [feature.name for feature in load(tmp_path / "t.csv", numeric=["column_2"]).task.features] == ["a", "column_2"]


def test_a_second_header_and_titles_above_the_names_are_asked_about(tmp_path: Path) -> None:
    body = "".join(f"{row},{row % 7},{Y[row]}\n" for row in range(ROWS))
    (tmp_path / "t.csv").write_text(f"a,b,y\nkg,m,-\n{body}")
    with pytest.raises(DataError) as caught:
        load(tmp_path / "t.csv")
    assert [str(one) for one in caught.value.problems[0].proposes] == ["dataset.skip_lines=1"]
    assert [feature.kind for feature in load(tmp_path / "t.csv", skip_lines=1).task.features] == ["numeric", "numeric"]
    (tmp_path / "t.csv").write_text(f"# of the year, all of it\n#\na,b,y\n{body}")
    with pytest.raises(ModelselError) as lost:
        load(tmp_path / "t.csv")
    assert [str(one) for one in lost.value.problems[0].proposes] == ["dataset.header=3"]
    assert len(load(tmp_path / "t.csv", header=3).task) == ROWS
