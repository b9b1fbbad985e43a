"""SelectionCV in the place of GridSearchCV."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import modelsel
from modelsel import SelectionCV
from modelsel.core.errors import ConfigurationError
from modelsel.runner.evaluation.context import CellJob, RunContext
from tests.extras import needs

RECORD = {"tracking": "off"}
SMALL: dict[str, Any] = {
    "tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3]}},
    "knn": {"sweep": {"k": [1, 5, 9]}},
    "bayes": {"learner": "naive_bayes", "sweep": {"smoothing": [0, 1]}},
}


@parametrize_with_checks(
    [SelectionCV({"tree": {"learner": "cart", "sweep": {"max_depth": [1, 3]}}, "knn": {"sweep": {"k": [1, 3]}}}, cv=3)]
)
def test_scikit_learn_finds_nothing_wrong(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:300, :8], y[:300]


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "balanced_accuracy", "neg_brier_score"])
def test_scores_equal_those_of_fitting_each_candidate_alone_in_a_loop(cancer: tuple[Any, Any], scoring: str) -> None:
    X, y = cancer
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    search = SelectionCV(SMALL, cv=folds, scoring=scoring).fit(X, y)
    names = {"tree": "cart", "knn": "knn", "bayes": "naive_bayes"}
    for index, params in enumerate(search.cv_results_["params"]):
        own = {name: value for name, value in params.items() if name != "learner"}
        alone = modelsel.classifier(names[params["learner"]], **own)
        scores = cross_val_score(alone, X, y, cv=folds, scoring=scoring)
        found = [search.cv_results_[f"split{fold}_test_score"][index] for fold in range(4)]
        assert np.allclose(found, scores, atol=1e-12), params


def test_neighbours_score_as_in_grid_search(cancer: tuple[Any, Any]) -> None:
    """Another implementation of the same candidates, on scikit-learn's own default folds."""
    X, y = cancer
    ks = [1, 3, 5, 7]
    theirs = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": ks}).fit(X, y)
    entry = {"learner": "knn", "distance": "euclidean", "normalise": "none", "sweep": {"k": ks}}
    ours = SelectionCV({"knn": entry}).fit(X, y)
    for key in ("mean_test_score", "std_test_score", "rank_test_score"):
        assert np.allclose(ours.cv_results_[key], theirs.cv_results_[key]), key
    assert set(theirs.cv_results_) - set(ours.cv_results_) == {"param_n_neighbors"}
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


@pytest.mark.parametrize(
    ("cv", "folds", "corrected"),
    [
        (3, 3, True), (KFold(4), 4, True), (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), 6, True),
        (ShuffleSplit(5, random_state=0), 5, False), ([(np.arange(100), np.arange(100, 300))], 1, False),
    ],
)  # fmt: skip
def test_any_splitter_is_taken_and_only_whole_folds_are_corrected(cancer: Any, cv: Any, folds: int, corrected: bool) -> None:
    search = SelectionCV(SMALL, cv=cv).fit(*cancer)
    assert search.n_splits_ == folds
    assert (search.corrected_score_ is not None) == corrected
    if corrected:
        score, low, high = search.corrected_score_
        assert low <= score <= high
        assert score <= search.best_score_ + 0.02


