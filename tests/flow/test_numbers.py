"""A number as target from the command line to a certificate: what a look shows, beside it, and later."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.cli.dispatch import main

FEW = ("homes.csv", "price", "space=[linear_regression,mean]", "scheme.folds=3", "pool=sequential", "dataset.measured_in=euro")


def homes(rows: int = 90) -> None:
    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(40, 200, rows).round(1), rng.integers(1, 7, rows)
    price = (2.5 * area + 20 * rooms + 15 * rng.normal(size=rows)).round(1)
    lines = map("{},{},{}".format, area.tolist(), rooms.tolist(), price.tolist())
    Path("homes.csv").write_text("\n".join(["area,rooms,price", *lines]))


@pytest.mark.slow
def test_a_test_that_is_opened_later_answers_as_one_in_the_study(modelsel: Any, tmp_path: Path, monkeypatch: Any) -> None:
    homes()
    at_once = modelsel("run", *FEW)
    assert at_once.code == 0, at_once.err
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "another"))
    assert modelsel("run", *FEW, "final_test=false").code == 0
    later = modelsel("test", "latest")
    assert later.code == 0, later.err
    first, second = at_once.outcome.test, later.outcome.test
    assert second.tolerance == first.tolerance
    assert (second.measure, second.errors, second.interval, second.price) == (
        "within", first.errors, first.interval, first.price,
    )  # fmt: skip
    assert f"off by more than {first.tolerance:g} euro" in at_once.out


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mae", "mse", "rmse"])
def test_the_studys_measure_stands_beside_and_is_certified(modelsel: Any, measure: str) -> None:
    homes()
    done = modelsel("run", *FEW, "guard.beside=true", f"measure={measure}")
    assert done.code == 0, done.err
    test = done.outcome.test
    assert (test.measure, test.beside["measure"]) == ("within", "mae" if measure == "mae" else "mse")
    assert test.beside["interval"][0] <= test.beside["score"] <= test.beside["interval"][1]
    assert test.interval[0] <= test.score == test.errors / test.n <= test.interval[1]
    told = modelsel("run", *FEW, "guard.beside=true", f"measure={measure}", "-v").out
    assert "each error counted at most" in " ".join(told.split())
    assert modelsel("certify", "latest", "-o", "c.zip").code == 0
    verified = modelsel("verify", "c.zip")
    assert verified.code == 0, verified.out


@pytest.mark.slow
@pytest.mark.parametrize("asked", [("guard.beside=[0.5,0.9]",), ("guard.beside=true", "measure=median_absolute_error")])
def test_quantiles_of_the_errors_stand_beside_and_are_certified(modelsel: Any, asked: tuple[str, ...]) -> None:
    homes()
    told = modelsel("run", *FEW, *asked, "-v")
    assert told.code == 0, told.err
    test = told.outcome.test
    half = test.beside["quantiles"][0]
    assert (test.measure, half["q"]) == ("within", 0.5)
    assert half["interval"][0] < half["value"] <= half["interval"][1]
    assert f"half of the rows are within {half['value']:g} euro, 95 % interval" in " ".join(told.out.split())
    assert modelsel("certify", "latest", "-o", "c.zip").code == 0
    verified = modelsel("verify", "c.zip")
    assert verified.code == 0, verified.out
    assert "quantiles of errors are those of the places shown" in verified.out


@pytest.mark.slow
def test_what_has_no_interval_is_told_before_anything_is_fitted(modelsel: Any) -> None:
    homes()
    for wrong, words in (
        (("measure=r2",), "measure=r2 has no interval on sealed rows (it divides by the spread of sealed numbers"),
        (
            ("measure=mape",),
            "measure=mape has no interval on sealed rows: use one of mae, mse, rmse, median_absolute_error, quant",
        ),
        (("guard.beside=[0.5,1.0]",), "quantiles lie between 0 and 1, each once, and these are 0.5, 1"),
        (("guard.beside=[0.5,0.5]",), "quantiles lie between 0 and 1, each once"),
        (("guard.beside=[0.5]", "guard=ladder"), "guard=ladder shows less than that"),
        (("guard.beside=[0.5]", "dataset.weights=rooms"), "quantiles count rows, and these have weights"),
        (("guard=ladder",), "guard=ladder shows less than that: leave it out, or let answers be exact: guard=warn"),
        (("guard.release=ladder",), "guard.release=ladder shows less than that"),
        (("guard.release=passfail", "guard.target=0.3"), "guard.release=passfail shows less than that"),
        (("guard.resolution=0.02",), "guard.resolution=0.02 shows less than that"),
    ):
        done = modelsel("plan", *FEW, "guard.beside=true", *wrong)
        assert done.code == 2
        assert words in done.err
    assert main(["plan", "dataset=iris", "guard.beside=true"]) == 2
