"""What a spreadsheet would run is written into a file so that it is shown."""

import csv
from pathlib import Path
from typing import Any

import pytest

CLASSES = ("=cmd|'/c calc'!A0", "+tel", "-2+3", "@SUM(A1)", "\tx", "-1.5", "plain")


@pytest.mark.slow
def test_classes_that_are_formulas_are_quoted_in_a_file_and_numbers_are_not(modelsel: Any, folder: Path) -> None:
    with (folder / "train.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["x", "class"])
        out.writerows([10 * which + i % 3, name] for which, name in enumerate(CLASSES) for i in range(20))
    with (folder / "new.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["x"], *([10 * which] for which in range(len(CLASSES)))])
    options = ("dataset=csv", "dataset.path=train.csv", "dataset.target=class", "tracking=off", "scheme.folds=3")
    assert modelsel("run", *options, "learner=cart").code == 0
    assert modelsel("predict", "latest", "new.csv", "-o", "out.csv").code == 0
    with (folder / "out.csv").open(newline="") as stream:
        written = [row[0] for row in csv.reader(stream)][1:]
    printed = [row[0] for row in csv.reader(modelsel("predict", "latest", "new.csv").out.splitlines())][1:]
    assert [cell.removeprefix("'") for cell in written] == printed
    assert "-1.5" in printed
    assert "-1.5" in written
    run = [cell for cell in written if cell[:1] in "=+-@\t" and cell != "-1.5"]
    assert run == []
    assert sum(cell.startswith("'") for cell in written) == sum(cell[:1] in "=+-@\t" for cell in printed) - 1 >= 4
