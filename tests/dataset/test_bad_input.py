"""Bad input: every case ends in its own code with the column and rows named, or in a finding; all before any fit."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelsel.core.errors import ConfigurationError, DataError, ModelselError
from modelsel.core.reading import TableReading
from modelsel.core.spec import make
from modelsel.core.types import Loaded, Partition
from modelsel.dataset.csv import Csv
from modelsel.dataset.profile import profile
from modelsel.dataset.read_table import read_like
from modelsel.split.base import dropped_classes

GOOD = "a,b,y\n" + "".join(f"{i},{'uvw'[i % 3]},{'no' if i % 2 else 'yes'}\n" for i in range(12))


def load(tmp_path: Path, text: str | bytes, **settings: object) -> Loaded:
    path = tmp_path / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Csv(path=str(path), **{"target": "y", **settings}).load()  # type: ignore[arg-type]


def table(*columns: tuple[str, list[object]]) -> str:
    lines = [",".join(name for name, _ in columns)]
    lines += [",".join(str(cell) for cell in row) for row in zip(*(cells for _, cells in columns), strict=True)]
    return "\n".join(lines) + "\n"


Y: list[object] = ["no", "yes"] * 10
N: list[object] = list(np.round(np.sin(np.arange(20)), 3))
ROWS = 20


def codes(loaded: Loaded) -> set[str]:
    return {finding.code for finding in loaded.findings}


ERRORS = {
    "empty file": ("", "MSEL-310", "rows.csv"),
    "blank file": ("\n \n", "MSEL-310", "rows.csv"),
    "header only": ("a,y\n", "MSEL-311", "no rows"),
    "header without the end of a line": ("a,y", "MSEL-311", "no rows"),
    "one class": (table(("a", N), ("y", ["no"] * ROWS)), "MSEL-321", "'no'"),
    "class with one row": (table(("a", N), ("y", ["no", "yes"] * 9 + ["no", "maybe"])), "MSEL-326", "'maybe'"),
    "infinite feature": (table(("a", [*N[:5], "inf", *N[6:]]), ("y", Y)), "MSEL-340", "column 'a'"),
    "number beyond float64": (table(("a", [*N[:5], "1e400", *N[6:]]), ("y", Y)), "MSEL-340", "row 5"),
    "missing label": (table(("a", N), ("y", ["no", "yes", "?", "", *Y[4:]])), "MSEL-320", "rows 2, 3"),
    "infinite label": (table(("a", N), ("y", [0, 1] * 9 + ["inf", 0])), "MSEL-322", "row 18"),
    "id-like label": (table(("a", N), ("y", [f"p{i}" for i in range(ROWS)])), "MSEL-324", "20 classes in 20 rows"),
    "label 1 and 1.0": (table(("a", N), ("y", [0, 1, "1.0", 0] * 5)), "MSEL-325", "'1'"),
    "duplicate column": ("a,a,y\n1,2,no\n3,4,yes\n", "MSEL-318", "a"),
    "nameless column": ("a,,y\n1,2,no\n3,4,yes\n", "MSEL-319", "column 2"),
    "mixed types": (table(("a", [*N[:19], "oops"]), ("y", Y)), "MSEL-341", "'oops'"),
    "latin-1": ("a,y\ncaf\xe9,no\n".encode("latin-1"), "MSEL-312", "line 2"),
    "utf-16": (GOOD.encode("utf-16"), "MSEL-312", "utf-16"),
    "too many fields": ("a,y\n1,no\n2,yes,3\n4,no\n", "MSEL-314", "line 3: 3"),
    "too few fields": ("a,b,y\n1,2,no\n2,yes\n3,4,no\n", "MSEL-315", "line 3: 2"),
    "all rows one extra": ("a,y\n0,1,no\n1,2,yes\n", "MSEL-316", "one field more"),
    "unclosed quote": ('a,y\n1,no\n"2,yes\n3,no\n', "MSEL-317", "line 3"),
    "text after a quote": ('a,y\n1,no\n"2"x,yes\n3,no\n', "MSEL-317", "line 3"),
    "NUL byte": ("a,y\n1,no\n2\x00,yes\n", "MSEL-313", "line 3"),
    "dates": (table(("a", [f"{i + 1:02d}/01/2026" for i in range(ROWS)]), ("y", Y)), "MSEL-343", "'01/01/2026'"),
    "decimal comma": (table(("a", [f'"{i},5"' for i in range(ROWS)]), ("y", Y)), "MSEL-342", "decimal=','"),
    "no features": (table(("y", Y),), "MSEL-345", "no features"),
    "zero weights": (table(("a", N), ("w", [0] * 20), ("y", Y)), "MSEL-350", "zero"),
    "missing weights": (table(("a", N), ("w", ["", 1] * 10), ("y", Y)), "MSEL-350", "missing"),
    "negative weights": (table(("a", N), ("w", [-1, 1] * 10), ("y", Y)), "MSEL-350", "negative"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_unusable_contents_are_refused_by_code_and_name(case: str, tmp_path: Path) -> None:
    text, code, said = ERRORS[case]
    settings = {"weights": "w"} if "weights" in case else {}
    with pytest.raises(ModelselError) as caught:
        load(tmp_path, text, **settings)
    assert code in {problem.code for problem in caught.value.problems}, caught.value
    assert said in str(caught.value)
    assert all(problem.fix for problem in caught.value.problems)
    assert caught.value.exit_code == 3


@pytest.mark.skipif(not shutil.which("sed"), reason="sed is not here")
@pytest.mark.parametrize("sign", [",", "\t"])
def test_what_is_proposed_for_rows_with_a_number_can_be_typed(sign: str, tmp_path: Path) -> None:
    """As R's write.table leaves a table: rows have a number, the line of names has no word for it."""
    path = tmp_path / "it's R.csv"
    path.write_text("\n".join(sign.join(row) for row in [("a", "y"), *((str(i), str(i / 4), "np"[i % 2]) for i in range(20))]))
    source = Csv(path=str(path), target="y", delimiter=sign)
    with pytest.raises(ModelselError) as caught:
        source.load()
    [problem] = caught.value.problems
    subprocess.run(problem.fix.partition("row number: ")[2], shell=True, check=True)
    loaded = replace(source, path=str(path.with_stem("it's R_named"))).load()
    assert [feature.name for feature in loaded.task.features] == ["row", "a"]


