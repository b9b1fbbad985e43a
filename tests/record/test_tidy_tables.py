"""The tidy tables of a run: they say what the record says, keep their types in every format, and the page documents them."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

import modelsel
from modelsel.cli.dispatch import main
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import RunFolder
from modelsel.record.tables import TABLES, tables, write_tables
from tests.extras import needs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tables_of_a_run.md"
EVERYTHING: dict[str, Any] = {
    "measures": "all", "explanations": {"importance": True, "dependence": True, "repeats": 2, "candidates": ["winner", "knn"]},
    "curve": True, "slices": ["sex"], "outer": {"kind": "stratified_kfold", "folds": 2}, "tracking": "off",
    "scheme": {"kind": "stratified_kfold", "folds": 3}, "pool": "sequential",
}  # fmt: skip


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A study with everything turned on."""
    here = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MODELSEL_HOME", str(here / "home"))
        patched.chdir(here)
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"age": rng.normal(size=200), "height": rng.normal(size=200)})
        frame["twin"] = frame["age"] + 0.01 * rng.normal(size=200)
        frame["sex"] = rng.choice(["=f", "m"], 200)
        frame["left"] = np.where((frame["age"] > 0) ^ (rng.random(200) < 0.2), "yes", "no")
        space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 2]}}, "knn": {"sweep": {"k": [3, 999]}}}
        found = modelsel.run(frame, target="left", space=space, **EVERYTHING)
        object.__setattr__(found, "folder", str(Path(found.folder).resolve()))
        yield found


def test_every_table_has_its_columns_and_types_and_in_this_study_rows(outcome: modelsel.Outcome) -> None:
    found = outcome.tables()
    assert list(found) == list(TABLES)
    kinds = {"text": "string", "whole": "Int64", "number": "Float64", "truth": "boolean"}
    for name, frame in found.items():
        assert len(frame), name
        assert {column: str(kind) for column, kind in frame.dtypes.items()} == {
            column: kinds[of.type] for column, of in TABLES[name].columns.items()
        }


def test_candidates_folds_and_measures_are_those_of_the_leaderboard(outcome: modelsel.Outcome) -> None:
    found, board = outcome.tables(), outcome.leaderboard
    own = found["candidates"]
    assert own["id"].tolist() == board["id"].tolist()
    assert own["mean"].dropna().tolist() == board["mean"].dropna().tolist()
    assert own["rank"].isna().sum() == (own["status"] != "ok").sum() == 1
    best = own.loc[own["winner"]].iloc[0]
    assert best["id"] == outcome.winner["id"]
    assert pd.isna(best["told_apart"])
    assert own["difference"].dropna().tolist() == [mean - best["mean"] for mean in own["mean"].dropna()]
    same = ~own["told_apart"].fillna(False) & own["rank"].notna()
    assert same.tolist() == board["tied"].tolist()
    means = found["folds"].groupby("id")["score"].mean()
    for _, row in own[own["rank"].notna()].iterrows():
        assert means[row["id"]] == pytest.approx(row["mean"])
    wide = found["measures"].pivot_table(index="id", columns="measure", values="mean")
    assert wide.loc[best["id"], "error"] == best["mean"]
    for name in ("recall", "auc", "kappa"):
        assert wide.loc[best["id"], name] == board.set_index("id").loc[best["id"], name]
    depth = found["parameters"].query("parameter == 'max_depth'").set_index("id")["value"]
    assert sorted(depth) == ["1", "2"]


@pytest.mark.slow
def test_predictions_give_the_fold_scores_and_scores_add_up(outcome: modelsel.Outcome) -> None:
    found = outcome.tables()
    said = found["predictions"]
    wrong = (said["truth"] != said["predicted"]).groupby([said["id"], said["fold"]]).mean()
    scores = found["folds"].set_index(["id", "fold"])["score"]
    for key, error in wrong.items():
        assert scores[key] == pytest.approx(error)
    sums = found["scores"].groupby(["id", "row"])["score"].sum()
    assert np.allclose(sums.to_numpy(float), 1)
    assert set(found["scores"]["class"]) == {"no", "yes"}


