"""A line of names that is a row, told by tables whose first line is taken away, and by names that are numbers."""

from pathlib import Path

import numpy as np
import pytest

from modelsel.core.errors import ModelselError
from modelsel.dataset.csv import Csv

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).round(2)
KIND = RNG.choice(["cp", "im", "pp"], 60)
TABLES = {
    "numbers and a class": ("a,b,c,y", [f"{a},{b},{c},{k}" for (a, b, c), k in zip(X, KIND)]),
    "classes alone": ("size,colour,y", [f"{k},{m},{n}" for k, m, n in zip(KIND, RNG.permutation(KIND), RNG.permutation(KIND))]),
    "numbers alone": ("a,b,y", [f"{a},{b},{c}" for a, b, c in X]),
    "decimal commas": ("a;b;y", [f"{a};{b};{k}".replace(".", ",") for (a, b, _), k in zip(X, KIND)]),
    "gaps": ("a,b,y", [f"{a if i % 5 else ''},{b},{k}" for i, ((a, b, _), k) in enumerate(zip(X, KIND))]),
    "names of rows": ("name,a,b,y", [f"row {i},{a},{b},{k}" for i, ((a, b, _), k) in enumerate(zip(X, KIND))]),
    "years": ("country,2019,2020,2021,y", [f"c{i},{a},{b},{c},{k}" for i, ((a, b, c), k) in enumerate(zip(X, KIND))]),
    "positions": ("0,1,2", [f"{a},{b},{c}" for a, b, c in X]),
    "years alone": ("2019,y", [f"{a},{k}" for (a, *_), k in zip(X, KIND)]),
}


def data(tmp_path: Path, lines: list[str], target: str, **settings: object) -> Csv:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return Csv(path=str(path), target=target, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", TABLES)
def test_a_header_is_told_from_a_row(case: str, tmp_path: Path) -> None:
    header, rows = TABLES[case]
    with_names = data(tmp_path, [header, *rows], "y")
    path = Path(str(with_names.path))
    assert not with_names._is_row(path, with_names.names(path))
    without = data(tmp_path, rows, "y")
    assert without._is_row(path, without.names(path))


def test_what_is_proposed_reads_all_rows(tmp_path: Path) -> None:
    rows = TABLES["numbers and a class"][1]
    (found,) = [one for one in data(tmp_path, rows, KIND[0]).load().findings if one.code == "HEADER_LIKE_DATA"]
    assert [one.override for one in found.proposes] == ["dataset.header=0", "dataset.target=column_4"]
    read = data(tmp_path, rows, "column_4", header=0).load()
    assert len(read.task) == 60
    assert "HEADER_LIKE_DATA" not in {one.code for one in read.findings}


@pytest.mark.parametrize(("case", "code"), [("numbers and a class", "MSEL-303"), ("classes alone", "MSEL-318")])
def test_it_is_said_where_the_target_is_not_found_and_where_names_occur_twice(case: str, code: str, tmp_path: Path) -> None:
    rows = TABLES[case][1] if case != "classes alone" else ["cp,cp,im", *TABLES[case][1]]
    with pytest.raises(ModelselError) as caught:
        data(tmp_path, rows, "im" if code == "MSEL-318" else "y").load()
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.proposes[0].override == "dataset.header=0"


@pytest.mark.parametrize(
    ("labels", "code"),
    [(["a", "b"] * 30 + ["n/a"] * 3, "CLASS_OR_NO_ANSWER"), (["a", "b", "Unknown"] * 20, None),
     (["a", "b"] * 30 + ["-"], "MSEL-326"), (["a", "b"] * 30 + ["zz"] * 3, None)],
)  # fmt: skip
def test_a_class_that_may_be_no_answer_is_asked_about(labels: list[str], code: str | None, tmp_path: Path) -> None:
    study = data(tmp_path, ["x,y", *(f"{i},{label}" for i, label in enumerate(labels))], "y")
    try:
        found = [one for one in study.load().findings if one.proposes]
    except ModelselError as error:
        found = [*error.problems]  # type: ignore[list-item]
    assert [one.code for one in found] == ([code] if code else [])
    if code:
        assert [one.override for one in found[0].proposes] == [
            f'dataset.missing_in=["y={labels[-1]}"]', "dataset.without_target=drop"
        ]  # fmt: skip