def test_a_long_quoted_cell_is_a_cell(tmp_path: Path) -> None:
    """Python's reader takes 131,072 characters; a longer cell was called one of broken quotes."""
    long = '"' + "x" * 140_000 + '"'
    loaded = load(tmp_path, table(("a", N), ("b", [long, *"fg" * 9, "f"]), ("y", Y)))
    assert len(loaded.task) == ROWS


FINDINGS = {
    "all-missing column": (table(("a", N), ("gone", ["?"] * ROWS), ("y", Y)), "ALL_MISSING_COLUMN", "'gone'"),
    "constant column": (table(("a", N), ("same", [1] * ROWS), ("y", Y)), "CONSTANT_COLUMN", "'same'"),
    "near-duplicate labels": (table(("a", N), ("y", ["yes", "Yes", "no", "yes "] * 5)), "NEAR_DUPLICATE_LABELS", "'Yes'"),
    "column equal to label": (table(("a", N), ("leak", ["f", "t"] * 10), ("y", Y)), "EQUALS_TARGET", "'leak'"),
    "column that determines the label": (
        table(("a", [*N, *N]), ("leak", ["f", "t", "g", "t"] * 10), ("y", [*Y, *Y])), "DETERMINES_TARGET", "'leak'"),
    "duplicated rows": (table(("a", [1, 2] * 10), ("y", Y)), "DUPLICATE_ROWS", "18 of 20"),
    "integers beyond 2^63": (table(("a", N), ("n", [10**20 + i for i in range(ROWS)]), ("y", Y)), "BIG_INTEGERS", "'n'"),
    "ids beyond 2^53": (table(("a", N), ("n", [2**53 + 2 * i for i in range(1, ROWS + 1)]), ("y", Y)), "BIG_INTEGERS", "'n'"),
    "id-like column": (table(("a", N), ("n", [f"p{i}" for i in range(ROWS)]), ("y", Y)), "ID_LIKE_COLUMN", "'n'"),
    "row numbers": (table(("a", N), ("n", list(range(ROWS))), ("y", Y)), "ID_LIKE_COLUMN", "'n'"),
    "rare class": (table(("a", N), ("y", ["no", "yes"] * 9 + ["b", "b"])), "RARE_CLASS", "b (2)"),
    "equal columns": (table(("a", N), ("b", N), ("y", Y)), "EQUAL_COLUMNS", "'a' and 'b'"),
    "inferred kinds": (GOOD, "INFERRED_KINDS", "numeric: a; nominal: b (3 levels)"),
}  # fmt: skip


