"""Mixed data, missing values, nineteen classes, ARFF with all it allows: the same command does the same."""

from pathlib import Path
from typing import Any

import pytest

SPACE = "space=[c45,cart,knn,naive_bayes]"


@pytest.mark.parametrize(
    ("name", "target", "best"), [("credit_g", "class", 0.30), ("vote", "Class", 0.08), ("soybean", "class", 0.15)]
)
def test_tables_with_missing_values_and_many_classes(modelsel: Any, shared: Path, name: str, target: str, best: float) -> None:
    path = shared / "data" / f"{name}.csv"
    done = modelsel("run", "dataset=csv", f"dataset.path={path}", f"dataset.target={target}", SPACE)
    assert done.code == 0, done.err
    assert done.outcome.candidates["failed"] == 0
    assert done.outcome.winner["cv"]["mean"] < best


def test_an_arff_file_with_quotes_sparse_rows_and_weights(modelsel: Any) -> None:
    rows = [f"{{0 {i}, 1 'light blue', 2 {'yes' if i > 20 else 'no'}}}, {{{1 + i % 2}}}" for i in range(1, 41)]
    header = ["@relation 'my data'", "@attribute 'the size' numeric", "@attribute colour {red, 'light blue'}"]
    Path("mine.arff").write_text("\n".join([*header, "@attribute ok {no, yes}", "@data", *rows]) + "\n")
    done = modelsel("run", "dataset=arff", "dataset.path=mine.arff", "dataset.target=ok", SPACE)
    assert done.code == 0, done.err
    assert done.outcome.task["classes"] == ["no", "yes"]
    assert done.outcome.winner["cv"]["mean"] <= 0.1


def test_play_tennis_gives_the_textbook_tree(modelsel: Any) -> None:
    done = modelsel("run", "dataset=play_tennis", "space=[id3]", "split=none", "scheme=leave_one_out")
    assert done.code == 0, done.err
    html = Path("runs/latest/report.html").read_text()
    assert all(word in html for word in ("Outlook", "Humidity", "Wind"))
    assert "Temperature" not in html.split("<h2", 8)[0]
