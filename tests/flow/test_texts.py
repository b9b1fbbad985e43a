"""Texts as a column: from a file to a study, a model and its predictions; refused where nothing reads them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelsel as package

WORDS = ("late", "paid", "again", "reminder", "thanks")
SPACE = """
words:
  learner: logistic_regression
  steps: {text: [TfidfVectorizer], "amount*": [SimpleImputer], rest: drop}
  sweep: {params.C: "choice(0.1, 10)"}
"""


@pytest.fixture
def letters(modelsel: Any) -> Path:
    """A letter that says `reminder` is of somebody who does not pay; every letter has a word of its own."""
    Path("conf/space").mkdir(parents=True)
    Path("conf/space/words.yaml").write_text(SPACE)
    rng = np.random.default_rng(0)
    lines = ["amount,town,letter,default"]
    for row in range(120):
        said = " ".join(WORDS[word] for word in rng.integers(0, 5, 5))
        lines.append(f"{rng.normal():.2f},{row % 3},secret{row} {said},{'yes' if 'reminder' in said else 'no'}")
    Path("letters.csv").write_text("\n".join(lines) + "\n")
    return Path("letters.csv")


ASKED = ("letters.csv", "default", "--config-dir", "conf", "dataset.features={letter: text, town: nominal}", "scheme.folds=3",
         "pool=sequential")  # fmt: skip


def test_texts_are_chosen_on_judged_and_predicted_and_the_record_does_not_repeat_them(modelsel: Any, letters: Path) -> None:
    done = modelsel("run", *ASKED, "space=words")
    assert done.code == 0, done.err
    assert done.outcome.winner["parameters"]["params.C"] == 10
    folder = Path(done.outcome.folder)
    model = json.loads((folder / "model/data/model.json").read_text())
    assert [one["levels"] for one in model["features"] if one["text"]] == [[]]
    assert "secret1 " not in (folder / "report.html").read_text()
    Path("new.csv").write_text("letter,amount,town\nunheard reminder late,0.1,0\nunheard thanks,,7\n,1,1\n")
    said = modelsel("predict", "latest", "new.csv")
    assert [line.split(",")[0] for line in said.out.splitlines()[1:]][:2] == ["yes", "no"]
    assert modelsel("audit", "latest").code == 0


def test_what_reads_no_texts_is_refused_before_any_fit(modelsel: Any, letters: Path) -> None:
    done = modelsel("plan", *ASKED, "space=cart")
    assert done.code != 0
    assert done.err.count("tree reads no texts (letter): steps of an estimator read them, {text: [TfidfVectorizer]}") == 1
    wrong = "space={a: {learner: logistic_regression, steps: {town: [StandardScaler], rest: drop}}}"
    assert "steps of 'town' do not fit" not in modelsel("plan", *ASKED, wrong).err  # names that read as numbers are
    wrong = "space={a: {learner: logistic_regression, steps: {text: [StandardScaler], rest: drop}}}"
    assert "steps of 'text' do not fit letter" in modelsel("plan", *ASKED, wrong).err


@pytest.mark.slow
def test_a_frame_in_python_has_texts_too(letters: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(letters)
    entry = {"learner": "logistic_regression", "steps": {"text": "TfidfVectorizer", "rest": "drop"}, "params": {"C": 10}}
    outcome = package.run(
        frame, target="default", space={"words": entry}, dataset={"features": {"letter": "text"}}, scheme={"folds": 3},
        pool="sequential",
    )  # fmt: skip
    assert set(outcome.leaderboard["status"]) == {"ok"}
    new = pandas.DataFrame({"letter": ["a reminder", "many thanks"], "amount": [0.0, 1.0], "town": [0, 1]})
    assert outcome.model.predict(new).tolist() == ["yes", "no"]