@pytest.mark.parametrize("case", FINDINGS)
def test_suspicious_contents_are_said(case: str, tmp_path: Path) -> None:
    text, code, said = FINDINGS[case]
    loaded = load(tmp_path, text)
    findings = (*loaded.findings, *profile(loaded.task))
    assert said in " ".join(finding.message for finding in findings if finding.code == code), findings


def test_many_levels_are_capped_and_said(tmp_path: Path) -> None:
    cells: list[object] = ["often", "often", "twice", "twice", *(f"l{i}" for i in range(16))]
    loaded = load(tmp_path, table(("a", cells), ("y", Y)), max_levels=3)
    assert loaded.task.features[0].levels == ("often", "twice", "(other levels)")
    assert "MANY_LEVELS" in codes(loaded)
    assert (loaded.task.values[:, 0] == 2).sum() == 16
    (tmp_path / "new.csv").write_text("a\ntwice\nnever seen\n")
    like = read_like(tmp_path / "new.csv", loaded.task.reading)
    assert (like.table.values[:, 0].tolist(), like.findings) == ([1.0, 2.0], ())


def test_a_hundred_thousand_levels_are_capped(tmp_path: Path) -> None:
    rows = 100_000
    text = "a,b,y\n" + "".join(f"l{i},{i % 7},{'no' if i % 3 else 'yes'}\n" for i in range(rows))
    loaded = load(tmp_path, text)
    assert len(loaded.task.features[0].levels) == 5000
    assert {"MANY_LEVELS"} <= codes(loaded)


def test_all_problems_come_in_one_pass(tmp_path: Path) -> None:
    text = table(("a", [*N[:19], "oops"]), ("b", ["inf", *N[1:]]), ("w", [-1, *[1] * 19]), ("y", ["", *Y[1:]]))
    with pytest.raises(DataError) as caught:
        load(tmp_path, text, weights="w")
    assert {problem.code for problem in caught.value.problems} == {"MSEL-341", "MSEL-340", "MSEL-350", "MSEL-320"}


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()).task.features[0].name == "a"


def test_another_encoding_may_be_declared(tmp_path: Path) -> None:
    text = table(("a", N), ("b", ["caf\xe9", "th\xe9"] * 10), ("y", Y))
    assert load(tmp_path, text.encode("latin-1"), encoding="latin-1").task.features[1].levels == ("caf\xe9", "th\xe9")
    assert load(tmp_path, text.encode("utf-16"), encoding="utf-16").task.features[1].levels == ("caf\xe9", "th\xe9")


def test_na_is_a_level_unless_said(tmp_path: Path) -> None:
    text = table(("a", ["NA", "EU", "?", ""] * 5), ("b", N), ("y", Y))
    assert load(tmp_path, text).task.features[0].levels == ("EU", "NA")
    assert load(tmp_path, text, missing=("", "?", "NA")).task.features[0].levels == ("EU",)


def test_large_numbers_stay_float64(tmp_path: Path) -> None:
    assert load(tmp_path, table(("a", ["1e300", *N[1:]]), ("y", Y))).task.values[0, 0] == 1e300


@pytest.mark.parametrize("word", ["nan", "NA", "N/A", "null", "-", "."])
def test_words_for_missing_among_numbers_are_taken_as_missing_and_said(word: str, tmp_path: Path) -> None:
    """However few different numbers there are: a fifth of "NA" among 1, 2 and 3 made the column nominal without a word."""
    cells: list[object] = [word if i % 5 == 0 else i % 3 + 1 for i in range(ROWS)]
    loaded = load(tmp_path, table(("a", cells), ("b", N), ("y", Y)))
    assert loaded.task.features[0].kind == "numeric"
    assert np.flatnonzero(np.isnan(loaded.task.values[:, 0])).tolist() == [0, 5, 10, 15]
    said = [finding.message for finding in loaded.findings if finding.code == "WORDS_FOR_MISSING"]
    assert said == [f"column 'a' holds numbers, and '{word}' in 4 rows, which were taken as missing"]
    (tmp_path / "new.csv").write_text(f"a,b\n{word},1\n2,1\n")
    assert np.isnan(read_like(tmp_path / "new.csv", loaded.task.reading).table.values[0, 0])


