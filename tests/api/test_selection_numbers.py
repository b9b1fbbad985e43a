"""SelectionCV in the place of GridSearchCV where the target is a number."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, StackingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import make_scorer, mean_pinball_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import modelsel
from modelsel import SelectionCV
from modelsel.core.errors import ConfigurationError

OWN: dict[str, Any] = {
    "cart": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3]}},
    "knn": {"sweep": {"k": [1, 5, 9]}},
    "linear_regression": {"sweep": {"params.alpha": [0.1, 10.0]}},
}


@parametrize_with_checks([SelectionCV({"cart": OWN["cart"], "knn": OWN["knn"]}, cv=3, task="regression")])
def test_scikit_learn_finds_nothing_wrong(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def homes() -> tuple[pd.DataFrame, pd.Series]:
    """Prices above 0, with a nominal column, gaps, and an index of its own."""
    rng = np.random.default_rng(0)
    rows = 140
    frame = pd.DataFrame({"area": rng.gamma(9, 12, rows).round(), "age": rng.integers(0, 90, rows).astype(float)})
    frame["town"] = pd.Categorical(rng.choice(["north", "south", "east"], rows))
    price = 900 * frame["area"] - 400 * frame["age"] + 20_000 * (frame["town"] == "south") + rng.normal(0, 15_000, rows)
    frame.loc[rng.random(rows) < 0.1, "age"] = np.nan
    frame.index = pd.RangeIndex(500, 500 + rows)
    return frame, pd.Series(price.clip(5_000).to_numpy(), index=frame.index, name="price")


def reader(last: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = [("n", numbers, ["area", "age"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["town"])]
    return make_pipeline(ColumnTransformer(columns), last)


def _off_by_more(estimator: Any, X: Any, y: Any) -> float:
    return -float((np.abs(estimator.predict(X) - y) > 10_000).mean())


def _asks_other_rows(estimator: Any, X: Any, y: Any) -> float:
    large = X[X["area"] > 100]
    return -float(np.abs(estimator.predict(large.assign(age=0.0)) - y[large.index]).mean())


def _as_a_frame_and_a_series(estimator: Any, X: Any, y: Any) -> float:
    assert (type(X), X.dtypes["town"].name, type(y), X.index.equals(y.index)) == (pd.DataFrame, "category", pd.Series, True)
    return float(y.index.to_numpy().mean())


def _weighed(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return -float(np.average(np.abs(estimator.predict(X) - y), weights=sample_weight))


SCORERS: dict[str, Any] = {
    **{name: name for name in ("r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_root_mean_squared_error",
                               "neg_median_absolute_error", "neg_mean_absolute_percentage_error", "explained_variance",
                               "neg_max_error", "neg_mean_squared_log_error", "neg_mean_poisson_deviance",
                               "d2_absolute_error_score")},
    "none": None, "pinball": make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.9),
    "mse as a scorer": make_scorer(mean_squared_error, greater_is_better=False), "a tolerance": _off_by_more,
    "other rows": _asks_other_rows, "frames": _as_a_frame_and_a_series, "weighed": _weighed,
}  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Equal up to the order of sums."""
    return bool(np.allclose(one, other, rtol=1e-10, atol=1e-12))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scoring", SCORERS.values(), ids=SCORERS)
def test_scores_of_a_pipeline_are_those_of_grid_search(scoring: Any, homes: Any) -> None:
    X, y = homes
    folds, grid = list(KFold(3, shuffle=True, random_state=1).split(X)), {"ridge__alpha": [0.1, 10.0, 1000.0]}
    theirs = GridSearchCV(reader(Ridge()), grid, cv=folds, scoring=scoring).fit(X, y)
    ours = SelectionCV((reader(Ridge()), grid), cv=folds, scoring=scoring).fit(X, y)
    for key in ("best_score_", "best_index_", "best_params_"):
        assert getattr(ours, key) == getattr(theirs, key) or same(getattr(ours, key), getattr(theirs, key)), key
    for key in (*(f"split{fold}_test_score" for fold in range(3)), "mean_test_score", "std_test_score", "rank_test_score"):
        assert same(ours.cv_results_[key], theirs.cv_results_[key]), key
    assert same(ours.score(X, y), theirs.score(X, y))
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("scoring", SCORERS.values(), ids=SCORERS)
def test_scorers_of_own_learners_get_what_grid_search_gives_them(scoring: Any, weighted: bool, homes: Any) -> None:
    """Rows and targets as they were given, and weights where they are taken."""
    X, y = homes
    folds, depths = list(KFold(3, shuffle=True, random_state=1).split(X)), [1, 2, 4]
    weights = {"sample_weight": np.random.default_rng(2).random(len(y)) + 0.1} if weighted else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*sample_weight")
        theirs = GridSearchCV(modelsel.regressor("cart"), {"max_depth": depths}, cv=folds, scoring=scoring).fit(X, y, **weights)
        ours = SelectionCV({"cart": {"learner": "cart", "sweep": {"max_depth": depths}}}, cv=folds, scoring=scoring)
        ours.fit(X, y, **weights)
    for fold in range(3):
        key = f"split{fold}_test_score"
        assert same(ours.cv_results_[key], theirs.cv_results_[key]), key
    assert same(ours.best_score_, theirs.best_score_)
    assert ours.best_params_["max_depth"] == theirs.best_params_["max_depth"]
    assert same(ours.score(X, y), theirs.score(X, y))


