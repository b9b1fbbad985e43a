"""Comparisons over data sets: published experiments in their short forms, and `modelsel compare` on what they recorded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import needs
from tests.openml_answers import Offline, served

QUICK = ("scheme.folds=3",)


def written(out: str) -> list[Path]:
    """The files that a comparison says it wrote."""
    return [Path(name) for line in out.splitlines() if line.startswith("written: ") for name in line[9:].split(", ")]


@pytest.mark.slow
def test_which_learner_on_what_is_at_hand(modelsel: Any) -> None:
    with served(Offline()) as nobody:
        ran = modelsel("run", "experiment=which_learner", "dataset.which=monks_1,monks_3,vote,car", *QUICK)
    assert ran.code == 0, ran.err
    assert len(nobody.asked) == 1
    for name in ("vote", "car"):
        assert f"dataset.which={name:<8} passed over: not at hand" in ran.out
        assert f"MSEL-308: '{name}' is not made here and no folder is named; OpenML: data set '{name}'" in ran.err
    assert "Mean ranks by error over 2 data sets (1 is best): " in ran.out
    assert all(learner in ran.out for learner in ("table", "knn", "naive_bayes", "tree", "majority"))
    assert [path.suffix for path in written(ran.out)] == [".html", ".md", ".svg"]
    assert all(path.stat().st_size > 500 for path in written(ran.out))
    assert {path.name for path in Path("runs").iterdir()} >= {"monks_1-which_learner", "monks_3-which_learner"}


@pytest.mark.slow
def test_which_learner_reads_tables_of_a_folder(modelsel: Any, shared: Path) -> None:
    folder = f"dataset.dir={shared / 'data'}"
    ran = modelsel("run", "experiment=which_learner", "dataset.which=monks_2,vote", folder, *QUICK)
    assert ran.code == 0, ran.err
    assert "passed over" not in ran.out
    page = written(ran.out)[0].read_text()
    assert all(words in page for words in ("monks_2", "vote", "Critical-difference diagram"))


@pytest.mark.slow
def test_pruners_over_three_data_sets_from_one_command(modelsel: Any) -> None:
    ran = modelsel("run", "experiment=pruning_comparison", "dataset.which=iris,wine,monks_1", "scheme.repeats=1", *QUICK)
    assert ran.code == 0, ran.err
    assert "over 3 data sets" in ran.out
    table = next(path for path in written(ran.out) if path.suffix == ".md").read_text()
    assert "## Leaves" in table
    again = modelsel("compare", *sorted(map(str, Path("runs").glob("*-pruners"))), "-o", "again.md")
    assert again.code == 0
    assert Path("again.md").read_text().count("| iris |") == table.count("| iris |") == 2
    differing = set(Path("again.md").read_text().splitlines()) ^ set(table.splitlines())
    assert all(line.startswith("![critical-difference") for line in differing)


@pytest.mark.slow
def test_one_set_that_is_at_hand_is_compared_on_its_folds(modelsel: Any) -> None:
    ran = modelsel("run", "experiment=pruning_comparison", "dataset.which=iris,glass", "scheme.repeats=1", *QUICK)
    assert ran.code == 0, ran.err
    assert "8 learners on iris" in written(ran.out)[0].read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("iris-few", "other"), "MSEL-283"),
        (("iris-few", "loss"), "MSEL-282"),
        (("iris-few", "twin", "wine-few"), "MSEL-284"),
        (("iris-few", "alone"), "MSEL-285"),
        (("iris-few", "-o", "page.pdf"), "MSEL-287"),
        (("nowhere",), "MSEL-610"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_says_why(modelsel: Any, words: tuple[str, ...], code: str) -> None:
    def study(data: str, space: str, *more: str) -> None:
        assert modelsel("run", f"dataset={data}", f"space={space}", "split=none", *QUICK, *more).code == 0

    two = "[naive_bayes,majority]"
    for name in {"iris-few", "other", "twin", "loss", "wine-few", "alone"} & set(words):
        data = "wine" if name in ("wine-few", "alone") else "iris"
        more = {"other": ("seed=1",), "loss": ("measure=log_loss",)}.get(name, ())
        study(data, "[one_rule]" if name in ("alone", "other") else two, f"name={name}", *more)
    ran = modelsel("compare", *words)
    assert ran.code == 2
    assert ran.err.startswith(code), ran.err
    assert not Path("page.pdf").exists()


def table(rows: int, seed: int) -> str:
    """A small table whose classes follow a sum of two columns, which a tree needs many tests for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    return "a,b,c,class\n" + "".join(f"{a:.4f},{b:.4f},{c:.4f},{own}\n" for (a, b, c), own in zip(X, y, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "learners"),
    [
        ("forest_or_tree", ("pruned_tree", "softened_tree", "forest")),
        ("boosting_or_tree", ("cart", "c45", "random_forest", "lightgbm", "xgboost", "catboost", "pipeline")),
    ],
)
def test_is_one_tree_enough_on_two_tables_of_a_folder(modelsel: Any, experiment: str, learners: tuple[str, ...]) -> None:
    """With its own space, on fewer folds: each learner's settings chosen inside, and the diagram."""
    for package in {"lightgbm", "xgboost", "catboost"} & set(learners):
        needs(package)
    Path("tables").mkdir()
    for seed, name in enumerate(("sonar", "heart_c")):
        Path("tables", f"{name}.csv").write_text(table(90, seed))
        facts = {"target": "class", "columns": [{"name": column, "type": "numeric"} for column in "abc"]}
        Path("tables", f"{name}.json").write_text(json.dumps(facts))
    asked = (f"experiment={experiment}", "dataset.which=sonar,heart_c", "dataset.dir=tables", "scheme.folds=2")
    ran = modelsel("run", *asked)
    assert ran.code == 0, ran.err
    assert "passed over" not in ran.out
    assert "Mean ranks by error over 2 data sets (1 is best): " in ran.out
    ranks = next(line for line in ran.out.splitlines() if line.startswith("Mean ranks"))
    assert all(name in ran.out for name in learners), ranks
    assert [path.suffix for path in written(ran.out)] == [".html", ".md", ".svg"]
    assert "critical-difference" in written(ran.out)[2].read_text()