def test_a_declared_column_keeps_its_words_and_refuses_them_as_numbers(tmp_path: Path) -> None:
    text = table(("a", ["NA", 1, 2, 3] * 5), ("b", N), ("y", Y))
    assert load(tmp_path, text, features={"a": "nominal"}).task.features[0].levels == ("1", "2", "3", "NA")
    with pytest.raises(DataError, match="MSEL-346"):
        load(tmp_path, text, features={"a": "numeric"})


def test_numbers_read_as_levels_because_of_other_words_are_said(tmp_path: Path) -> None:
    loaded = load(tmp_path, table(("a", [*N[:14], *["<5", ">9", "low", "high", "none"] * 1, "x"]), ("y", Y)))
    (said,) = [finding for finding in loaded.findings if finding.code == "NUMBERS_AS_LEVELS"]
    assert (said.severity, loaded.task.features[0].kind) == ("medium", "nominal")
    assert "14 of 20 different values are numbers" in said.message
    assert "'<5'" in said.do


@pytest.mark.parametrize(
    ("form", "said"), [("{}%", "'%'"), ("CHF {}.50", "'CHF'"), ("${}", "'$'"), ("{} kg", "'kg'"), ("A{}", ""), ("ABC {}", "")]
)
def test_numbers_with_a_sign_or_unit_are_told_and_codes_are_not(form: str, said: str, tmp_path: Path) -> None:
    text = table(("a", [form.format(number) for number in range(ROWS)]), ("b", N), ("y", Y))
    loaded = load(tmp_path, text)
    found = [one for one in loaded.findings if one.code == "NUMBERS_AS_LEVELS"]
    assert loaded.task.features[0].kind == "nominal"
    assert [(one.severity, f"numbers with {said}:" in one.message) for one in found] == ([("medium", True)] if said else [])
    assert not [one for one in load(tmp_path, text, features={"a": "nominal"}).findings if one.code == "NUMBERS_AS_LEVELS"]


