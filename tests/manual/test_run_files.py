"""docs/run_files.md against a run: every file and every key is named, and what it names is there."""

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.types import Status

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "run_files.md").read_text("utf-8")
ELSEWHERE = {  # in studies of another kind than this test's; others of the test suite look at them
    "winner.corrected.caution", "winner.corrected.same", "winner.corrected.resamples", "grave", "closed", "exam",
    "winner.corrected.point632", "winner.corrected.point632_plus",
    "ensembles.id", "ensembles.entry", "ensembles.members", "ensembles.corrected",
    "search.kind", "search.sampler", "search.batch", "search.most", "search.trials", "task.weights",
}  # fmt: skip
FREE = (
    "files",
    "winner.parameters",
    "winner.measures",
    "floor.cv",
    "environment",
    "data",
    "audit",
    "shows",
    "predict_1000_rows",
)
DEEP = {"study.json": 3, "details.json": 1, "explanation.json": 1, "modelsel audit --json": 1}


def named(heading: str) -> set[str]:
    """What stands in code in the first column under a heading; the page's first table without one."""
    part = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL) if heading else None
    text = part[1] if part else PAGE.partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def paths(found: Mapping[str, Any], deep: int, before: str = "") -> Iterator[str]:
    """Dotted paths of the leaves, of a list those of its first entry."""
    for key, value in found.items():
        path = f"{before}{key}"
        inner = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
        if isinstance(inner, dict) and inner and deep > 1 and path not in FREE:
            yield from paths(inner, deep - 1, f"{path}.")
        else:
            yield path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[modelsel.Outcome]:
    """A study with everything that leaves a file, on a table in memory."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    frame["y"] = np.where(frame["a"] + rng.normal(size=120) / 2 > 0, "yes", "no")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("study"))
        patch.setenv("MODELSEL_HOME", str(tmp_path_factory.mktemp("home")))
        space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 2]}}, "bayes": "naive_bayes"}
        yield modelsel.run(
            frame, target="y", space=space, scheme={"folds": 3}, corrected="nested", outer={"kind": "kfold", "folds": 3},
            curve=True, slices=["a"], explanations={"importance": True, "dependence": True, "sets": True, "repeats": 1},
            measure="brier", tracking="off", pool="sequential", name="files",
        )  # fmt: skip


@pytest.mark.slow
def test_every_file_of_a_run_is_named_and_every_name_is_a_file(outcome: modelsel.Outcome) -> None:
    folder = Path(outcome.folder)
    there = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    patterns = {name.replace("NN", "*").replace("...", "*") for name in named("")}
    assert [name for name in there if not any(fnmatch(name, pattern) for pattern in patterns)] == []
    tracked = {"mlflow.json", "outbox.json"}
    assert [one for one in patterns - tracked if not any(fnmatch(name, one) for name in there)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study.json", "details.json", "explanation.json"])
def test_every_key_is_named_and_every_name_is_a_key(outcome: modelsel.Outcome, name: str) -> None:
    found = set(paths(json.loads((Path(outcome.folder) / name).read_text("utf-8")), DEEP[name]))
    said = named(name)
    prefixes = {path.rpartition(".")[0] for path in said} | {path.partition(".")[0] for path in said}
    assert sorted(found - said - prefixes) == []
    assert sorted(said - found - ELSEWHERE - prefixes) == []


@pytest.mark.slow
def test_the_audit_has_the_keys_of_the_page(outcome: modelsel.Outcome) -> None:
    assert set(modelsel.audit(outcome)) <= named("modelsel audit --json")


@pytest.mark.slow
def test_the_arrays_are_those_of_the_page(outcome: modelsel.Outcome) -> None:
    with np.load(Path(outcome.folder) / "losses.npz") as arrays:
        assert set(arrays) == named("losses.npz")


def test_what_is_not_named_would_be_found() -> None:
    assert set(paths({"winner": {"id": "a", "new": 1}, "findings": [{"code": "G001"}]}, 3)) - named("study.json") == {
        "winner.new"
    }


def test_the_words_of_a_status_are_one_list() -> None:
    """The table of `running.md` has every word that a candidate's status can be, and no other; both pages lead to it."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "running.md").read_text("utf-8")
    table = page.partition("| `status` | means |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert sorted(word for cell in cells for word in re.findall(r"`(\w+)`", cell)) == sorted(get_args(Status))
    assert PAGE.count("(running.md#what-may-go-wrong-inside-a-cell)") == 2
