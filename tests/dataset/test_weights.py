"""What weights are is decided once: a constant factor of relative ones changes nothing, whole ones are rows that repeat."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import modelsel
from modelsel.core.errors import DataError, ModelselError
from modelsel.core.types import Feature, NumberTask, Task, positions
from modelsel.dataset.weights import counting, decide, questionable, weigh
from modelsel.scheme.bootstrap import Bootstrap
from modelsel.scheme.stratified_kfold import StratifiedKfold

FACTORS = (3.0, 1e-3, np.pi, 1e-300, 1e306, 2.0**-1000)


def task(weights: np.ndarray | None, n: int = 60) -> Task:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n).astype(np.int32)
    features = (Feature("a", "numeric"), Feature("b", "numeric"))
    return Task(name="t", features=features, values=X, rows=np.arange(n), classes=("a", "b"), target=y, weights=weights)


@pytest.mark.parametrize("factor", FACTORS)
def test_a_factor_of_relative_weights_is_divided_away(factor: float) -> None:
    given = np.random.default_rng(0).uniform(0.5, 3, 500)
    ours, theirs = (weigh(task(w, 500), decide(w)).weights for w in (given, given * factor))
    np.testing.assert_allclose(theirs, ours, rtol=2e-12)
    np.testing.assert_allclose(ours, given / given.mean(), rtol=1e-11)


def test_the_mean_is_that_of_development_rows_that_count() -> None:
    given = np.array([0.5, 0.25, 0.0, 100.5])
    found = decide(given, development=np.array([0, 1, 2]))
    assert (found.are, found.factor) == ("relative", 0.375)


@pytest.mark.parametrize(
    ("given", "are"),
    [
        ([1.0, 2.0, 3.0], "repeats"),
        ([1.0, 2.0 + 1e-10, 0.0], "repeats"),
        ([1.0, 2.0 + 1e-6], "relative"),
        ([1e-300, 2e-300], "relative"),
        ([1e306, 2e306], "relative"),  # all numbers of this size are whole
        ([0.5, 1.0], "relative"),
    ],
)
def test_whole_numbers_repeat_and_all_others_are_relative(given: list[float], are: str) -> None:
    assert decide(np.array(given)).are == are


def test_what_was_said_comes_first_and_what_cannot_be_is_refused() -> None:
    assert decide(np.array([1.0, 2.0]), "relative").factor == 1.5
    assert decide(np.array([0.5, 2.0]), "repeats").factor == 1.0
    for given, are in ((np.array([1e306, 1.0]), "repeats"), (np.zeros(3), "auto")):
        with pytest.raises(DataError, match="MSEL-350"):
            decide(given, are)


def test_weights_of_one_are_none_and_so_are_equal_relative_ones() -> None:
    for given in (np.ones(60), np.full(60, 0.3), np.full(60, 1 + 1e-12)):
        made = weigh(task(given), decide(given))
        assert made.weights is None
        assert made.fingerprint == task(None).fingerprint
    assert weigh(task(np.full(60, 2.0)), decide(np.full(60, 2.0))).weights.tolist() == [2.0] * 60


def test_far_apart_weights_stay_above_0_and_finite() -> None:
    given = np.array([1e-320, 1.5, 1e-300, 1e300])
    for development in (np.array([0, 2]), np.array([1, 3]), np.arange(4)):
        made = weigh(task(given, 4), decide(given, development=development)).weights
        assert ((made > 0) & np.isfinite(made**2)).all()


def test_weights_move_no_draw() -> None:
    """The folds of an unweighted task are those that it had before weights left the key."""
    plain = task(None)
    assert plain.draw_fingerprint == plain.fingerprint
    for given in (np.random.default_rng(0).uniform(size=60), np.arange(1.0, 61)):
        weighed = weigh(task(given), decide(given))
        assert weighed.fingerprint != plain.fingerprint
        for scheme in (StratifiedKfold(folds=4), Bootstrap(repeats=3)):
            one, other = (scheme.instantiate(each, 7) for each in (plain, weighed))
            assert [fold.fingerprint for fold in one.folds] == [fold.fingerprint for fold in other.folds]
            assert one.drawn_by(plain) == other.drawn_by(weighed) == one.fingerprint
    old = weigh(task(given), replace(decide(given), are="given"))
    assert old.draw_fingerprint == old.fingerprint != plain.fingerprint


def test_repeats_that_look_like_a_population_are_asked_about() -> None:
    for given, seen in (([10.0, 20.0], True), ([3.0, 40.0], True), ([1.0, 3.0, 4.0], False), ([0.5, 30.0], False)):
        weights = np.array(given)
        assert bool([*questionable(weights, decide(weights))]) == seen


def test_rows_of_weight_0_are_left_out_and_that_is_said() -> None:
    given = np.array([0.0, 2.0, 1.0])
    kept, said = counting(task(given, 3))
    assert kept.rows.tolist() == [1, 2]
    assert [finding.code for finding in said] == ["WEIGHT_ZERO"]


def frame(n: int = 120) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 4, n).astype(float)})
    y = np.where(X["a"] + rng.normal(size=n) > 0, "yes", "no")
    return X, y, rng.uniform(0.2, 4, n)


def test_every_door_takes_the_same_weights(tmp_path, monkeypatch) -> None:
    """`run`, a search and an estimator, on the same rows and folds, whatever the factor, with and without rows of weight 0."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    X, y, weights = frame()
    weights[::9] = 0.0
    kept, told = weights > 0, set()
    for factor in (1.0, 1e-6):
        w = weights * factor
        search = modelsel.SelectionCV({"c": "cart"}, scheme={"kind": "kfold", "folds": 4}, measure="log_loss", seed=3)
        search.fit(X, y, sample_weight=w)
        study = modelsel.run(
            X.assign(y=y, w=w), target="y", weights="w", space={"c": "cart"}, scheme={"kind": "kfold", "folds": 4},
            measure="log_loss", seed=3, split="none", tracking="off",
        )  # fmt: skip
        alone = modelsel.classifier("cart").fit(X, y, sample_weight=w)
        without = modelsel.classifier("cart").fit(X[kept], y[kept], sample_weight=w[kept])
        assert study.task["weights"]["are"] == "relative"
        assert study.task["weights"]["factor"] == pytest.approx(w[kept].mean(), rel=1e-12)
        again = study.candidate().fit()
        said = [model.predict_proba(X) for model in (search, study.model, alone, without, again)]
        for one in said:
            np.testing.assert_allclose(one, said[0], rtol=1e-9)
        assert study.winner["cv"]["mean"] == pytest.approx(-search.best_score_, rel=1e-9)
        told.add(round(study.winner["cv"]["mean"], 9))
    assert len(told) == 1
    record = json.loads((tmp_path / study.folder / "study.json").read_text())
    assert record["task"]["weights"]["are"] == "relative"


