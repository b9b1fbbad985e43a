"""SelectionCV in the place of GridSearchCV."""

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    get_scorer,
    hinge_loss,
    make_scorer,
    precision_score,
    recall_score,
    roc_auc_score,
)
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
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import modelsel
from modelsel import SelectionCV
from modelsel.api.search.scores import whole
from modelsel.api.search.scoring import Scorings, _measure_scorer
from modelsel.config.build import Builder
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError
from modelsel.runner.evaluation.context import CellJob, RunContext
from tests import doubles
from tests.extras import needs

RECORD = {"tracking": "off"}
SMALL: dict[str, Any] = {
    "tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3]}},
    "knn": {"sweep": {"k": [1, 5, 9]}},
    "bayes": {"learner": "naive_bayes", "sweep": {"smoothing": [0, 1]}},
}


@parametrize_with_checks(
    [
        SelectionCV(
            {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 3]}}, "knn": {"sweep": {"k": [1, 3]}}},
            cv=3,
            task="classification",
        )
    ]
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


@pytest.fixture(scope="module")
def payments() -> tuple[pd.DataFrame, pd.Series]:
    """Amounts and a nominal column, labels of text, an index of its own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"amount": rng.gamma(2, 50, 120).round(), "age": rng.normal(40, 9, 120)}, index=np.arange(500, 620))
    frame["kind"] = pd.Categorical(rng.choice(["card", "cash"], 120))
    chance = 1 / (1 + np.exp(-(frame["amount"] - 90) / 30 + (frame["kind"] == "cash")))
    return frame, pd.Series(np.where(rng.random(120) < chance, "fraud", "good"), index=frame.index)


def _cost(estimator: Any, X: Any, y: Any) -> float:
    said = estimator.predict(X)
    return -float(X["amount"][(y == "fraud") & (said == "good")].sum() + 5 * ((y == "good") & (said == "fraud")).sum())


def _looks_inside(estimator: Any, X: Any, y: Any) -> float:
    return (
        float(estimator.predict_proba(X)[:, list(estimator.classes_).index("fraud")][y == "fraud"].mean()) - estimator.n_leaves_
    )


def _asks_other_rows(estimator: Any, X: Any, y: Any) -> float:
    dear = X[X["amount"] > 80]
    return float((estimator.predict(dear.assign(age=0.0)) == y[dear.index]).mean())


def _as_a_frame_and_a_series(estimator: Any, X: Any, y: Any) -> float:
    assert (type(X), X.dtypes["kind"].name, type(y), X.index.equals(y.index)) == (pd.DataFrame, "category", pd.Series, True)
    return float(y.index.to_numpy().mean())


def _weighed(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return float(np.average(estimator.predict(X) == y, weights=sample_weight))


def _probability(name: str = "predict_proba", **settings: Any) -> Any:
    return make_scorer(
        lambda y, p: float(np.abs((y == "fraud") - p).mean()), greater_is_better=False, response_method=name, **settings
    )


SCORERS: dict[str, Any] = {
    **{name: name for name in ("roc_auc", "balanced_accuracy", "matthews_corrcoef", "f1_macro", "neg_log_loss",
                               "jaccard_weighted", "recall_micro", "precision_macro")},
    "f1 of fraud": make_scorer(f1_score, pos_label="fraud"), "recall of good": make_scorer(recall_score, pos_label="good"),
    "precision": make_scorer(precision_score, pos_label="good", zero_division=0),
    "precision of a class": make_scorer(
        precision_score, labels=["fraud"], average="macro", pos_label=None, zero_division=0
    ),
    "kappa of labels": make_scorer(cohen_kappa_score, labels=["good", "fraud"]),
    "brier": make_scorer(brier_score_loss, greater_is_better=False, response_method="predict_proba", pos_label="fraud"),
    "average precision": make_scorer(
        average_precision_score, response_method=("decision_function", "predict_proba"), pos_label="good"
    ),
    "f beta": make_scorer(fbeta_score, beta=2, pos_label="fraud"), "a probability": _probability(),
    "a cost in amounts": _cost, "what the model is": _looks_inside, "other rows": _asks_other_rows,
    "frames": _as_a_frame_and_a_series, "weighed": _weighed,
}  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("scoring", SCORERS.values(), ids=SCORERS)
def test_scorers_get_what_grid_search_gives_them(scoring: Any, weighted: bool, payments: tuple[Any, Any]) -> None:
    """The fold's labels, its rows as they were given, and weights where they are taken."""
    X, y = payments
    folds, depths = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y)), [1, 2, 4]
    weights = {"sample_weight": np.random.default_rng(2).random(120) + 0.1} if weighted else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*sample_weight")
        theirs = GridSearchCV(modelsel.classifier("cart"), {"max_depth": depths}, cv=folds, scoring=scoring).fit(
            X, y, **weights
        )
        space = {"cart": {"learner": "cart", "sweep": {"max_depth": depths}}}
        ours = SelectionCV(space, cv=folds, scoring=scoring).fit(X, y, **weights)
    for fold in range(3):
        key = f"split{fold}_test_score"
        assert np.allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-12), key
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert ours.best_params_["max_depth"] == theirs.best_params_["max_depth"]
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_a_scorer_that_takes_no_weights_is_warned_of_and_an_odd_answer_is_refused(payments: tuple[Any, Any]) -> None:
    space = {"cart": {"learner": "cart"}}
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        SelectionCV(space, cv=3, scoring=_cost).fit(*payments, sample_weight=np.arange(120))
    with pytest.raises(ValueError, match=r"scoring must return a number.*returned 'high'") as raised:
        SelectionCV(space, cv=3, scoring=lambda estimator, X, y: "high").fit(*payments)
    assert "scored cart on fold 0" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    "form",
    [lambda X: X.to_numpy().tolist(), lambda X: X.to_numpy(), lambda X: needs("polars").from_pandas(X)],
    ids=["list", "array", "polars"],
)
def test_a_scorer_sees_rows_in_the_form_that_they_came_in(form: Any, payments: tuple[Any, Any]) -> None:
    X, y = form(payments[0][["amount", "age"]]), payments[1].to_numpy()
    seen: list[Any] = []
    SelectionCV({"cart": {"learner": "cart"}}, cv=3, scoring=lambda e, X, y: float(not seen.append((X, y)))).fit(X, y)
    assert {(type(rows), type(labels)) for rows, labels in seen} == {(type(X), np.ndarray)}
    assert {label for _, labels in seen for label in labels} == {"fraud", "good"}
    assert len(seen) == 3