def test_a_default_score_is_the_estimators_own_where_it_has_one(homes: Any) -> None:
    X, y = homes[0][["area"]], homes[1] / 1000
    grid = {"alpha": [0.0, 1.0]}
    for made in (PoissonRegressor(max_iter=500), make_pipeline(StandardScaler(), PoissonRegressor(max_iter=500))):
        own = grid if isinstance(made, PoissonRegressor) else {f"poissonregressor__{name}": said for name, said in grid.items()}
        theirs = GridSearchCV(made, own, cv=3).fit(X, y)
        assert same(SelectionCV((made, own), cv=3).fit(X, y).best_score_, theirs.best_score_)  # deviance explained, not R²


@pytest.mark.parametrize(
    ("cv", "corrected"),
    [(4, True), (KFold(3, shuffle=True, random_state=0), True), (GroupKFold(3), True), (ShuffleSplit(3, random_state=0), False),
     (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), True)],
    ids=str,
)  # fmt: skip
def test_any_splitter_is_taken_and_means_over_rows_of_whole_folds_are_corrected(cv: Any, corrected: bool, homes: Any) -> None:
    X, y = homes[0][["area"]], homes[1]
    made, grid, groups = KNeighborsRegressor(), {"n_neighbors": [1, 5, 25]}, np.arange(len(y)) % 12
    theirs = GridSearchCV(made, grid, cv=cv, scoring="neg_mean_absolute_error").fit(X, y, groups=groups)
    ours = SelectionCV((made, grid), cv=cv, scoring="neg_mean_absolute_error").fit(X, y, groups=groups)
    assert same(ours.best_score_, theirs.best_score_)
    assert ours.n_splits_ == theirs.n_splits_
    assert (ours.corrected_score_ is not None) == corrected
    if ours.corrected_score_ is not None:
        score, low, high = ours.corrected_score_
        assert low <= score <= high <= 0
        assert score == pytest.approx(ours.best_score_, rel=0.2)
    assert SelectionCV((made, grid), cv=cv).fit(X, y, groups=groups).corrected_score_ is None  # R² is not a mean over rows


@pytest.mark.slow
def test_objects_of_every_make_are_scored_as_in_grid_search(homes: Any) -> None:
    X, y = homes
    stack = StackingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))], cv=3)
    logged = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    for made, grid in (
        (reader(stack), {"stackingregressor__ridge__alpha": [1.0, 100.0]}),
        (reader(logged), {"transformedtargetregressor__regressor__fit_intercept": [True, False]}),
        (reader(Nearest()), {"nearest__k": [1, 7]}),
        (reader(HistGradientBoostingRegressor(random_state=0)), {"histgradientboostingregressor__max_iter": [2, 4]}),
    ):
        with threadpool_limits(1):
            theirs, ours = GridSearchCV(made, grid, cv=3).fit(X, y), SelectionCV((made, grid), cv=3).fit(X, y)
        assert same(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]), made
        assert type(ours.best_estimator_) is type(made)


