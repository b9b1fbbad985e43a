"""Ways to look at sealed rows, one program each, and honest ones: what each comes to."""

import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.core.errors import RefusedError
from modelsel_watch.session import SealedRowsWarning
from tests.extras import needs

table = load_breast_cancer(as_frame=True)
A, B, C, D = train_test_split(table.data, table.target, random_state=0)


def library(name: str) -> Any:
    needs(name)
    return import_module(name)


def forecaster() -> Any:
    return GaussianNB().fit(A, C)


def calibrated_frozen() -> None:
    CalibratedClassifierCV(FrozenEstimator(forecaster())).fit(B, D)


def permuted() -> None:
    permutation_importance(DecisionTreeClassifier(max_depth=2, random_state=0).fit(A, C), B, D, n_repeats=1)


def in_chunks() -> None:
    model = forecaster()
    metrics.accuracy_score(D, np.concatenate([model.predict(B[i : i + 40]) for i in range(0, len(B), 40)]))


def row_by_row() -> None:
    model, rows = GaussianNB().fit(A.to_numpy(), C), B.to_numpy()
    metrics.accuracy_score(D, [model.predict(rows[i : i + 1])[0] for i in range(len(rows))])


def framed_again() -> None:
    scaler = StandardScaler().fit(A)
    train, test = (pd.DataFrame(scaler.transform(one), columns=one.columns) for one in (A, B))
    GaussianNB().fit(train, C).score(test, D)


def framed_without_names() -> None:
    scaler = StandardScaler().fit(A)
    GaussianNB().fit(scaler.transform(A), C).score(pd.DataFrame(scaler.transform(B)), D)


def other_way_round() -> None:
    metrics.accuracy_score(forecaster().predict(B), D)


def perfect() -> None:
    """A column gives the answer away, so that the score is 1."""
    train, test = A.assign(answer=C), B.assign(answer=D)
    assert DecisionTreeClassifier(max_depth=1).fit(train, C).score(test, D) == 1.0


def clusters() -> None:
    metrics.adjusted_rand_score(D, forecaster().predict(B))


def hist_gradient_boosting() -> None:
    HistGradientBoostingClassifier(max_iter=2, early_stopping=True).fit(A, C, X_val=B, y_val=D)


def xgboost_set() -> None:
    library("xgboost").XGBClassifier(n_estimators=2, n_jobs=1).fit(A, C, eval_set=[(A, C), (B, D)], verbose=False)


def xgboost_in_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), library("xgboost").XGBClassifier(n_estimators=2, n_jobs=1))
    test = StandardScaler().fit(A).transform(B)
    model.fit(A, C, xgbclassifier__eval_set=[(test, D)], xgbclassifier__verbose=False)


def xgboost_by_itself() -> None:
    xgboost = library("xgboost")
    xgboost.train({"nthread": 1}, xgboost.DMatrix(A, C), 2, evals=[(xgboost.DMatrix(B, D), "test")], verbose_eval=False)


def lightgbm_set() -> None:
    library("lightgbm").LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(A, C, eval_set=[(B, D)])


def lightgbm_by_itself() -> None:
    lightgbm = library("lightgbm")
    lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(A, C), 2, valid_sets=[lightgbm.Dataset(B, D)])


def catboost_model() -> Any:
    return library("catboost").CatBoostClassifier(iterations=2, verbose=0, allow_writing_files=False, thread_count=1)


def catboost_set() -> None:
    catboost_model().fit(A, C, eval_set=(B, D))


def catboost_pool() -> None:
    catboost_model().fit(A, C, eval_set=library("catboost").Pool(B, D))


def catboost_metrics() -> None:
    catboost_model().fit(A, C).eval_metrics(library("catboost").Pool(B, D), ["AUC"])


LOOKS = (
    permuted, in_chunks, row_by_row, framed_again, framed_without_names, other_way_round, perfect, clusters,
    hist_gradient_boosting, xgboost_set, xgboost_in_a_pipeline, xgboost_by_itself, lightgbm_set, lightgbm_by_itself,
    catboost_set, catboost_pool, catboost_metrics,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::modelsel_watch.session.SealedRowsWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.__name__)
def test_one_look_is_one_look(look: Callable[[], None]) -> None:
    modelsel.watch(B, D, name="cancer")
    with modelsel.watching() as seen:
        look()
    assert [one.code for one in seen.findings] == ["G017"]
    assert (seen.looks, seen.failures) == (1, 0)
    (one,) = modelsel.audit()["test_sets"]
    assert len(one["looks"]) == 1


@pytest.mark.parametrize("look", [permuted, hist_gradient_boosting], ids=lambda look: look.__name__)
def test_a_strict_look_is_refused_whatever_computes_it(look: Callable[[], None]) -> None:
    modelsel.watch(B, D, name="cancer")
    with modelsel.watching(strict=True), pytest.raises(RefusedError, match="MSEL-840"):
        look()


@pytest.mark.filterwarnings("ignore::modelsel_watch.session.SealedRowsWarning")
def test_calibrating_a_frozen_model_on_sealed_rows_is_a_fit_on_them() -> None:
    modelsel.watch(B, D, name="cancer")
    with modelsel.watching() as seen:
        calibrated_frozen()
    assert [one.code for one in seen.findings] == ["G025"]


def test_labels_that_are_others_than_were_given_are_no_look() -> None:
    """Simulated labels, and a column of the rows themselves."""
    modelsel.watch(B, D, name="cancer")
    model, rng = forecaster(), np.random.default_rng(0)
    with modelsel.watching() as seen:
        chances = model.predict_proba(B)[:, 1]
        metrics.brier_score_loss((rng.random(len(B)) < chances).astype(int), chances)
        metrics.accuracy_score(B["mean radius"] > 14, model.predict(B))
    assert seen.findings == []
    with modelsel.watching() as seen, pytest.warns(SealedRowsWarning):
        metrics.accuracy_score(
            ["benign" if one else "malignant" for one in D], np.where(model.predict(B), "benign", "malignant")
        )
    assert seen.looks == 1


def test_what_may_be_a_look_is_information_and_withdraws_nothing(home: Path) -> None:
    """Of twenty rows that were copied by hand nobody can be sure."""
    rows, labels = B[:24], D[:24]
    modelsel.watch(rows, name="few")
    with warnings.catch_warnings(action="error"), modelsel.watching() as seen:
        predicted = forecaster().predict(rows)
        metrics.accuracy_score(labels, predicted.tolist())
        metrics.f1_score(labels, predicted.tolist())
    assert [(one.code, one.severity) for one in seen.findings] == [("G018", "info")]
    assert seen.looks == 0
    assert modelsel.audit()["test_sets"][0]["looks"] == []