MARGIN = make_pipeline(StandardScaler(), SVC(C=0.05))
RANKING: dict[str, Any] = {
    "roc_auc": "roc_auc", "average_precision": "average_precision",
    "hinge": make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function"),
    "either": make_scorer(roc_auc_score, response_method=("predict_proba", "decision_function")),
    "by hand": lambda estimator, X, y: float(estimator.decision_function(X)[y == 1].mean()),
    "other rows": lambda estimator, X, y: float(estimator.decision_function(X[:9] * 1.5).sum()),
}  # fmt: skip


@pytest.mark.parametrize("scoring", RANKING.values(), ids=RANKING)
def test_classifiers_without_probabilities_are_ranked_by_decision_values(scoring: Any, cancer: tuple[Any, Any]) -> None:
    grid = {"svc__C": [0.01, 1.0]}
    theirs = GridSearchCV(MARGIN, grid, cv=3, scoring=scoring).fit(*cancer)
    ours = SelectionCV({"svm": (MARGIN, grid)}, cv=3, scoring=scoring).fit(*cancer)
    assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert ours.score(*cancer) == pytest.approx(theirs.score(*cancer))
    assert np.allclose(ours.decision_function(cancer[0]), theirs.decision_function(cancer[0]))
    assert not hasattr(ours, "predict_proba")


def test_a_scorer_of_decision_values_gets_those_of_an_estimator_with_probabilities_too(cancer: tuple[Any, Any]) -> None:
    linear, hinge = make_pipeline(StandardScaler(), LogisticRegression()), RANKING["hinge"]
    theirs = cross_val_score(linear, *cancer, cv=3, scoring=hinge)
    ours = SelectionCV({"linear": linear}, cv=3, scoring=hinge).fit(*cancer)
    assert ours.best_score_ == pytest.approx(theirs.mean(), abs=1e-6)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine], ids=["two classes", "three"])