def test_ties_go_as_the_rule_says(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    space = {"tree": {"learner": "cart", "sweep": {"max_depth": [8, 4, 2, 1]}}}
    best, simpler = SelectionCV(space, cv=5).fit(X, y), SelectionCV(space, cv=5, rule="one_standard_error").fit(X, y)
    assert best.best_score_ == best.cv_results_["mean_test_score"].max()
    assert simpler.best_params_["max_depth"] <= best.best_params_["max_depth"]
    same = SelectionCV({"a": {"learner": "majority"}, "b": {"learner": "table"}}, cv=3).fit(np.zeros((60, 1)), y[:60])
    assert same.best_params_["learner"] == "a"


def test_shared_fits_share_their_time(cancer: tuple[Any, Any]) -> None:
    search = SelectionCV({"knn": {"sweep": {"k": list(range(1, 30, 2))}}}, cv=3).fit(*cancer)
    assert len(set(search.cv_results_["mean_fit_time"])) == 1
    assert search.cv_results_["mean_fit_time"][0] > 0


def test_wrong_names_are_one_error(cancer: tuple[Any, Any]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SelectionCV("tres", rule="bst", measure="eror").fit(*cancer)
    assert {problem.code for problem in raised.value.problems} == {"MSEL-201"}
    assert len(raised.value.problems) == 3
    with pytest.raises(ConfigurationError, match="MSEL-813"):
        SelectionCV("knn", scoring="accuracy", measure="error").fit(*cancer)


def test_a_measure_has_the_sign_of_scikit_learn(cancer: tuple[Any, Any]) -> None:
    losses = SelectionCV(SMALL, cv=3, measure="brier").fit(*cancer)
    scored = SelectionCV(SMALL, cv=3, scoring="neg_brier_score").fit(*cancer)
    both = 2 * scored.cv_results_["mean_test_score"]  # over both classes
    assert np.allclose(losses.cv_results_["mean_test_score"], both)
    assert losses.best_score_ < 0


@pytest.mark.slow
def test_it_clones_pickles_nests_and_sits_in_a_pipeline(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    search = SelectionCV(SMALL, cv=3)
    fitted = clone(search).fit(X, y)
    assert (pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(X)).all()
    assert cross_val_score(search, X, y, cv=3).min() > 0.7
    assert make_pipeline(StandardScaler(), search).fit(X, y).score(X, y) > 0.8
    assert GridSearchCV(search, {"rule": ["best", "one_standard_error"]}, cv=2).fit(X, y).best_params_


def test_weights_count_and_are_routed(cancer: tuple[Any, Any]) -> None:
    X, y = cancer
    folds = [(np.arange(0, 150), np.arange(150, 300)), (np.arange(150, 300), np.arange(0, 150))]
    weights = np.where(np.arange(300) % 3, 1, 2)
    weighted = SelectionCV(SMALL, cv=folds).fit(X, y, sample_weight=weights)
    index = np.repeat(np.arange(300), weights)
    parts = [np.flatnonzero(index < 150), np.flatnonzero(index >= 150)]
    repeated = SelectionCV({"tree": SMALL["tree"]}, cv=[(parts[0], parts[1]), (parts[1], parts[0])]).fit(X[index], y[index])
    assert np.allclose(weighted.cv_results_["mean_test_score"][:3], repeated.cv_results_["mean_test_score"])
    with config_context(enable_metadata_routing=True):
        routed = SelectionCV(SMALL, cv=folds).set_fit_request(sample_weight=True)
        scaler = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)
        piped = make_pipeline(scaler, routed).fit(X, y, sample_weight=weights)
    assert piped[-1].best_score_ == weighted.best_score_


def test_a_wrong_scorer_and_several_are_answered(cancer: tuple[Any, Any]) -> None:
    with pytest.raises(ConfigurationError, match="unknown scorer 'acuracy', scoring; did you mean 'accuracy'"):
        SelectionCV(SMALL, scoring="acuracy").fit(*cancer)
    with pytest.raises(ConfigurationError, match="MSEL-815: 2 scores cannot choose one candidate"):
        SelectionCV(SMALL, scoring=["accuracy", "roc_auc"]).fit(*cancer)


def test_groups_go_to_the_splitter_or_to_the_scheme(cancer: tuple[Any, Any]) -> None:
    groups = np.arange(300) // 10
    assert SelectionCV(SMALL, scheme={"kind": "group_kfold", "folds": 3}).fit(*cancer, groups=groups.astype(str)).n_splits_ == 3
    assert SelectionCV(SMALL, cv=GroupKFold(3)).fit(*cancer, groups=groups).n_splits_ == 3
    with pytest.raises(TypeError, match="not weight"):
        SelectionCV(SMALL).fit(*cancer, weight=groups)


@pytest.mark.parametrize("form", [pd.DataFrame, lambda frame: needs("polars").from_pandas(frame)], ids=["pandas", "polars"])
def test_frames_keep_their_names(form: Any) -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    search = SelectionCV(SMALL, cv=3).fit(form(frame), y)
    assert search.feature_names_in_.tolist() == frame.columns.tolist()
    assert search.best_estimator_.feature_names_in_.tolist() == frame.columns.tolist()
    assert search.score(form(frame), y) == get_scorer("accuracy")(search, form(frame), y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [
        {"cv": 3}, {"cv": 3, "rule": "one_standard_error"}, {"cv": 3, "measure": "brier"},
        {"scheme": {"kind": "bootstrap", "repeats": 4}}, {"cv": [(np.arange(100), np.arange(100, 300))]},
    ],
    ids=["folds", "another rule", "measure", "scheme", "one fold"],
)  # fmt: skip
def test_a_recorded_search_is_the_search_and_computes_once(
    choice: dict[str, Any], cancer: tuple[Any, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Any] = []
    evaluate = RunContext.evaluate

    def counted(work: RunContext, job: CellJob, *rest: Any) -> Any:
        done.extend([job.cell] * (len(work.plan.candidates) == 8))  # those of the floor are no candidates
        return evaluate(work, job, *rest)

    monkeypatch.setattr(RunContext, "evaluate", counted)
    search = SelectionCV(SMALL, **choice).fit(*cancer)
    cells, done[:] = len(done), []
    assert list(folder.rglob("*")) == []
    recorded = SelectionCV(SMALL, record=RECORD, **choice).fit(*cancer)
    assert len(done) == cells
    for key, values in search.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test", "rank")):
            assert np.array_equal(values, recorded.cv_results_[key]), key
    assert (recorded.best_params_, recorded.best_score_) == (search.best_params_, search.best_score_)
    own = {name: value for name, value in recorded.best_params_.items() if name != "learner"}
    assert recorded.outcome_.winner["entry"] == recorded.best_params_["learner"]
    assert own.items() <= recorded.outcome_.winner["parameters"].items()
    assert (recorded.cv_results_["mean_fit_time"] > 0).all()
    assert (recorded.outcome_.model.predict(cancer[0]) == recorded.predict(cancer[0])).all()
    corrected = recorded.outcome_.winner["corrected"]
    if recorded.corrected_score_ is not None and "measure" not in choice:
        assert 1 - corrected["mean"] == pytest.approx(recorded.corrected_score_[0])


@pytest.mark.slow
def test_a_recorded_search_tells_labels_and_columns_as_they_were() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"on": rng.random(90) < 0.5, "colour": pd.Categorical(rng.choice(["r", "g"], 90)), "size": rng.normal(size=90)}
    )
    y = frame["on"] ^ (rng.random(90) < 0.1)
    search = SelectionCV(SMALL, cv=3, record=RECORD).fit(frame, y, sample_weight=np.arange(90) % 5)
    for found in (search.outcome_, modelsel.open_run("latest")):
        assert found.classes.tolist() == [False, True]
        assert (found.model.predict(frame) == search.predict(frame)).all()
    assert search.outcome_.predictions["truth"].tolist() == y[np.arange(90) % 5 > 0].tolist()


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"cv": [(np.arange(100), np.arange(50, 300))]}, "overlap"),
        ({"cv": [(np.arange(9), np.arange(100, 300))]}, "leave rows out"),
        ({"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)}, "repeat.*scheme= "),
        ({"scoring": "roc_auc"}, "no scorer of scikit-learn's"),
    ],
)  # fmt: skip
def test_what_a_study_cannot_tell_of_is_not_recorded(choice: Any, said: str, cancer: Any, folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=rf"MSEL-814.*{said}"):
        SelectionCV(SMALL, record=RECORD, **choice).fit(*cancer)
    assert list(folder.rglob("*")) == []


def test_the_answer_does_not_depend_on_the_threads(cancer: tuple[Any, Any]) -> None:
    one, three = (SelectionCV(SMALL, cv=3, n_jobs=jobs).fit(*cancer) for jobs in (1, 3))
    assert np.array_equal(one.cv_results_["mean_test_score"], three.cv_results_["mean_test_score"])


def test_without_refit_there_is_nobody_to_ask(cancer: tuple[Any, Any]) -> None:
    search = SelectionCV(SMALL, cv=3, refit=False).fit(*cancer)
    assert search.best_params_
    assert not hasattr(search, "predict")


def test_a_scheme_of_modelsels_own(cancer: tuple[Any, Any]) -> None:
    assert SelectionCV(SMALL, scheme={"kind": "repeated_kfold", "folds": 3, "repeats": 2}).fit(*cancer).n_splits_ == 6
