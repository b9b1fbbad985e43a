"""Models, exports and a gate as they were on 28 November 2026: `python -m tests.figures.golden.kept` writes `kept.zip` anew.

Beside `record.zip`, which holds ledgers, exams and certificates: stored models of trees, forests and others with what they
predict and export, and a home in which a gate, an exam and watching have written, with what an audit says of it.
"""

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import modelsel

HERE = Path(__file__).parent
KEPT, TOLD = HERE / "kept.zip", "told.json"
CLASSES = ("c45", "cart", "forest", "naive_bayes", "knn")
NUMBERS = ("cart", "m5p", "forest")
FORMS = ("rules", "json", "dot")  # SQL is asked of databases by other tests
LEFT_OUT = {"report.html", "journal", "run_index"}  # what is made again
SMALL = {"forest": ["learner.trees=3", "learner.max_depth=4"]}


@contextmanager
def at(folder: Path, home: str = "home") -> Iterator[Path]:
    """Work in a folder, with a home there."""
    before = Path.cwd(), os.environ.get("MODELSEL_HOME")
    os.chdir(folder)
    os.environ["MODELSEL_HOME"] = str(folder / home)
    try:
        yield folder
    finally:
        os.chdir(before[0])
        os.environ.pop("MODELSEL_HOME")
        if before[1] is not None:
            os.environ["MODELSEL_HOME"] = before[1]


def table(seed: int = 11) -> pd.DataFrame:
    """Rows by rule: two numbers (one of them with gaps), a nominal column, a class and a number."""
    draw = np.random.default_rng(seed)
    n = 160
    frame = pd.DataFrame({"a": draw.normal(size=n).round(3), "b": draw.normal(size=n).round(3)})
    frame["colour"] = draw.choice(["red", "green", "blue"], n)
    frame.loc[::17, "b"] = np.nan
    frame["y"] = np.where(frame.a + (frame.colour == "red") + draw.normal(size=n) / 3 > 0.4, "yes", "no")
    frame["z"] = (2 * frame.a + (frame.colour == "blue") + draw.normal(size=n) / 5).round(4)
    return frame


def build(folder: Path) -> None:
    """Write everything, in an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with at(folder):
        table().drop(columns="z").to_csv("classes.csv", index=False)
        table().drop(columns="y").to_csv("numbers.csv", index=False)
        for file, target, learners in (("classes", "y", CLASSES), ("numbers", "z", NUMBERS)):
            for learner in learners:
                words = [f"learner={learner}", "scheme.folds=3", "tracking=off", *SMALL.get(learner, [])]
                scheme = ["scheme=kfold"] if target == "z" else []
                modelsel.run(f"{file}.csv", target, *scheme, *words, name=f"{file}-{learner}")
    with at(folder, "satellites"):
        _satellites()


def _satellites() -> None:
    """A gate, an exam and outside looks in one home."""
    gate = modelsel.create_gate("classes.csv", "gate", "y", "split.seed=5", accept_overlap=True)
    n = len(gate.questions)
    for share in (0.3, 0.6):
        gate.propose(np.where(np.arange(n) < share * n, "yes", "no"), f"share {share}")
    gate.close()
    table(12).drop(columns="y").to_csv("asked.csv", index=False)
    exam = modelsel.create_exam("asked.csv", "exam", "z", release="full", tolerance=0.5)
    exam.answer(np.zeros(len(exam.questions)), "zero")
    exam.answer(np.full(len(exam.questions), 0.4), "more")
    exam.close()
    modelsel.certify("exam", "exam.zip")
    X, y = np.random.default_rng(4).normal(size=(60, 3)), np.arange(60) % 2
    from sklearn.tree import DecisionTreeClassifier

    X_test, y_test = modelsel.watch(X[::3], y[::3], name="watched")
    with modelsel.watching():
        DecisionTreeClassifier(random_state=0).fit(X[1::3], y[1::3]).score(X_test, y_test)


def tell(folder: Path) -> dict[str, Any]:
    """What models predict and export, and what an audit of the satellites' home says."""
    with at(folder, "satellites"):
        return {"runs": tell_runs(folder), "audit": audited()}


def tell_runs(folder: Path) -> dict[str, Any]:
    """What each stored model predicts and exports."""
    with at(folder):
        return {path.parent.parent.name: _of_run(path.parent) for path in sorted(Path("runs").glob("*/*/model"))}


def audited() -> dict[str, Any]:
    """The audit of the home, without when it was asked and where it is."""
    said: dict[str, Any] = json.loads(json.dumps(dict(modelsel.audit())))
    return {"test_sets": said["test_sets"], "flags": said["flags"], "entries": said["ledger"]["entries"]}


def _of_run(place: Path) -> dict[str, Any]:
    target = "y" if "classes" in str(place) else "z"
    rows = table().drop(columns=["y", "z"])
    said: dict[str, Any] = {"predicted": modelsel.predict(str(place), rows)["prediction"].tolist(), "target": target}
    for form in FORMS:
        try:
            made = modelsel.export(str(place), form, Path(f"model.{form}"))
        except modelsel.ModelselError as error:
            said[form] = str(error).partition("\n")[0].replace(str(Path.cwd()), "")
        else:
            lines = Path(made).read_text("utf-8").splitlines(keepends=True)
            said[form] = "".join(line for line in lines if not line.startswith("a missing value "))  # rules say it since
    return said


def unpack(folder: Path) -> Path:
    """What was written once, in a folder."""
    with zipfile.ZipFile(KEPT) as archive:
        archive.extractall(folder)
    return folder


def main() -> None:
    """Write the archive anew."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "kept"
        build(folder)
        told = json.dumps(tell(folder))
        shutil.rmtree(folder / "home", ignore_errors=True)
        for path in folder.glob("model.*"):
            path.unlink()
        with zipfile.ZipFile(KEPT, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file() and not set(path.parts) & LEFT_OUT):
                archive.write(path, path.relative_to(folder))
            archive.writestr(TOLD, told)


if __name__ == "__main__":
    main()
