"""All measures of a study with `measures=all`: the leaderboard, candidates.csv, MLflow and the report tell the same numbers."""

import csv
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import modelsel
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.runs import KEY
from modelsel.reporting.words import score

ASKED: dict[str, Any] = {
    "dataset": "breast_cancer", "space": ["cart", "naive_bayes", "majority"],
    "scheme": {"kind": "stratified_kfold", "folds": 3},
}  # fmt: skip
OF_SCORES = {"auc", "average_precision", "brier", "expected_calibration_error", "lift", "log_loss"}
OF_COUNTS = {"balanced_error", "f1", "f_beta", "kappa", "mcc", "precision", "recall", "specificity"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELSEL_HOME", str(tmp_path_factory.mktemp("home")))
        patch.chdir(tmp_path_factory.mktemp("work"))
        yield modelsel.run(**ASKED, measures="all", pool="sequential", tracking={"wait": 120}, final_test=False)


@pytest.fixture(scope="module")
def board(outcome: Any) -> dict[str, dict[str, float]]:
    """Measure by name and candidate, as the leaderboard has them."""
    frame = outcome.leaderboard.set_index("id")
    names = [name for name in frame.columns if name in OF_SCORES | OF_COUNTS]
    return {name: frame[name].astype(float).to_dict() for name in names}


@pytest.mark.slow
def test_every_measure_is_there_for_every_candidate(outcome: Any, board: dict[str, dict[str, float]]) -> None:
    assert set(board) == OF_SCORES | OF_COUNTS
    assert all(len(each) == len(outcome.leaderboard) >= 3 for each in board.values())
    assert all(math.isfinite(value) for name in OF_SCORES for value in board[name].values())


@pytest.mark.slow
def test_candidates_csv_has_them(outcome: Any, board: dict[str, dict[str, float]]) -> None:
    with Path(outcome.folder, "candidates.csv").open(encoding="utf-8", newline="") as lines:
        rows = {row["id"]: row for row in csv.DictReader(lines)}
    for name, each in board.items():
        for candidate, value in each.items():
            assert float(rows[candidate][f"measure.{name}"]) == pytest.approx(value, nan_ok=True), (name, candidate)


@pytest.mark.slow
def test_mlflow_has_them(outcome: Any, board: dict[str, dict[str, float]]) -> None:
    client = pytest.importorskip("mlflow").MlflowClient(f"sqlite:///{Path(outcome.folder).parents[1] / 'mlflow.db'}")
    runs = client.search_runs([one.experiment_id for one in client.search_experiments()], max_results=5000)
    metrics = {run.data.tags[KEY].rpartition("/")[2]: run.data.metrics for run in runs if KEY in run.data.tags}
    for name, each in board.items():
        for candidate, value in each.items():
            if math.isfinite(value):
                assert metrics[candidate][f"cv/{name}"] == pytest.approx(value), (name, candidate)
    study = next(run.data.metrics for run in runs if "best_cv_score" in run.data.metrics)
    assert study["cv/auc"] == pytest.approx(board["auc"][outcome.winner["id"]])


class Cells(HTMLParser):
    """The rows of the table in the section of all measures: the first cell of each, and the others."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.cell = False, False
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.inside = ("id", "measures") in attrs
        if self.inside and tag == "tr":
            self.rows.append([])
        if self.inside and tag in ("td", "th"):
            self.cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.rows[-1][-1] += data.strip()


@pytest.mark.slow
def test_the_report_has_them(outcome: Any, board: dict[str, dict[str, float]]) -> None:
    """A column per candidate, named by the begin of its id; a dash stands for what is not defined."""
    page = Cells()
    page.feed(RunFolder.open(outcome.folder).report.read_text("utf-8"))
    head, *lines = page.rows
    shown = [next(one for one in board["auc"] if cell.endswith(one[:8])) for cell in head[1:]]
    assert shown[0] == outcome.winner["id"]
    assert len(shown) >= 3
    told = {line[0].replace(" ", "_"): line[1:] for line in lines}
    for name, each in board.items():
        assert told[name] == [score(each[candidate]) for candidate in shown], name