def test_repeats_are_rows_that_stand_there_again() -> None:
    """On folds that are given: rows doubled, and repeats doubled."""
    X, y, _ = frame()
    times = np.random.default_rng(2).integers(1, 4, len(y))
    folds = [*KFold(4).split(X)]
    rows = np.repeat(np.arange(len(y)), times)
    doubled = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    for learner in ("cart", "c45", "naive_bayes", "one_rule"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = modelsel.SelectionCV({"a": learner}, cv=folds, measure="brier").fit(X, y, sample_weight=times)
            other = modelsel.SelectionCV({"a": learner}, cv=doubled, measure="brier").fit(X.iloc[rows], y[rows])
        assert one.best_score_ == pytest.approx(other.best_score_, rel=1e-9), learner


def test_negative_weights_are_refused_at_every_door() -> None:
    X, y, weights = frame()
    weights[3] = -1.0
    for fit in (modelsel.classifier("cart").fit, modelsel.SelectionCV({"a": "cart"}).fit):
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            fit(X, y, sample_weight=weights)
    with pytest.raises(ModelselError, match="negative weight"):
        modelsel.plan(X.assign(y=y, w=weights), target="y", weights="w")


def test_a_number_task_is_weighed_alike() -> None:
    given = np.array([0.1, 0.3])
    made = NumberTask(name="t", features=(), values=np.zeros((2, 0)), rows=np.arange(2), target=np.zeros(2), weights=given)
    assert weigh(made, decide(given)).row_weights.round(6).tolist() == [0.5, 1.5]
    assert len(positions(made)) == 2


def test_an_estimator_takes_the_word_of_a_study() -> None:
    """By hand: repeats are rows that stand there so often; relative ones are divided by their mean."""
    X, y, _ = frame()
    times = np.random.default_rng(2).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    for make, target in ((modelsel.classifier, y), (modelsel.regressor, X["b"].to_numpy())):
        made = {are: make("cart", "pruner=unpruned", min_leaf=9, weights_are=are) for are in ("auto", "repeats", "relative")}
        said = {are: clone(one).fit(X, target, sample_weight=times).to_text() for are, one in made.items()}
        many = make("cart", "pruner=unpruned", min_leaf=9).fit(X.iloc[rows], target[rows])
        assert said["auto"] == said["repeats"] == many.to_text()
        by_mean = make("cart", "pruner=unpruned", min_leaf=9, weights_are="repeats").fit(X, target, times / times.mean())
        assert said["relative"] == by_mean.to_text() != said["repeats"]
        with pytest.raises(ValueError, match="weights_are='often' is not a way to count weights: one of auto"):
            make("cart", weights_are="often").fit(X, target)
    search = modelsel.SelectionCV({"a": "cart"}, cv=3, weights_are="relative").fit(X, y, sample_weight=times)
    assert search.best_estimator_.get_params()["weights_are"] == "relative"
