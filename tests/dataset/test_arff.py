"""ARFF: what the format can say is read, what it cannot is refused with its line."""

from pathlib import Path

import numpy as np
import pytest

from modelsel.core.errors import DataError
from modelsel.dataset.read_table import read_table

FULL = """% a comment
@RELATION 'a test'
@attribute 'body height' REAL
@ATTRIBUTE colour {red, 'dark blue', "it\\'s", other}
@attribute born date "yyyy-MM-dd HH:mm"
@attribute note string
@attribute class {no,yes,never}

@data
% another
1.5, red, "1970-01-02 00:00", 'a, b', yes
? ,'dark blue',?,'say \\'hi\\'',no, {2.5}
-3e2,"it's",'1970-01-01 00:01',c,yes
{0 2, 1 other, 2 "1970-01-01 00:00", 3 d}
{0 7, 2 "1970-01-01 00:00", 3 'e f', 4 yes}, {0.5}
"""


def read(tmp_path: Path, text: str, target: str = "class", **settings: object) -> object:
    path = tmp_path / "rows.arff"
    path.write_text(text)
    return read_table(path, target, **settings)


def test_everything_that_the_format_can_say(tmp_path: Path) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(FULL)
    task = read_table(path, "class")
    assert task.classes == ("no", "yes", "never")
    assert task.target.tolist() == [1, 0, 1, 0, 1]
    assert task.features[1].levels == ("red", "dark blue", "it's", "other")
    assert np.array_equal(task.column("body height"), [1.5, np.nan, -300.0, 2.0, 7.0], equal_nan=True)
    assert task.column("colour").tolist() == [0, 1, 2, 3, 0]
    assert np.array_equal(task.column("born"), [86400.0, np.nan, 60.0, 0.0, 0.0], equal_nan=True)
    assert task.features[3].levels == ("a, b", "c", "d", "e f", "say 'hi'")
    assert task.weights is not None
    assert task.weights.tolist() == [1, 2.5, 1, 1, 0.5]


def test_an_ordered_declaration_takes_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.arff"
    path.write_text("@relation r\n@attribute s {small,mid,big}\n@attribute class {a,b}\n@data\nbig,a\nsmall,b\nmid,a\nbig,b\n")
    feature = read_table(path, "class", features={"s": "ordered"}).features[0]
    assert (feature.kind, feature.levels) == ("ordered", ("small", "mid", "big"))


HEAD = "@relation r\n@attribute x numeric\n@attribute c {u,v}\n@attribute class {a,b}\n@data\n"
BAD = {
    "extra value": (HEAD + "1,u,a\n2,v,b,7\n", "MSEL-362", "line 7: 4 values"),
    "short row": (HEAD + "1,u,a\n2,v\n", "MSEL-362", "line 7: 2 values"),
    "empty file": ("", "MSEL-310", "empty"),
    "header only": (HEAD, "MSEL-311", "no rows"),
    "no data line": (HEAD.replace("@data\n", ""), "MSEL-360", "@data"),
    "no line of it": ("1,u,a\n2,v,b\n" * 200, "MSEL-360", "set dataset=csv, and dataset.header=0"),
    "no attributes": ("@relation r\n@data\n1\n", "MSEL-361", "no attributes"),
    "unknown type": (HEAD.replace("numeric", "number"), "MSEL-361", "line 2: 'x' is of type 'number'"),
    "relational": (HEAD.replace("numeric", "relational"), "MSEL-361", "relational"),
    "level twice": (HEAD.replace("{u,v}", "{u,u}"), "MSEL-361", "line 3"),
    "levels not closed": (HEAD.replace("{u,v}", "{u,v"), "MSEL-361", "not closed"),
    "attribute twice": (HEAD.replace("attribute c", "attribute x"), "MSEL-318", "x"),
    "undeclared level": (HEAD + "1,u,a\n2,w,b\n", "MSEL-363", "line 7: 'w'"),
    "no number": (HEAD + "1,u,a\nx1,v,b\n", "MSEL-363", "line 7: 'x1'"),
    "1e400": (HEAD + "1,u,a\n1e400,v,b\n1,u,a\n2,v,b\n", "MSEL-340", "column 'x'"),
    "open quote": (HEAD + "1,u,a\n2,'v,b\n", "MSEL-362", "line 7: a quote"),
    "text after a quote": (HEAD + "1,u,a\n2,'v'x,b\n", "MSEL-362", "line 7"),
    "sparse index beyond": (HEAD + "1,u,a\n{0 2, 7 v}\n", "MSEL-362", "index 7"),
    "sparse index twice": (HEAD + "{0 2, 0 3}\n", "MSEL-362", "index 0 twice"),
    "sparse not closed": (HEAD + "{0 2, 1 v\n", "MSEL-362", "not closed"),
    "negative weight": (HEAD + "1,u,a,{-1}\n2,v,b\n", "MSEL-362", "weight '-1'"),
    "weight that is not a number": (HEAD + "1,u,a,{w}\n2,v,b\n", "MSEL-362", "weight 'w'"),
    "bad date": (HEAD.replace("numeric", "date") + "1970-13-01,u,a\n", "MSEL-363", "1970-13-01"),
    "NUL": (HEAD + "1,u,a\n2\x00,v,b\n", "MSEL-313", "line 7"),
    "junk in the header": (HEAD.replace("@data", "hello\n@data"), "MSEL-361", "line 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_with_its_line(case: str, tmp_path: Path) -> None:
    text, code, said = BAD[case]
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert code in {problem.code for problem in caught.value.problems}, caught.value
    assert said in str(caught.value)


def test_all_bad_rows_come_in_one_pass(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, HEAD + "1,u\n2,v,b,7\n3,u,a\n" + "4,u\n" * 50)
    (problem,) = caught.value.problems
    assert problem.what.startswith("line 6: 2 values, where 3 attributes are declared; line 7: 4 values")
    assert problem.what.endswith("; +49 more")


def test_a_weights_column_overrules_the_weights_of_rows(tmp_path: Path) -> None:
    text = HEAD.replace("@data", "@attribute w numeric\n@data") + "1,u,a,3,{7}\n2,v,b,4\n1,v,a,5\n2,u,b,6\n"
    assert read(tmp_path, text).weights.tolist() == [7, 1, 1, 1]  # type: ignore[attr-defined]
    assert read(tmp_path, text, weights="w").weights.tolist() == [3, 4, 5, 6]  # type: ignore[attr-defined]
