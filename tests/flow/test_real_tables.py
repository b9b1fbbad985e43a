"""Mixed data, missing values, nineteen classes, ARFF with all it allows: the same command does the same."""

import re
from pathlib import Path
from typing import Any

import pytest

SPACE = "space=[c45,cart,knn,naive_bayes]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target", "best"), [("credit_g", "class", 0.30), ("vote", "Class", 0.08), ("soybean", "class", 0.15)]
)
def test_tables_with_missing_values_and_many_classes(modelsel: Any, table: Any, name: str, target: str, best: float) -> None:
    done = modelsel("run", "dataset=csv", f"dataset.path={table(name)}", f"dataset.target={target}", SPACE)
    assert done.code == 0, done.err
    assert done.outcome.candidates["failed"] == 0
    assert done.outcome.winner["cv"]["mean"] < best


@pytest.mark.slow
def test_an_arff_file_with_quotes_sparse_rows_and_weights(modelsel: Any) -> None:
    rows = [f"{{0 {i}, 1 'light blue', 2 {'yes' if i > 20 else 'no'}}}, {{{1 + i % 2}}}" for i in range(1, 41)]
    header = ["@relation 'my data'", "@attribute 'the size' numeric", "@attribute colour {red, 'light blue'}"]
    Path("mine.arff").write_text("\n".join([*header, "@attribute ok {no, yes}", "@data", *rows]) + "\n")
    done = modelsel("run", "dataset=arff", "dataset.path=mine.arff", "dataset.target=ok", SPACE)
    assert done.code == 0, done.err
    assert done.outcome.task["classes"] == ["no", "yes"]
    assert done.outcome.winner["cv"]["mean"] <= 0.1


@pytest.mark.slow
def test_play_tennis_gives_the_textbook_tree(modelsel: Any) -> None:
    done = modelsel("run", "dataset=play_tennis", "space=[id3]", "split=none", "scheme=leave_one_out")
    assert done.code == 0, done.err
    html = Path("runs/latest/report.html").read_text()
    assert all(word in html for word in ("Outlook", "Humidity", "Wind"))
    assert "Temperature" not in html.split("<h2", 8)[0]


DATES = "joined,size,wanted\n" + "\n".join(
    f"20{20 + i // 12}-{1 + i % 12:02d}-05,{(i * 7) % 5},{'yes' if i >= 20 else 'no'}" for i in range(40)
)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "arff"])
def test_dates_read_as_dates_wherever_the_tree_is_told(modelsel: Any, suffix: str) -> None:
    """The first `yes` is of 2021-09-05: the cut lies halfway between it and the month before."""
    Path("members.csv").write_text(DATES)
    said = {"csv": ["dataset.features.joined=numeric"], "arff": []}[suffix]
    if suffix == "arff":
        head = '@relation m\n@attribute joined date "yyyy-MM-dd"\n@attribute size numeric\n@attribute wanted {no,yes}\n@data\n'
        Path("members.arff").write_text(head + DATES.partition("\n")[2])
    asked = [f"dataset={suffix}", f"dataset.path=members.{suffix}", "dataset.target=wanted", "learner=cart", "scheme.folds=2"]
    assert modelsel("run", *asked, *said, "split=none", "slices=[joined]", "explanations.dependence=true").code == 0
    page = Path("runs/latest/report.html").read_text()
    assert "joined &lt;= 2021-08-20T12:00" in page
    assert "2020-01-05 · 2020-10-" in page  # least and quartile
    assert re.search(r"joined &gt; 2022-0[67]-\d\d", page)  # a slice
    assert not re.search(r"\b1[56]\d{8}\b|1[.]6\d*e\+09", page), "seconds since 1970"
    assert "joined <= 2021-08-20T12:00" in modelsel("export", "latest", "--to", "rules").out
    Path("new.csv").write_text("joined,size\n2021-08-01,1\n2021-09-01,1\n")
    told = modelsel("predict", "latest", "new.csv", "--explain").out.splitlines()
    assert [line.split(",")[0] for line in told[1:]] == ["no", "yes"]
    assert "joined > 2021-08-20T12:00" in told[2]
    assert "1629460800" in modelsel("export", "latest", "--to", "sql").out  # a program compares numbers


@pytest.mark.slow
def test_the_report_says_sizes_as_people_say_them(modelsel: Any) -> None:
    """Means over folds are fractions: 358.2 rows are none, and one leaf is no leaves."""
    assert modelsel("run", "dataset=iris", "space=[knn,majority]", "split=none", "scheme.folds=7").code == 0
    page = Path("runs/latest/report.html").read_text()
    assert re.search(r"neighbourhoods", page)
    assert not re.search(r"\d\.\d+ (<[^>]*>)?leaves|\b1 leaves", page)