@pytest.mark.parametrize("target", ["y", None])
def test_a_file_without_a_header_says_so_where_the_target_is_not_found(target: str | None, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("0.5,1.25,a\n0.75,3,b\n")
    (tmp_path / "named.csv").write_text("0.5,x,y2\n0.75,3,b\n")
    (bare,) = Csv(path=str(tmp_path / "bare.csv"), target=target).problems()
    (named,) = Csv(path=str(tmp_path / "named.csv"), target=target).problems()
    assert "the first line looks like a row" in bare.fix
    assert "looks like data" not in named.fix
    assert not list(Csv(path=str(tmp_path / "bare.csv"), target="a").problems())


def test_dates_become_seconds_when_declared(tmp_path: Path) -> None:
    cells: list[object] = [f"1970-01-{i + 1:02d}" for i in range(ROWS)]
    task = load(tmp_path, table(("a", cells), ("y", Y)), features={"a": "numeric"}).task
    assert task.values[:3, 0].tolist() == [0.0, 86400.0, 172800.0]


def test_declared_levels_keep_their_order(tmp_path: Path) -> None:
    cells: list[object] = ["low", "high", "mid", "low"] * 5
    declared = {"a": {"ordered": ["low", "mid", "high"]}}
    task = load(tmp_path, table(("a", cells), ("y", Y)), features=declared).task
    assert (task.features[0].kind, task.features[0].levels) == ("ordered", ("low", "mid", "high"))
    with pytest.raises(DataError, match=r"MSEL-344.*'mid'.*column 'a'"):
        load(tmp_path, table(("a", cells), ("y", Y)), features={"a": {"nominal": ["low", "high"]}})
    with pytest.raises(DataError, match="MSEL-347"):
        load(tmp_path, table(("a", cells), ("y", Y)), features={"a": "ordered"})


def test_rare_classes_are_dropped_or_merged_when_asked(tmp_path: Path) -> None:
    text = table(("a", N), ("y", ["no", "yes"] * 9 + ["b", "c"]))
    dropped = load(tmp_path, text, rare="drop").task
    assert (dropped.classes, len(dropped), dropped.rows[-1]) == (("no", "yes"), 18, 17)
    merged = load(tmp_path, text, rare="merge").task
    assert (merged.classes, int((merged.target == 2).sum())) == (("no", "yes", "(rare classes)"), 2)


CONFIGURATION = {
    "missing file": ({"path": "nowhere.csv"}, "MSEL-302", "nowhere.csv"),
    "no path": ({"path": None}, "MSEL-301", "dataset.path"),
    "target missing": ({"target": "Y"}, "MSEL-303", "did you mean 'y'?"),
    "no target": ({"target": None}, "MSEL-304", "a, b, y"),
    "feature not there": ({"features": {"aa": "numeric"}}, "MSEL-303", "did you mean 'a'?"),
    "no such kind": ({"features": {"a": "nominl"}}, "MSEL-305", "nominl"),
    "cost of zero": ({"costs": {"a": 0}}, "MSEL-305", "above 0"),
    "weights not there": ({"weights": "v"}, "MSEL-303", "dataset.weights"),
    "two roles": ({"weights": "y"}, "MSEL-305", "two roles"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONFIGURATION)
def test_bad_settings_are_found_by_the_header_alone(case: str, tmp_path: Path) -> None:
    settings, code, said = CONFIGURATION[case]
    path = tmp_path / "rows.csv"
    path.write_text(GOOD)
    part = Csv(**{"path": str(path), "target": "y", **settings})  # type: ignore[arg-type]
    problems = list(part.problems())
    assert code in {problem.code for problem in problems}
    assert said in " ".join(str(problem) for problem in problems)
    with pytest.raises(ConfigurationError):
        part.read()


def test_with_a_comma_as_sign_a_point_makes_no_number(tmp_path: Path) -> None:
    text = "a;b;y\n" + "".join(f"{i},5;{i % 3}.5;{'yn'[i % 2]}\n" for i in range(20))
    task = load(tmp_path, text, delimiter=";", decimal=",").task
    assert [feature.kind for feature in task.features] == ["numeric", "nominal"]


def test_groups_and_folds_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    task = load(tmp_path, table(("a", N), ("g", ["p", "q"] * 10), ("y", ["no", "yes", "yes", "no"] * 5)), groups="g").task
    assert "2 groups" in "".join(make("scheme", "group_kfold", folds=3).problems(task))
    assert "groups" in "".join(make("scheme", "stratified_kfold").problems(task))
    assert "groups" in "".join(make("split", "random").problems(task))
    plain = load(tmp_path, GOOD).task
    assert "13 folds of 12 rows" in "".join(make("scheme", "kfold", folds=13).problems(plain))


def test_a_class_with_one_development_row_is_refused(tmp_path: Path) -> None:
    task = load(tmp_path, table(("a", N), ("y", ["no", "yes"] * 9 + ["b", "b"]), ("t", [0] * 19 + [1])), held_out="t").task
    with pytest.raises(DataError, match=r"MSEL-332: class 'b' has 1 development row, split; set dataset\.rare=drop"):
        make("split", "predefined").partition(task)


def test_a_class_that_the_split_leaves_one_development_row_is_dropped_where_rare_ones_are(tmp_path: Path) -> None:
    text = table(("a", N), ("y", ["no", "yes"] * 9 + ["b", "b"]), ("t", [0] * 17 + [1, 0, 1]))
    task = load(tmp_path, text, held_out="t", rare="drop").task
    made = make("split", "predefined").partition(task)
    assert (made.development.tolist(), made.test.tolist()) == ([*range(17)], [17])
    (finding,) = dropped_classes(task, made)
    assert finding.message.endswith("dropped with their 2 rows: b")
    assert not [*dropped_classes(task, Partition(made.development, np.setdiff1d(np.arange(20), made.development)))]


def test_ids_are_told_apart_beyond_the_reach_of_floats(tmp_path: Path) -> None:
    task = load(tmp_path, table(("n", [2**53 + i for i in range(ROWS)]), ("a", N), ("y", Y)), id="n").task
    assert task.ids is not None
    assert len(np.unique(task.ids)) == ROWS
    assert [feature.name for feature in task.features] == ["a"]


def test_new_rows_are_matched_by_name_and_unseen_levels_counted(tmp_path: Path) -> None:
    features = load(tmp_path, GOOD).task.features
    path = tmp_path / "new.csv"
    path.write_text("other,b,a\nx,v,1.5\nx,zz,?\nx,,3\n")
    like = read_like(path, TableReading.of(features))
    assert np.array_equal(like.table.values, [[1.5, 1.0], [np.nan, 3.0], [3.0, np.nan]], equal_nan=True)
    assert "1 rows hold levels" in like.findings[0].message
    path.write_text("b\nv\n")
    with pytest.raises(DataError, match=r"MSEL-370: the column 'a' is missing"):
        read_like(path, TableReading.of(features))
    path.write_text("a,b\nx,v\n")
    with pytest.raises(DataError, match=r"MSEL-346.*column 'a'"):
        read_like(path, TableReading.of(features))


def test_a_second_file_holds_the_test_rows(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("y,a,b\nno,5,u\nyes,7,new\n")
    task = load(tmp_path, GOOD, test_path=str(tmp_path / "test.csv")).task
    assert task.held_out is not None
    assert (len(task), np.flatnonzero(task.held_out).tolist()) == (14, [12, 13])
    assert task.features[1].levels == ("new", "u", "v", "w")


def test_a_word_in_a_second_file_makes_numbers_of_the_first_names_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("y,a\nno,old\nyes,01\n")
    task = load(tmp_path, "y,a\n" + "no,01\nyes,1.0\n" * 5, test_path=str(tmp_path / "test.csv")).task
    assert task.features[0].levels == ("01", "1.0", "old")


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    size = pa.DictionaryArray.from_arrays([0, 1, 2, None] * 5, ["low", "mid", "high"], ordered=True)
    columns = {"n": N, "s": ["x", "10", "9", None] * 5, "flag": [True, False] * 10, "size": size, "y": Y, "gone": [None] * ROWS}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    loaded = make("dataset", "parquet", path=str(path), target="y").load()
    kinds = {feature.name: (feature.kind, feature.levels) for feature in loaded.task.features}
    assert kinds == {
        "n": ("numeric", ()),
        "s": ("nominal", ("10", "9", "x")),
        "flag": ("nominal", ("false", "true")),
        "size": ("ordered", ("low", "mid", "high")),
    }
    assert np.isnan(loaded.task.column("size")[3])
    assert "ALL_MISSING_COLUMN" in codes(loaded)


def test_dates_are_moments_and_said_to_be(tmp_path: Path) -> None:
    days = [f"2026-01-{i + 1:02d}" for i in range(ROWS - 1)]
    loaded = load(tmp_path, table(("a", [*days, ""]), ("y", Y)))
    (feature,) = loaded.task.features
    assert (feature.kind, feature.dates, np.isnan(loaded.task.column("a")[-1])) == ("numeric", True, True)
    assert np.ptp(loaded.task.column("a")[:-1]) == 86_400 * (ROWS - 2)
    (finding,) = [one for one in loaded.findings if one.code == "DATES_AS_NUMBERS"]
    assert "preparer=dates" in finding.do
    for part in (make("split", "time"), make("scheme", "time_split")):
        assert "needs times: set dataset.time=a" in "".join(part.problems(loaded.task))
    task = load(tmp_path, table(("a", [*days, days[0]]), ("n", N), ("y", Y)), time="a").task
    assert ([one.name for one in task.features], [*make("split", "time").problems(task)]) == (["n"], [])


def test_parquet_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = {"a": [[1], [2]] * 2, "when": pa.array([0, 1, 2, 3], pa.timestamp("s")), "y": ["no", "yes"] * 2}
    pq.write_table(pa.table(rows), path)
    with pytest.raises(DataError, match=r"MSEL-365.*column 'a'"):
        make("dataset", "parquet", path=str(path), target="y").load()
    task = make("dataset", "parquet", path=str(path), target="y", features={"a": "ignore"}).load().task
    assert (task.features[0].dates, task.column("when").tolist()) == (True, [0.0, 1.0, 2.0, 3.0])
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="MSEL-364"):
        make("dataset", "parquet", path=str(path), target="y").load()


def test_reading_says_nothing_that_rests_on_labels(tmp_path: Path) -> None:
    """Rows that are sealed later pass through here: what is said of them must not tell their labels."""
    text = table(("a", N), ("leak", ["f", "t"] * 10), ("y", Y))
    assert codes(load(tmp_path, text)) == {"INFERRED_KINDS"}
