"""What says the same in other words has the same answer: weights in another unit, rows instead of repeats, other names.

No oracle is needed but the study itself: on folds that are given, the choice, the scores of all folds and the predictions of
new rows are those of the table as it was. Every preset takes part by itself; those that draw keep theirs where the draws stay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.build import ALONE, NUMBERS, build
from modelsel.config.folders import Folders
from modelsel.core.errors import ModelselError
from modelsel.core.spec import flat, spec_of
from modelsel.core.types import PROBABILITIES, Candidate, scores_are
from modelsel.estimator import Classifier, Regressor, numbers_of, task_of

ROWS, NEW = 120, 60
TASKS = {"classes": "classification", "numbers": "regression"}
FLOOR = {"classes": "majority", "numbers": "mean"}
LARGE = {"min_leaf": 10, "min_split": 20}
FACTORS = (3.0, 1e-300, 1e306 / 3)
PRESETS = Folders.of().options("learner")
APART = {  # of other libraries: what is no matter of ours
    ("doubled", "hist_gradient"): "bins and leaves count rows",
    ("doubled", "lightgbm"): "bins and leaves count rows",
    ("doubled", "svm"): "the machine of numbers stops within .001 of its optimum",
    ("doubled", "xgboost"): "sums in single precision",
    ("labels", "hist_gradient"): "levels of one gradient go by their order",
    ("columns", "xgboost"): "sums in single precision",
    ("unit", "svm"): "epsilon is in the target's unit",
    ("unit", "xgboost"): "it begins at .5",
}


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with its target and weights, in which fold each row is assessed, and new rows of the same columns."""

    X: pd.DataFrame
    y: np.ndarray
    fold: np.ndarray
    new: pd.DataFrame
    weights: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Rows":
        """Some of the rows, repeated where they stand there repeatedly."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X.iloc[rows].reset_index(drop=True), y=self.y[rows], fold=self.fold[rows], weights=weights)

    @property
    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.flatnonzero(self.fold != one), np.flatnonzero(self.fold == one)) for one in np.unique(self.fold)]


@cache
def rows(kind: str) -> Rows:
    rng = np.random.default_rng(7)
    n = ROWS + NEW
    X = pd.DataFrame({
        "a": rng.normal(size=n), "b": rng.normal(size=n), "c": pd.Categorical(rng.choice(["u", "v", "w"], n)),
        "d": rng.exponential(size=n),
    })  # fmt: skip
    signal = X["a"] + 1.5 * (X["c"] == "v") - 0.5 * X["d"] + rng.normal(size=n)
    y = np.where(signal > 0.2, "k2", "k1") if kind == "classes" else np.exp(signal.to_numpy() / 2)
    return Rows(X[:ROWS], y[:ROWS], np.arange(ROWS) % 2, X[ROWS:].reset_index(drop=True))


def relative(kind: str) -> Rows:
    return replace(rows(kind), weights=np.random.default_rng(1).uniform(0.3, 3.0, ROWS))


def repeated(kind: str, times: float = 1.0) -> Rows:
    return replace(rows(kind), weights=times * np.random.default_rng(2).integers(1, 4, ROWS))


# Changes: the table as it was, the changed one, and by how much numbers grow by it.

Change = tuple[Rows, Rows, float]


def by_a_factor(kind: str) -> list[Change]:
    given = relative(kind)
    return [(given, replace(given, weights=given.weights * factor), 1.0) for factor in FACTORS]


def doubled(kind: str) -> list[Change]:
    """Repeats against the rows themselves, and twice the repeats against all rows twice."""
    once, twice = repeated(kind), repeated(kind, 2.0)
    alone = replace(once.take(np.repeat(np.arange(ROWS), once.weights.astype(int))), weights=None)
    return [(once, alone, 1.0), (twice, once.take(np.repeat(np.arange(ROWS), 2)), 1.0)]


def labels(kind: str) -> list[Change]:
    if kind == "numbers":
        return []
    given = relative(kind)
    return [(given, replace(given, y=np.where(given.y == "k1", one, other)), 1.0) for one, other in (("A b", "é"), ("z", "No"))]


def columns(kind: str) -> list[Change]:
    given, named, order = relative(kind), {"a": "zz top", "b": "Y", "c": "e é", "d": "1"}, list("dcba")
    return [
        (given, replace(given, X=given.X.rename(columns=named), new=given.new.rename(columns=named)), 1.0),
        (given, replace(given, X=given.X[order], new=given.new[order]), 1.0),
    ]


def unit(kind: str) -> list[Change]:
    given = relative(kind)
    return [] if kind == "classes" else [(given, replace(given, y=np.ldexp(given.y, k)), 2.0**k) for k in (-20, 20)]


CHANGES: Mapping[str, Callable[[str], list[Change]]] = {
    "factor": by_a_factor, "doubled": doubled, "labels": labels, "columns": columns, "unit": unit,
}  # fmt: skip


@cache
def own(name: str, kind: str) -> dict[str, object]:
    """Settings of a preset: leaves too large for two columns to part them alike, since the order of columns breaks ties."""
    known = flat(spec_of(build(name, context=ALONE if kind == "classes" else NUMBERS)[0]))
    return {key: LARGE[key.rpartition(".")[2]] for key in known if key.rpartition(".")[2] in LARGE}


@cache
def measure(name: str, kind: str) -> str | None:
    """What judges a preset on such a target; None where it does not read it."""
    context = ALONE if kind == "classes" else NUMBERS
    try:
        learner: Any = build(name, context=context)[0]
    except ModelselError:
        return None
    given = rows(kind)
    task = task_of(Classifier(), given.X, given.y)[0] if kind == "classes" else numbers_of(Regressor(), given.X, given.y)
    if kind not in getattr(learner, "reads", ("classes",)) or Candidate(learner).of_others or any(learner.problems(task)):
        return None
    return "mse" if kind == "numbers" else "brier" if scores_are(learner) == PROBABILITIES else "error"


def searched(name: str, kind: str, given: Rows) -> tuple[str, np.ndarray, np.ndarray]:
    """The choice, the scores of all folds, and what is said of new rows: numbers, probabilities, or which class."""
    space = {"floor": FLOOR[kind], "e": {"learner": name, **own(name, kind)}}
    search = modelsel.SelectionCV(space, cv=given.folds, measure=measure(name, kind), task=TASKS[kind])
    search.fit(given.X, given.y, sample_weight=given.weights)
    scores = np.array([search.cv_results_[f"split{one}_test_score"] for one in range(2)])
    return search.best_params_["learner"], scores, said(search, given)


def said(model: Any, given: Rows) -> np.ndarray:
    """Of two classes in the order of the first table's."""
    if given.y.dtype.kind == "f":
        return np.asarray(model.predict(given.new), np.float64)
    first = given.y[rows("classes").y == "k1"][0] if len(given.y) == ROWS else "k1"
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(given.new))[:, list(model.classes_).index(first)]
    return np.asarray(model.predict(given.new) == first, np.float64)