class Nearest(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor of one's own."""

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def fit(self, X: Any, y: Any) -> "Nearest":
        self.rows_, self.said_ = np.asarray(X), np.asarray(y)
        return self

    def predict(self, X: Any) -> Any:
        away = np.square(np.asarray(X)[:, None, :] - self.rows_).sum(axis=2)
        return self.said_[np.argsort(away, axis=1, kind="stable")[:, : self.k]].mean(axis=1)


@pytest.mark.slow
def test_several_entries_of_objects_and_own_learners_stand_in_one_space(homes: Any) -> None:
    X, y = homes
    space = {"mine": (reader(Ridge()), {"ridge__alpha": [0.1, 10.0]}), **OWN}
    search = SelectionCV(space, cv=4, scoring=["r2", "neg_mean_absolute_error"], refit="r2", return_train_score=True).fit(X, y)
    assert len(search.cv_results_["params"]) == 10
    assert {one["learner"] for one in search.cv_results_["params"]} == set(space)
    folds = list(KFold(4).split(X))
    for index, params in enumerate(search.cv_results_["params"]):
        own = {name: value for name, value in params.items() if name != "learner"}
        mine = params["learner"] == "mine"
        alone = reader(Ridge()).set_params(**own) if mine else modelsel.regressor(params["learner"], **own)
        for name in ("r2", "neg_mean_absolute_error"):
            expected = cross_val_score(alone, X, y, cv=folds, scoring=name).mean()
            assert same(search.cv_results_[f"mean_test_{name}"][index], expected), params
    assert (search.cv_results_["mean_train_r2"] > 0).all()
    assert same(pickle.loads(pickle.dumps(search)).predict(X), search.predict(X))


@pytest.mark.parametrize(
    ("space", "y", "task", "numbers"),
    [
        ("cart", [0.5, 1.25] * 20, "auto", True), ("cart", [0, 1] * 20, "auto", False), ("cart", list(range(40)), "auto", True),
        ("cart", [1, 2, 3, 4] * 10, "regression", True), ("cart", list(range(20)) * 2, "auto", False),
        (Ridge(), [0, 1] * 20, "auto", True), (LogisticRegression(), list(range(10)) * 4, "auto", False),
        ("cart", np.arange(40.0) % 20, "auto", False),
    ],
)  # fmt: skip
def test_what_the_target_is_follows_from_the_objects_then_from_the_target(space: Any, y: Any, task: str, numbers: bool) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    search = SelectionCV({"one": space}, cv=2, task=task).fit(X, y)
    assert (is_regressor(search), is_classifier(search)) == (numbers, not numbers)
    assert hasattr(search, "classes_") is not numbers
    if isinstance(space, str):
        assert is_regressor(search.best_estimator_) is numbers
    before = clone(search)
    declared = not isinstance(space, str) or task != "auto"
    assert is_regressor(before) == (numbers and declared)  # a target that nobody has seen decides nothing


@pytest.mark.slow
def test_folds_around_a_search_are_those_of_numbers(homes: Any) -> None:
    X, y = homes
    search, theirs = (kind(reader(Ridge()), {"ridge__alpha": [0.1, 10.0]}) for kind in (_search, GridSearchCV))
    assert same(cross_val_score(search, X, y, cv=3), cross_val_score(theirs, X, y, cv=3))


def _search(made: Any, grid: Any) -> Any:
    return SelectionCV((made, grid))


@pytest.mark.parametrize(
    ("space", "settings", "said"),
    [
        ({"nb": "naive_bayes", "cart": "cart"}, {}, "MSEL-240: learner naive_bayes does not read it: the target is a number"),
        ({"mine": LogisticRegression()}, {"task": "regression"}, "LogisticRegression predicts classes, and the target is"),
        ({"mine": Ridge(), "nb": "naive_bayes"}, {"task": "classification"}, "Ridge predicts numbers, and the target has"),
        ({"cart": "cart"}, {"measure": "error"}, "MSEL-815: error does not judge numbers.*task='classification'"),
        ({"cart": "cart"}, {"task": "regresion"}, "'regresion' is not a kind of target"),
        ({"cart": "cart"}, {"scoring": "neg_mean_square_error"}, "unknown scorer.*neg_mean_squared_error"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_or_fitted_is_told_before_any_fit(space: Any, settings: Any, said: str, homes: Any) -> None:
    X, y = homes[0][["area"]], homes[1] if settings.get("task") != "classification" else homes[1] > 100_000
    with pytest.raises(ConfigurationError, match=f"(?s){said}"):
        SelectionCV(space, cv=3, **settings).fit(X, y)


def test_folds_on_which_a_score_is_not_defined_are_told_before_any_fit() -> None:
    with pytest.raises(ValueError, match="r2 is not defined on 5 folds that assess a single row"):
        SelectionCV(Ridge(), cv=5).fit([[1], [2], [3], [4], [5]], [1.5, 2, 3, 4, 5])


def test_scores_of_very_small_targets_are_no_ties() -> None:
    X, y = load_diabetes(return_X_y=True)
    space = {"knn": {"sweep": {"k": [1, 25, 5]}}}
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    for scoring in ("neg_mean_squared_error", "neg_root_mean_squared_error", scorer):
        found = [SelectionCV(space, cv=4, scoring=scoring).fit(X, y * unit) for unit in (1.0, 1e-9)]
        assert found[0].best_params_["k"] == found[1].best_params_["k"] == 25
        assert (found[0].cv_results_["rank_test_score"] == found[1].cv_results_["rank_test_score"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_a_recorded_search_is_the_search(scoring: Any, homes: Any, folder: Path) -> None:
    X, y = homes
    settings = {"cv": 3, "scoring": scoring}
    search = SelectionCV(OWN, **settings).fit(X, y)
    assert list(folder.rglob("*")) == []
    recorded = SelectionCV(OWN, record={"tracking": "off"}, **settings).fit(X, y)
    for key, values in search.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test", "rank")):
            assert np.array_equal(values, recorded.cv_results_[key]), key
    assert (recorded.best_params_, recorded.best_score_) == (search.best_params_, search.best_score_)
    assert same(recorded.outcome_.model.predict(X), search.predict(X))
    with pytest.raises(ConfigurationError, match=r"MSEL-814.*no scorer.*mse, mae, r2"):
        SelectionCV(OWN, record=True, scoring="neg_max_error").fit(X, y)
