"""What a study of numbers says of its choice: reasons, weak spots, more rows, shows; in record, tables and report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel as package

ASKED = (
    "explanations={importance: true, dependence: true, repeats: 2, candidates: [winner,forest]}", "curve=true",
    "slices=[town]", "show=[overfitting]",
)  # fmt: skip
SPACE = "space={cart: {learner: cart, sweep: {max_depth: [1, 2, 3, 6]}}, forest: {learner: forest, sweep: {trees: [3]}}}"
FEW = (SPACE, "scheme.folds=3", "tracking=off", "pool=sequential", "dataset.measured_in=euro")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any], str, pd.DataFrame]:
    """A study of homes, dearer and less certain in the west, whose tree wins."""
    folder, patch = tmp_path_factory.mktemp("homes"), pytest.MonkeyPatch()
    rng = np.random.default_rng(0)
    area, town = rng.uniform(40, 200, 240).round(), rng.choice(["east", "north", "west"], 240)
    price = np.where(area > 120, 400_000.0, 200_000.0) + np.where(town == "west", 90_000, 2_000) * rng.normal(size=240)
    frame = pd.DataFrame({"area": area, "town": town, "noise": rng.normal(size=240), "price": price.round(-1)})
    patch.chdir(folder)
    patch.setenv("MODELSEL_HOME", str(folder / "home"))
    outcome = package.run(*FEW, *ASKED, data=frame, target="price", name="homes")
    folder = Path(outcome.folder)
    yield outcome, json.loads((folder / "explanation.json").read_text()), (folder / "report.html").read_text("utf-8"), frame
    patch.undo()


def test_importance_and_dependence_are_those_of_the_winner_and_of_an_entry(told: Any) -> None:
    outcome, found, page, _ = told
    assert [one["entry"] for one in found["importance"]] == ["cart", "forest"]
    for one in found["importance"]:
        assert one["columns"][0]["column"] == "area"
        assert one["columns"][0]["mean"] > 10 * abs(one["noise"]["mean"])
    assert found["importance"][1]["impurity"][0]["column"] == "area"
    assert "as a share of the variance of the target" in page
    (area, *_) = found["dependence"]
    assert area["column"] == "area"
    assert 150_000 < area["mean"][0][0] < 250_000 < 350_000 < area["mean"][-1][0] < 450_000
    assert "Mean of what the final model predicts, in euro" in page
    assert "how much worse root mse gets in euro" in page
    tables = outcome.tables()
    assert tables["dependence"]["class"].isna().all()
    assert len(tables["dependence"]) == sum(len(one["grid"]) for one in found["dependence"])
    assert tables["dependence_rows"]["score"].notna().all()


def test_the_report_reads_importances_and_the_curve_by_their_roots(told: Any) -> None:
    outcome, found, page, _ = told
    mean = outcome.winner["cv"]["mean"]
    rise = found["importance"][0]["columns"][0]["mean"]
    assert f'<td>area</td><td class="n">{np.sqrt(mean + rise) - np.sqrt(mean):,.0f}</td>' in page
    points = found["curve"]["candidates"][0]["points"]
    assert points[-1]["mean"] == pytest.approx(mean)
    assert f"{np.sqrt(mean):,.0f} [" in page
    gain = found["curve"]["candidates"][0]["doubling"]["mean"] / (np.sqrt(points[2]["mean"]) + np.sqrt(mean))
    assert f"root mse by {gain:+,.0f}".replace("-", "−") in page


def test_slices_are_rows_off_by_more_than_the_tolerance_of_the_look(told: Any) -> None:
    outcome, found, page, frame = told
    declared = found["declared_slices"]
    tables = outcome.tables()
    said = tables["predictions"].query("id == @outcome.winner['id']").set_index("row")
    away = (said["predicted"].astype(float) - said["truth"].astype(float)).abs()
    town, tolerance = frame["town"].loc[said.index], declared["tolerance"]
    assert declared["mae"] == pytest.approx(away.mean())
    for line in declared["slices"]:
        own = away[town == line["slice"].removeprefix("town = ")]
        assert (line["rows"], line["wrong"], line["mae"]) == (len(own), (own > tolerance).sum(), pytest.approx(own.mean()))
    assert tolerance == outcome.test.tolerance or not 0.05 <= (away > outcome.test.tolerance).mean() <= 0.95
    assert f"off by more than {tolerance:,.0f} euro" in page
    assert tables["slices"]["mae"].notna().all()
    assert "town = west" in found["weak_slices"]["slices"][0]["slice"]


def test_the_sizes_of_trees_of_numbers_are_drawn_with_their_errors(told: Any) -> None:
    outcome, _, page, _ = told
    shows = json.loads((Path(outcome.folder) / "details.json").read_text())["shows"]
    (curve,) = (one for one in shows["overfitting"]["curves"] if one["entry"] == "cart")
    assert curve["training"] == sorted(curve["training"], reverse=True)
    assert min(curve["assessment"]) == pytest.approx(np.sqrt(outcome.winner["cv"]["mean"]))
    assert "smallest: " in page


def test_an_overfitting_curve_of_another_measure_says_why_there_is_none(modelsel: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)}).to_csv("rows.csv", index=False)
    words = ("rows.csv", "y", "space=[mean]", "measure=mae", "show=[overfitting]", "scheme.folds=2", "tracking=off")
    done = modelsel("run", *words)
    assert done.code == 0, done.err
    assert "root mean squared errors need measure=mse or rmse, not mae" in done.out