@cache
def draws(name: str, kind: str) -> bool:
    given, make = rows(kind), modelsel.classifier if kind == "classes" else modelsel.regressor
    one, other = (said(make(name, seed=seed, **own(name, kind)).fit(given.X, given.y), given) for seed in (0, 1))
    return not np.array_equal(one, other)


def close(ours: np.ndarray, theirs: np.ndarray, foreign: bool) -> None:
    np.testing.assert_allclose(theirs, ours, rtol=1e-5 if foreign else 1e-9, atol=1e-9 * max(1.0, np.abs(ours).max()))


def elsewhere(name: str) -> bool:
    """Say whether a preset is an estimator of another library."""
    return (Folders.of().read("learner", name) or {}).get("kind") in ("estimator", "sklearn")


@pytest.mark.sampled(24)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow) if elsewhere(one) else one for one in PRESETS])
def test_a_search_says_the_same(name: str, change: str) -> None:
    if reason := next((why for (what, which), why in APART.items() if what == change and which in name), ""):
        pytest.skip(reason)
    kinds = [kind for kind in FLOOR if measure(name, kind)]
    made = [(kind, one) for kind in kinds for one in CHANGES[change](kind)]
    if not made:
        pytest.skip("nothing to change")
    for kind, (given, other, grown) in made:
        if change != "factor" and draws(name, kind):
            continue
        chosen, scores, answers = searched(name, kind, given)
        again, theirs, others = searched(name, kind, other)
        foreign = elsewhere(name)
        assert again == chosen
        close(scores * grown**2, theirs, foreign)
        close(answers * grown, others, foreign)


def study(kind: str, given: Rows, names: tuple[str, ...]) -> tuple[str, dict[str, np.ndarray], np.ndarray]:
    """The winner, the scores of all folds by entry, and what the final model says of new rows."""
    frame, weights = given.X.assign(target=given.y, fold=given.fold), {}
    if given.weights is not None:
        frame, weights = frame.assign(weight=given.weights), {"weights": "weight"}
    outcome = modelsel.run(
        frame, "dataset.fold=fold", target="target", scheme="predefined",
        space={name: {"learner": name, **own(name, kind)} for name in names},
        measure="brier" if kind == "classes" else "mse", split="none", tracking="off", guard="off", name="alike",
        task=TASKS[kind], on_failure="error", **weights,
    )  # fmt: skip
    board = outcome.leaderboard
    scores = {row["entry"]: row[["fold_00", "fold_01"]].to_numpy(float) for _, row in board.iterrows()}
    return str(outcome.winner["learner"]), scores, said(outcome.model, given)


@cache
def drawing_nothing(kind: str, change: str) -> tuple[str, ...]:
    judged = "brier" if kind == "classes" else "mse"
    apart = [which for what, which in APART if what == change]
    names = (name for name in PRESETS if not any(which in name for which in apart))
    return tuple(name for name in names if measure(name, kind) == judged and not draws(name, kind))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", FLOOR)
def test_a_study_says_the_same(kind: str, change: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All presets that draw nothing in one space."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    names = drawing_nothing(kind, change)
    assert len(names) > 8
    for given, other, grown in CHANGES[change](kind):
        chosen, scores, answers = study(kind, given, names)
        again, theirs, others = study(kind, other, names)
        assert again == chosen
        assert scores.keys() == theirs.keys()
        for name, own in scores.items():
            close(own * grown**2, theirs[name], foreign=True)
        close(answers * grown, others, foreign=True)
