"""Columns named in lists: what is typed for any name means that column, at each door; the oracle is the table without it."""

import csv
import io
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.compose import compose
from modelsel.core.errors import ConfigurationError, ModelselError
from modelsel.core.proposal import Proposal
from modelsel.dataset.csv import Csv

NAMES = [
    "Interest.Rate", "is member?", "x (y)", 'a "b"', "it's", "Größe", "n" * 200, "[1,2]", "true", "a\\nb", "${x}", "price[USD]",
    "end\\", "1", "null", "a=b", "$x", "a,b", "{k: v}", "", "both ' and \"", "*", "a\tb", "~x", "-x", "#c", "a;b & c | d `e`",
]  # fmt: skip
NAMED = [name for name in NAMES if name]


def write(path: Path, names: list[str], rows: int = 24) -> Path:
    rng = np.random.default_rng(0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "y"])
    writer.writerows([*rng.normal(size=len(names)).round(2), "pq"[row % 2]] for row in range(rows))
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", NAMED)
def test_the_word_that_is_proposed_names_one_column_in_a_shell_and_in_python(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", NAMED)
    proposed = Proposal("dataset.ignore", (name,))
    (typed,) = shlex.split(str(proposed))  # as a POSIX shell reads it
    left = [one for one in NAMED if one != name]
    for override in (typed, proposed.override):
        config = compose(["dataset=csv", f"dataset.path={path}", "dataset.target=y", override])
        assert [feature.name for feature in config.dataset.read().features] == left
    assert [feature.name for feature in modelsel.read_table(path, "y", ignore=[name]).features] == left
    frame = pd.read_csv(path)
    assert [feature.name for feature in modelsel.read_table(frame, "y", ignore=[name]).features] == left


@pytest.mark.parametrize("name", [name for name in NAMED if "\\" not in str(Proposal("dataset.ignore", (name,)))])
def test_without_a_backslash_it_is_text_of_python_too(name: str) -> None:
    proposed = Proposal("dataset.ignore", (name,))
    assert eval(str(proposed)) == proposed.override


def test_lists_that_are_typed_one_after_the_other_hold_beside_each_other(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ["a", "b c", "d"])
    typed = ["dataset=csv", f"dataset.path={path}", "dataset.target=y", "dataset.ignore=['a']", 'dataset.ignore=["b c"]']
    assert [feature.name for feature in compose(typed).dataset.read().features] == ["d"]


def settings(**said: object) -> Csv:
    return Csv(path="t.csv", target="y", **said)  # type: ignore[arg-type]


def problems(names: list[str], **said: object) -> list[str]:
    return [problem.code for problem in settings(**said).header_problems(names)]


def test_an_exact_name_stands_before_a_pattern_and_patterns_leave_the_target_alone() -> None:
    made = settings(ignore=["*"], numeric=["b"]).settle(["a", "b", "y"])
    assert made.features == {"a": "ignore", "b": "numeric"}
    assert settings(ignore=["a*"]).settle(["a*", "ab", "y"]).features == {"a*": "ignore"}
    assert settings(ignore=["a[12]"]).settle(["a1", "a[12]", "y"]).features == {"a[12]": "ignore"}


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"ignore": ["z"]}, "MSEL-303"), ({"ignore": ["z*"]}, "MSEL-303"), ({"ignore": [4]}, "MSEL-303"),
        ({"ignore": [0]}, "MSEL-303"), ({"ignore": [True]}, "MSEL-305"), ({"ignore": [1.5]}, "MSEL-305"),
        ({"ignore": ["a"], "numeric": ["a"]}, "MSEL-305"), ({"ignore": ["a"], "features": {"a": "numeric"}}, "MSEL-305"),
        ({"missing_in": ["a"]}, "MSEL-305"), ({"missing_in": ["z=1"]}, "MSEL-303"), ({"dates": ["a=dmy"]}, "MSEL-305"),
        ({"thousands": "ab"}, "MSEL-305"), ({"dates": "both"}, "MSEL-305"),
    ],
)  # fmt: skip
def test_what_names_no_column_or_two_kinds_is_an_error(said: dict[str, object], code: str) -> None:
    assert problems(["a", "b", "y"], **said) == [code]


def test_numbers_are_positions_and_never_names() -> None:
    assert settings(ignore=[1]).settle(["a", "b", "y"]).features == {"a": "ignore"}
    assert settings(ignore=["2"]).settle(["2", "1", "y"]).features == {"2": "ignore"}
    assert problems(["2", "1", "y"], ignore=[2]) == ["MSEL-305"]  # the first is called so, and the second stands there
    assert problems(["1", "2", "y"], ignore=[2]) == []


def test_what_is_said_by_column_is_parted_after_the_longest_name() -> None:
    made = settings(missing_in=["a=b=-1", "a=-2", "a=?"]).settle(["a", "a=b", "y"])
    assert made.missing_in == {"a=b": ("-1",), "a": ("-2", "?")}
    assert settings(missing_in={"a": [-200, 9.0], "b": "-"}).settle(["a", "b", "y"]).missing_in == {
        "a": ("-200", "9"), "b": ("-",),
    }  # fmt: skip
    made = settings(dates=["day_first", "a=%d.%m.%Y"]).settle(["a", "b", "y"])
    assert made.dates == {"a": "%d.%m.%Y", "b": "day_first", "y": "day_first"}


FILE = "# made by hand\n# twice\na,b,y\nkg,m,-\n" + "".join(f"{i},{i % 3},{'pq'[i % 2]}\n" for i in range(12))


def test_lines_above_the_names_and_below_them_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(FILE)
    plain = tmp_path / "plain.csv"
    plain.write_text("a,b,y\n" + FILE.split("-\n")[1])
    got, meant = (Csv(path=str(tmp_path / name), target="y", **said).read() for name, said in (
        ("t.csv", {"header": 3, "skip_lines": 1}), ("plain.csv", {})))  # fmt: skip
    assert got.features == meant.features
    assert np.array_equal(got.values, meant.values)
    (tmp_path / "t.csv").write_text(f"{FILE}1,2\n")
    with pytest.raises(ModelselError, match="line 17: 2"):  # of the file, as an editor counts
        Csv(path=str(tmp_path / "t.csv"), target="y", header=3, skip_lines=1).read()


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_file_without_names_has_columns_by_their_place(sign: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{i}{sign}{'uvw'[i % 3]}{sign}{'pq'[i % 2]}\n" for i in range(12)))
    task = Csv(path=str(path), target="column_3", header=0).read()
    assert [feature.name for feature in task.features] == ["column_1", "column_2"]
    assert task.values[:, 0].tolist() == list(range(12))
    with pytest.raises(ConfigurationError):
        Csv(path=str(path), target="column_4", header=0).read()