def test_areas_of_decision_values_are_those_of_scikit_learn(load: Any) -> None:
    """More classes: one against rest, by class share."""
    X, y = load(return_X_y=True)
    X, folds = X[:, :4], list(StratifiedKFold(3).split(X, y))
    ours = SelectionCV({"svm": MARGIN}, cv=folds, measure="auc").fit(X, y)
    for number, (analysis, assessment) in enumerate(folds):
        said, truth = clone(MARGIN).fit(X[analysis], y[analysis]).decision_function(X[assessment]), y[assessment]
        each = [said] if said.ndim == 1 else said.T
        positive = [truth == 1] if said.ndim == 1 else [truth == one for one in range(3)]
        shares = [own.mean() for own in positive]
        area = np.average([roc_auc_score(own, one) for own, one in zip(positive, each, strict=True)], weights=shares)
        assert ours.cv_results_[f"split{number}_test_score"][0] == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("choice", [{"scoring": "neg_log_loss"}, {"measure": "log_loss"}, {"measure": "brier"},
                                    {"measure": "expected_calibration_error"}], ids=str)  # fmt: skip
def test_measures_of_probabilities_refuse_who_has_none_before_any_fit(choice: Any, cancer: Any, folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-816: .* reads probabilities, and this learner gives decision values"):
        SelectionCV({"svm": MARGIN, "knn": "knn"}, cv=3, **choice).fit(*cancer)
    calibrated = SelectionCV({"svm": {"learner": {"kind": "svm", "calibrator": "platt"}}}, cv=3, **choice).fit(*cancer)
    assert np.isfinite(calibrated.best_score_)
    if "measure" in choice:
        with pytest.raises(ConfigurationError, match=r"gives decision values alone: set learner\.calibrator=platt.*space\.svm"):
            modelsel.plan("dataset=wine", space=["svm", "knn"], **choice)


@pytest.mark.slow
def test_a_study_with_a_winner_without_probabilities_is_told_whole(folder: Path) -> None:
    """Measures of probabilities beside its own are empty, and the report has no calibration curve."""
    outcome = modelsel.run("dataset=wine", space=["svm"], measure="auc", measures="all", scheme={"folds": 3}, tracking="off")
    board = outcome.leaderboard
    assert board["mean"].between(0.9, 0.9999).all()
    assert board[["log_loss", "brier"]].isna().all().all()
    page = (Path(outcome.folder) / "report.html").read_text()
    assert "ROC" in page
    assert "share that came true" not in page
    with pytest.raises(ConfigurationError, match="decision values, no probabilities"):
        outcome.plot.calibration()


@pytest.fixture(scope="module")
def visits() -> tuple[pd.DataFrame, Any]:
    when = pd.date_range("2020-01-01", periods=120, freq="37h")
    return pd.DataFrame({"when": when, "x": np.arange(120) % 7}), np.where(when.strftime("%w").isin(["0", "6"]), "end", "week")


@pytest.mark.parametrize("form", [lambda when: when, lambda when: when.astype(str), lambda when: when.dt.tz_localize("UTC"),
                                  lambda when: when.dt.date], ids=["datetime64", "text", "with a zone", "objects"])  # fmt: skip
def test_dates_are_taken_as_a_study_takes_them(form: Any, visits: tuple[Any, Any], folder: Path) -> None:
    X, y = visits[0].assign(when=form(visits[0]["when"])), visits[1]
    space = {"cart": {"learner": "cart", "sweep": {"preparer": "choice(none, dates)"}}}
    with pytest.warns(UserWarning, match="'when' of X: dates, which are read as moments"):
        search = SelectionCV(space, scheme={"kind": "stratified_kfold", "folds": 3}).fit(X, y)
    study = modelsel.run(
        X.assign(y=y), target="y", space=space, split="none", final_test=False, scheme={"folds": 3}, tracking="off"
    )
    assert (search.best_params_["preparer"], search.best_score_) == ("dates", 1.0)
    assert search.cv_results_["mean_test_score"] == pytest.approx(
        1 - study.leaderboard.sort_values("mean", ascending=False)["mean"]
    )
    assert (search.predict(X) == study.model.predict(X)).all()


def test_a_scheme_in_the_order_of_time_is_told_the_times(visits: tuple[Any, Any]) -> None:
    X, y = visits
    scheme = {"kind": "time_split", "folds": 3}
    alone = X.drop(columns="when")
    found = [SelectionCV({"tree": "cart"}, scheme=scheme).fit(alone, y, times=times) for times in (X["when"], np.arange(120))]
    assert np.array_equal(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match=r"needs times: give fit\(X, y, times=...\)$"):
        SelectionCV({"tree": "cart"}, scheme=scheme).fit(alone, y)
    parts = {"tree": {"learner": "cart", "preparer": "dates"}}  # no warning of dates
    with pytest.raises(ValueError, match=r"needs times: give fit\(X.drop\(columns='when'\), y, times=X\['when'\]\)$"):
        SelectionCV(parts, scheme=scheme).fit(X, y)
    with pytest.raises(ValueError, match="for each of the 120 rows"):
        SelectionCV({"tree": "cart"}, scheme=scheme).fit(alone, y, times=["soon"] * 120)


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
    with pytest.raises(ConfigurationError, match="MSEL-815: For multi-metric scoring, the parameter refit must be set"):
        SelectionCV(SMALL, scoring=["accuracy", "roc_auc"]).fit(*cancer)
    with pytest.raises(
        ConfigurationError, match="unknown scorer 'log_loss', scoring; measure='log_loss' is modelsel's own; or did"
    ):
        SelectionCV(SMALL, scoring="log_loss").fit(*cancer)
    with pytest.raises(ConfigurationError, match=r"f1_score is a metric of labels.*give make_scorer\(f1_score\)"):
        SelectionCV(SMALL, scoring=f1_score).fit(*cancer)
    with pytest.raises(ConfigurationError, match="MSEL-815: 3 is not a scorer"):
        SelectionCV(SMALL, scoring=3).fit(*cancer)


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


def test_each_score_stands_where_it_was_declared() -> None:
    assert Scorings("a", "one", {"other": "b", "one": "a"}).each == {"other": "b", "one": "a"}  # type: ignore[arg-type, dict-item]
    assert Scorings("a").each == {"score": "a"}  # type: ignore[arg-type]


def test_a_resampling_is_whole_where_every_row_is_analysed_or_assessed() -> None:
    task = doubles.task(30)
    folds = doubles.folds(task, repeats=2)
    assert whole(folds, task)
    first = folds.folds[0]
    assert not whole(replace(folds, folds=(replace(first, analysis=first.analysis[1:]), *folds.folds[1:])), task)
    assert not whole(replace(folds, folds=folds.folds[1:]), task)


@pytest.mark.parametrize(("measure", "accuracy"), [("error", True), ("brier", False)])
def test_error_alone_is_turned_into_accuracy(measure: str, accuracy: bool) -> None:
    scoring = _measure_scorer(measure, Builder(Folders.of()))
    assert (scoring.scorer.accuracy, scoring.offset) == (accuracy, float(accuracy))  # type: ignore[attr-defined]


def test_seconds_leave_who_would_not_end_without_a_score_and_change_no_other(monkeypatch):
    from sklearn.datasets import make_classification

    from modelsel.runner.budget import Budget

    X, y = make_classification(900, 6, random_state=0)
    space = {"cart": {"learner": "cart"}, "naive_bayes": {"learner": "naive_bayes"}}
    whole = SelectionCV(space, cv=3).fit(X, y)
    timed = SelectionCV(space, cv=3, seconds=600).fit(X, y)
    assert np.array_equal(timed.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert timed.best_params_ == whole.best_params_
    monkeypatch.setattr(Budget, "fits", lambda self, batch: batch == 1)
    short = SelectionCV(space, cv=3, seconds=600).fit(X, y)
    assert short.best_params_["learner"] == "naive_bayes"
    scores = short.cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] == whole.cv_results_["mean_test_score"][1]
