"""`target.transform` beside scikit-learn's TransformedTargetRegressor, and what has no logarithm."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import modelsel
from modelsel import SelectionCV
from modelsel.core.errors import ConfigurationError

TURNED = {"log": (np.log, np.exp), "log1p": (np.log1p, np.expm1)}


@pytest.fixture(scope="module")
def sales() -> tuple[Any, Any]:
    """Rows × features, and amounts whose logarithm is near a line."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3)).round(2)
    return X, np.exp(5 + X[:, 0] - 0.5 * X[:, 1] + rng.normal(0, 0.4, 150)).round(1) + 1


@pytest.mark.parametrize("name", TURNED)
@pytest.mark.parametrize(
    ("learner", "settings"),
    [("linear_regression", {}), ("knn", {"k": 3}), ("cart", {"pruner": "unpruned"}), ("mean", {}), ("median", {})],
)
def test_it_answers_as_the_learner_behind_scikit_learns_transform(name: str, learner: str, settings: Any, sales: Any) -> None:
    X, y = sales
    ours = modelsel.regressor(learner, f"target.transform={name}", **settings).fit(X, y).predict(X)
    forward, backward = TURNED[name]
    theirs = TransformedTargetRegressor(modelsel.regressor(learner, **settings), func=forward, inverse_func=backward)
    assert np.allclose(ours, theirs.fit(X, y).predict(X), rtol=1e-9)
    if learner == "cart":
        tree = TransformedTargetRegressor(DecisionTreeRegressor(random_state=0), func=forward, inverse_func=backward)
        assert np.allclose(ours, tree.fit(X, y).predict(X), rtol=1e-9)
    elif learner == "linear_regression":
        scale = X.std(axis=0)
        line = TransformedTargetRegressor(Ridge(), func=forward, inverse_func=backward).fit(X / scale, y)
        assert np.allclose(ours, line.predict(X / scale), rtol=1e-9)


def test_scores_are_in_the_unit_of_the_target_and_every_candidate_is_itself_alone(sales: Any) -> None:
    X, y = sales
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    transform = ["none", "log", "log1p"]
    space = {
        "linear_regression": {"sweep": {"params.alpha": [0.1, 10.0], "target.transform": transform}},
        "cart": {"sweep": {"max_depth": [1, 3], "target.transform": transform}},
    }
    found = SelectionCV(space, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    assert len(found.cv_results_["params"]) == 12
    for index, params in enumerate(found.cv_results_["params"]):
        own = {name: value for name, value in params.items() if name not in ("learner", "target.transform")}
        base: Any = modelsel.regressor(params["learner"], **own)
        if "target.transform" in params:
            forward, backward = TURNED[params["target.transform"]]
            base = TransformedTargetRegressor(base, func=forward, inverse_func=backward)
        alone = cross_val_score(base, X, y, cv=folds, scoring="neg_mean_squared_error")
        assert found.cv_results_["mean_test_score"][index] == pytest.approx(alone.mean(), rel=1e-9), params
    assert found.best_params_["target.transform"] == "log"
    assert np.allclose(found.best_estimator_.predict(X), found.predict(X))


def test_a_row_without_weight_may_have_any_number(sales: Any) -> None:
    X, y = sales
    weights = np.r_[np.ones(149), 0.0]
    marred = np.r_[y[:-1], -1.0]
    made = modelsel.regressor("linear_regression", "target.transform=log")
    one, other = (clone(made).fit(X, each, sample_weight=weights) for each in (y, marred))
    assert (one.predict(X) == other.predict(X)).all()


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"cart": {"target.transform": "log"}}, "log needs numbers above 0, and 2 of 150 development.*target.transform=log1p"),
        ({"cart": {"target.transform": "log1p"}}, "log1p needs numbers above -1, and 1 of 150 development.*leave"),
        (
            {"cart": {"sweep": {"target.transform": ["none", "root"]}}},
            "MSEL-205: 'root'.*one of: log, log1p, none",
        ),
    ],
)
def test_what_has_no_logarithm_is_refused_before_any_fit_with_what_may_be_done(space: Any, said: str, sales: Any) -> None:
    X, y = sales
    with pytest.raises(ConfigurationError, match=f"(?s){said}"):
        SelectionCV(space, cv=3).fit(X, np.r_[y[:-2], 0.0, -1.0])


def test_classes_have_no_logarithm() -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-240.*transformed_target does not read it: the target is a class"):
        SelectionCV({"cart": {"target.transform": "log"}}, cv=3).fit(np.arange(12.0)[:, None], ["a", "b"] * 6)
    with pytest.raises(ConfigurationError, match=r"target\.transform is about numbers, and naive_bayes predicts classes"):
        modelsel.classifier("naive_bayes", "target.transform=log")


@pytest.mark.slow
def test_a_study_records_the_axis_and_reads_its_model_back(sales: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = sales
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(amount=y)
    space = {
        "cart": {"learner": "cart", "sweep": {"pruner.alpha": "path", "target.transform": ["none", "log"]}},
        "line": {"learner": "linear_regression", "sweep": {"target.transform": "choice(none, log)"}},
    }
    outcome = modelsel.run(data=frame, target="amount", space=space, tracking="off", seed=1)
    told = pd.read_csv(Path(outcome.folder) / "candidates.csv")
    assert set(told["target.transform"].fillna("none")) == {"none", "log"}
    assert (outcome.winner["entry"], outcome.winner["parameters"]["target.transform"]) == ("line", "log")
    again = modelsel.open_run(outcome.folder)
    assert np.allclose(again.model.predict(frame), outcome.model.predict(frame))
    told_again = modelsel.run(data=frame, target="amount", space=space, tracking="off", seed=1, final_test=False, name="again")
    assert pd.read_csv(Path(told_again.folder) / "candidates.csv")[["id", "mean"]].equals(told[["id", "mean"]])