def test_reasons_slices_and_curve_are_those_of_explanation_json(outcome: modelsel.Outcome) -> None:
    found, kept = outcome.tables(), json.loads((Path(outcome.folder) / "explanation.json").read_text("utf-8"))
    costs = found["importance"]
    assert len(costs) == sum(len(one["columns"]) + len(one["together"]) + 1 for one in kept["importance"])
    assert "age + twin" in set(costs.query("kind == 'together'")["columns"])
    each = found["importance_folds"].fillna({"columns": "-"}).groupby(["id", "kind", "columns"])["importance"].mean()
    for _, line in costs.fillna({"columns": "-"}).iterrows():
        assert each[(line["id"], line["kind"], line["columns"])] == pytest.approx(line["mean"])
    assert len(found["dependence"]) == sum(2 * len(one["grid"]) for one in kept["dependence"])
    assert set(found["dependence"].query("column == 'sex'")["level"]) == {"=f", "m"}
    assert len(found["curve"]) == 5 * len(kept["curve"]["candidates"])
    declared = found["slices"].query("kind == 'declared'")
    assert declared["rows"].sum() == outcome.task["development_rows"]
    assert found["outer_folds"]["score"].tolist() == list(outcome.extra["nested"]["scores"])
    assert found["looks"]["score"].tolist() == [outcome.test.score]


@pytest.mark.slow
@pytest.mark.parametrize("door", ["cli", "python"])
def test_parquet_keeps_types_and_csv_says_them(
    door: str, outcome: modelsel.Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for to in ("csv", "parquet"):
        if door == "python":
            assert outcome.export(to, to) == Path(to)
        else:
            assert main(["export", outcome.folder, "--to", to, "-o", to]) == 0
    package = {one["name"]: one for one in json.loads(Path("csv/datapackage.json").read_text("utf-8"))["resources"]}
    kinds = {"string": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}
    for name, frame in outcome.tables().items():
        arrow = parquet.read_table(f"parquet/{name}.parquet")
        assert [str(kind) for kind in arrow.schema.types] == [
            {"text": "string", "whole": "int64", "number": "double", "truth": "bool"}[of.type]
            for of in TABLES[name].columns.values()
        ]
        rows = arrow.to_pylist()
        assert [list(row.values()) for row in rows] == [
            [None if pd.isna(v) else v for v in row] for row in frame.to_numpy(object)
        ]
        assert needs("polars").read_parquet(f"parquet/{name}.parquet").height == len(frame)
        types = {one["name"]: kinds[one["type"]] for one in package[name]["schema"]["fields"]}
        read = pd.read_csv(f"csv/{package[name]['path']}", dtype=types, keep_default_na=False, na_values=[""])
        plain = read.map(lambda cell: cell.removeprefix("'") if isinstance(cell, str) else cell).astype(types)
        pd.testing.assert_frame_equal(plain, frame)


def test_no_cell_of_a_csv_is_a_formula(outcome: modelsel.Outcome, tmp_path: Path) -> None:
    text = (outcome.export("csv", tmp_path / "csv") / "dependence.csv").read_text("utf-8")
    assert "'=f" in text
    assert not re.search(r"(^|,)=", text, re.MULTILINE)


def test_a_study_that_computed_little_has_empty_tables_of_the_same_types(folder: RunFolder, tmp_path: Path) -> None:
    made = tables(folder)
    assert not made["curve"]["id"]
    assert len(made["candidates"]["id"]) == len(folder.candidates())
    write_tables(made, tmp_path / "deep" / "parquet", "parquet")
    empty = parquet.read_table(tmp_path / "deep" / "parquet" / "curve.parquet")
    assert (empty.num_rows, str(empty.schema.field("share").type)) == (0, "double")
    assert all(not isinstance(v, float) or math.isfinite(v) for name in made for column in made[name].values() for v in column)


@pytest.mark.slow
def test_tables_need_a_folder(outcome: modelsel.Outcome) -> None:
    with pytest.raises(ConfigurationError, match="several files"):
        outcome.export("csv")
    assert main(["export", outcome.folder, "--to", "parquet"]) == 2


def test_the_page_documents_every_column() -> None:
    page = PAGE.read_text("utf-8").split("\n## ")[1:]
    sections = {part.partition("\n")[0]: part for part in page}
    assert list(sections) == list(TABLES)
    for name, kind in TABLES.items():
        lines = [f"| `{column}` | {of.type} | {of.holds} |" for column, of in kind.columns.items()]
        assert [line for line in sections[name].splitlines() if line.startswith("| `")] == lines
        assert f"A row is {kind.row}." in sections[name]
