"""Transformers of skrub as steps, where it is installed: what skrub itself makes, stored and read back, and whole studies."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.preparer.transform import Transform
from tests.extras import needs

skrub = needs("skrub")
pytestmark = pytest.mark.slow
COLOURS = ("red", "green", "blue")
NAMES = np.array(["a", "b", "c", np.nan], object)


def names(task: Any, place: int) -> np.ndarray:
    codes = task.values[:, place]
    return NAMES[np.where(np.isnan(codes), 3, np.nan_to_num(codes)).astype(int)][:, None]


@pytest.mark.skipif(not hasattr(skrub, "SquashingScaler"), reason="of later versions")
def test_numbers_are_squashed_as_skrub_squashes_them(mixed: Any) -> None:
    task, rows = mixed(1), np.arange(40)
    step = Transform("skrub.SquashingScaler", "numeric", {"max_absolute_value": 2.0}).fit(task, rows, np.random.default_rng(0))
    numbers = [place for place, feature in enumerate(task.features) if feature.kind == "numeric"]
    theirs = skrub.SquashingScaler(max_absolute_value=2.0).fit(task.values[rows][:, numbers]).transform(task.values[:, numbers])
    made = step.apply(task)
    places = [place for place, feature in enumerate(made.features) if feature.name.startswith("numeric/")]
    assert np.array_equal(made.values[:, places], theirs, equal_nan=True)


def test_names_are_encoded_as_skrub_encodes_them_and_the_step_is_read_back(mixed: Any) -> None:
    task, rows = mixed(1), np.arange(40)
    step = Transform("skrub.SimilarityEncoder", "nominal").fit(task, rows, np.random.default_rng(0))
    theirs = np.asarray(skrub.SimilarityEncoder().fit(names(task, 2)[rows]).transform(names(task, 2)), float)
    made = step.apply(task)
    assert np.array_equal(made.values[:, -theirs.shape[1] :], theirs, equal_nan=True)
    again = Transform.restore(step.describe())
    assert np.array_equal(again.apply(task).values, made.values, equal_nan=True)


@pytest.mark.parametrize(
    ("transformer", "said"),
    [
        ("MinHashEncoder", "takes one column of a data frame: name the columns, as steps by columns of an estimator"),
        ("TableVectorizer", "holds functions once it is fitted, which cannot be stored"),
    ],
)
def test_what_cannot_be_a_step_is_refused_by_name(transformer: str, said: str) -> None:
    (problem,) = Transform(f"skrub.{transformer}", "nominal").problems()
    assert transformer in problem
    assert said in problem


def test_a_study_with_steps_of_skrub_predicts_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import modelsel

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{COLOURS[i % 3]},{'yes' if i % 3 == 1 else 'no'}" for i in range(90)]
    Path("dye.csv").write_text("\n".join(["size,dye,wanted", *lines]) + "\n")
    entry = {
        "learner": "logistic_regression", "steps": {"numeric": ["StandardScaler"], "nominal": ["skrub.SimilarityEncoder"]},
        "sweep": {"params.C": "choice(0.1, 10.0)"},
    }  # fmt: skip
    outcome = modelsel.run("dye.csv", "wanted", space={"skrub": entry}, scheme={"folds": 3}, tracking="off", final_test=False)
    assert set(outcome.leaderboard["status"]) == {"ok"}
    assert outcome.winner["cv"]["mean"] == 0.0
    said = modelsel.predict(outcome, "dye.csv")["prediction"].tolist()
    with Path("dye.csv").open() as file:
        assert said == [row["wanted"] for row in csv.DictReader(file)]
