"""The scikit-learn adapter keeps scikit-learn's contract, reads data frames, and tells a tree's shape."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import modelsel
from modelsel.core.errors import ConfigurationError

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
NOT_REPEATS = {
    "kaariainen": {WEIGHTS: "the pruning rows are drawn among rows, and a row that stands twice can fall on both sides"},
    "rep_tree": {WEIGHTS: "as kaariainen"},
}
LEARNERS = ("tree", "id3", "c45", "cart", "kaariainen", "rep_tree", "knn", "naive_bayes", "table", "majority")
OF_NUMBERS = ("cart", "rep_tree", "knn", "linear_regression", "mean", "median")


def checks() -> Any:
    named = [(name, modelsel.classifier(name)) for name in LEARNERS] + [(name, modelsel.regressor(name)) for name in OF_NUMBERS]
    for name, made in named:
        for estimator, check in estimator_checks_generator(made):
            check_name = check.func.__name__
            reason = NOT_REPEATS.get(name, {}).get(check_name)
            marks = [pytest.mark.skip(reason=reason)] if reason else []
            kind = "numbers-" if is_regressor(made) else ""
            yield pytest.param(estimator, check, id=f"{kind}{name}-{check_name}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_finds_nothing_wrong(estimator: Any, check: Any) -> None:
    check(estimator)


def test_categories_are_nominal_and_nan_is_missing() -> None:
    frame = pd.DataFrame({"outlook": pd.Categorical(["sunny", "rain", "rain", None]), "wind": [1.0, np.nan, 3.0, 4.0]})
    model = modelsel.classifier("id3").fit(frame, ["no", "yes", "yes", "yes"])
    assert model.to_dict()["features"][0] == {"name": "outlook", "kind": "nominal", "levels": ["rain", "sunny"]}
    assert model.predict(frame).tolist() == ["no", "yes", "yes", "yes"]


def test_a_level_that_was_not_seen_is_predicted_all_the_same() -> None:
    train = pd.DataFrame({"colour": pd.Categorical(["red", "red", "blue"])})
    model = modelsel.classifier("id3").fit(train, [0, 0, 1])
    with pytest.warns(UserWarning, match="not seen"):
        assert model.predict(pd.DataFrame({"colour": pd.Categorical(["green"])})).tolist() == [0]


def test_columns_in_another_order_are_refused_by_name() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    model = modelsel.classifier("cart", "pruner=unpruned").fit(frame, [0, 1])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


def test_grid_search_knows_dotted_hyper_parameters() -> None:
    x, y = load_iris(return_X_y=True)
    search = GridSearchCV(modelsel.classifier("tree"), {"max_depth": [1, 3], "leaf.score": ["frequency", "laplace"]}, cv=3)
    search.fit(x, y)
    assert search.best_params_["max_depth"] == 3
    assert cross_val_score(make_pipeline(StandardScaler(), modelsel.classifier("knn", k=5)), x, y).mean() > 0.9


def test_a_tree_tells_its_size_and_a_learner_that_is_none_says_so() -> None:
    x, y = load_iris(return_X_y=True)
    tree = modelsel.classifier("cart", "pruner=unpruned", max_depth=2).fit(x, y)
    assert (tree.n_leaves_, tree.n_nodes_, tree.depth_) == (3, 5, 2)
    assert len(tree.to_rules().splitlines()) == 3
    assert not hasattr(modelsel.classifier("majority").fit(x, y), "to_text")


def test_what_is_wrong_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'max_depth'"):
        modelsel.classifier("cart", max_dept=3)
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        modelsel.classifier("cart").set_params(nonsense=1)


@pytest.mark.parametrize(("learner", "poor"), [("majority", True), ("cart", False)])
def test_a_floor_tells_scikit_learn_that_it_scores_poorly(learner: str, poor: bool) -> None:
    assert modelsel.classifier(learner).__sklearn_tags__().classifier_tags.poor_score is poor


EVERY = sorted(path.stem for path in (Path(__file__).parents[1] / "conf/learner").glob("*.yaml"))
FLOORS = ("majority", "prior_draw", "mean", "median")
TOLD = (
    r"^learner '{name}' predicts (classes and no numbers|numbers and no classes): take modelsel\.{other}\('{name}'\), or a",
    r"criterion=\w+ reads (classes|numbers), and this target (is a number|has classes): use ",
    r"an ensemble is picked from other candidates|hand it over again in Python",
    r"pip install",
)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("door", ["classifier", "regressor"])
def test_a_learner_predicts_the_kind_of_target_that_it_is_given_or_says_in_a_sentence_who_does(door: str, name: str) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.exp(X[:, 0])
    labels, other = np.array(["no", "yes"])[(y > 1).astype(int)], "regressor" if door == "classifier" else "classifier"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = getattr(modelsel, door)(name).fit(X, labels if door == "classifier" else y)
    except (ValueError, ConfigurationError) as error:
        said = str(error)
        assert any(re.search(one.format(name=name, other=other), said) for one in TOLD), said
        assert "\n" not in said
        return
    floor = 0.4 if door == "classifier" else -1.0
    assert made.score(X, labels if door == "classifier" else y) > (floor if name in FLOORS else floor + 0.3)


@pytest.mark.parametrize("name", ["cart", "naive_bayes", "knn"])
def test_an_array_of_texts_and_numbers_is_read_as_the_frame_that_it_came_from(name: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x0": rng.choice(["u", "v", "w", ""], 120), "x1": rng.normal(size=120)})
    y = np.where((frame.x0 == "u") ^ (frame.x1 > 0.3), "a", "b")
    whole, cells = modelsel.classifier(name).fit(frame, y), modelsel.classifier(name).fit(frame.to_numpy(), y)
    assert cells.predict_proba(frame.to_numpy()).tolist() == whole.predict_proba(frame).tolist()
    chosen = modelsel.SelectionCV(name).fit(frame.to_numpy(), y)
    assert chosen.best_score_ == modelsel.SelectionCV(name).fit(frame, y).best_score_
    assert chosen.predict(frame.to_numpy()[:9]).tolist() == chosen.best_estimator_.predict(frame.to_numpy()[:9]).tolist()


def test_an_array_of_bytes_is_refused_by_the_name_of_its_columns() -> None:
    with pytest.raises(ValueError, match="MSEL-365: type binary cannot be read, column 'x0'"):
        modelsel.classifier("cart").fit(np.array([[b"u"], [b"v"]]), ["a", "b"])
