"""Steps that pipelines share are fitted once per fold, and every candidate says what it says alone, bit for bit."""

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from modelsel import SelectionCV
from modelsel.foreign import shared_steps
from modelsel.foreign.shared_steps import SharedStep

LOG = logging.getLogger("counted")  # a list would be a part of the identity of the code that reads it
FOLDS = StratifiedKFold(3)


@pytest.fixture(autouse=True)
def _forget() -> None:
    for cache in (shared_steps.FITS, shared_steps.OUTPUTS):
        cache.__init__(64, shared_steps.MOST, shared_steps.weight)  # type: ignore[misc]


class Counted(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Takes the mean away, and says when it is fitted and asked."""

    def __init__(self, power: int = 1, random_state: Any = 0) -> None:
        self.power, self.random_state = power, random_state

    def fit(self, X: Any, y: Any = None) -> "Counted":
        LOG.info("fit %s", self.power)
        self.mean_ = np.asarray(X, float).mean(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        LOG.info("ask %s", self.power)
        return (np.asarray(X, float) - self.mean_) ** self.power


def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    words = np.array(["late", "paid", "again", "thanks"])
    frame = pd.DataFrame(rng.normal(y[:, None], 1.5, (150, 3)), columns=["a", "b", "c"])
    frame["town"] = np.array(["ulm", "bonn", "kiel"])[rng.integers(0, 3, 150)]
    frame["letter"] = [" ".join(words[rng.integers(0, 4, 4)]) for _ in y]
    return frame, y


def columns(**steps: Any) -> ColumnTransformer:
    own = {"numbers": StandardScaler(), "town": OneHotEncoder(handle_unknown="ignore"), "letter": TfidfVectorizer(), **steps}
    return ColumnTransformer(
        [("n", own["numbers"], ["a", "b", "c"]), ("t", own["town"], ["town"]), ("l", own["letter"], "letter")]
    )


def scores(candidates: dict[str, Any], monkeypatch: pytest.MonkeyPatch, shares: bool, n_jobs: int = 1) -> np.ndarray:
    frame, y = rows()
    with monkeypatch.context() as patched:
        if not shares:
            patched.setattr("modelsel.learner.object.is_sharing", lambda: False)
        search = SelectionCV(candidates, cv=FOLDS, measure="log_loss", refit=False, n_jobs=n_jobs).fit(frame, y)
    return np.array([search.cv_results_[f"split{fold}_test_score"] for fold in range(3)])


PROGRAMS = {
    "columns": (make_pipeline(columns(), LogisticRegression()), {"logisticregression__C": [0.1, 1, 10]}),
    "a branch differs": (
        make_pipeline(columns(numbers=make_pipeline(SimpleImputer(), MinMaxScaler())), LogisticRegression()),
        {"columntransformer__l": [TfidfVectorizer(), TfidfVectorizer(min_df=3)]},
    ),
    "behind them": (
        make_pipeline(columns(), SelectKBest(k=4), LogisticRegression()),
        {"selectkbest__k": [2, 4], "logisticregression__C": [1, 10]},
    ),
    "a union": (
        make_pipeline(
            columns(numbers=FeatureUnion([("one", StandardScaler()), ("two", FunctionTransformer(np.abs))])),
            RandomForestClassifier(5, random_state=0),
        ),
        {"randomforestclassifier__max_depth": [2, None]},
    ),
    "it draws": (
        make_pipeline(columns(numbers=PCA(2, svd_solver="randomized")), LogisticRegression()),
        {"logisticregression__C": [0.1, 1]},
    ),
    "it writes": (
        make_pipeline(columns(numbers=make_pipeline(SimpleImputer(), StandardScaler(copy=False))), LogisticRegression()),
        {"logisticregression__C": [0.1, 1]},
    ),
    "frames": (
        make_pipeline(
            columns(letter="drop", town=OneHotEncoder(sparse_output=False)).set_output(transform="pandas"),
            StandardScaler().set_output(transform="pandas"),
            LogisticRegression(),
        ),
        {"logisticregression__C": [0.1, 1]},
    ),
}


@pytest.mark.slow
def test_who_shares_steps_says_what_it_says_alone_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = scores(PROGRAMS, monkeypatch, False)
    for n_jobs in (1, 2):
        assert np.array_equal(scores(PROGRAMS, monkeypatch, True, n_jobs), alone)


@pytest.fixture
def counts(caplog: pytest.LogCaptureFixture) -> Any:
    """How often the counted steps of a program are fitted and asked."""
    caplog.set_level(logging.INFO, "counted")

    def count(program: Any, grid: dict[str, Any], **settings: Any) -> dict[str, int]:
        frame, y = rows()
        caplog.clear()
        SelectionCV((program, grid), cv=FOLDS, refit=False, measure="log_loss", **settings).fit(frame, y)
        said = [record.getMessage() for record in caplog.records if record.name == "counted"]
        return {words: said.count(words) for words in sorted(set(said))}

    return count


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_step_is_fitted_once_and_asked_once_per_fold(counts: Any, n_jobs: int) -> None:
    """Six candidates: alone they would fit the branch 18 times, and ask it 54 times."""
    program = make_pipeline(columns(numbers=make_pipeline(Counted(1), Counted(2))), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1, 10], "columntransformer__l": ["drop", TfidfVectorizer()]}
    assert counts(program, grid, n_jobs=n_jobs) == {"ask 1": 6, "ask 2": 6, "fit 1": 3, "fit 2": 3}


def test_steps_are_shared_up_to_the_one_that_differs(counts: Any) -> None:
    program = make_pipeline(columns(numbers=make_pipeline(Counted(1), Counted(2)), letter="drop"), LogisticRegression())
    assert counts(program, {"columntransformer__n__counted-2__power": [2, 3]})["fit 1"] == 3
    assert counts(program, {"columntransformer__n__counted-1__power": [1, 4]})["fit 2"] == 6


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_what_draws_is_fitted_by_each_and_so_is_what_stands_behind_it(counts: Any, state: Any) -> None:
    program = make_pipeline(columns(numbers=make_pipeline(Counted(1, state), Counted(2))), LogisticRegression())
    found = counts(program, {"logisticregression__C": [0.1, 1]})
    assert (found["fit 1"], found["fit 2"]) == (6, 6)


def test_outputs_cannot_be_written_into() -> None:
    step = SharedStep(StandardScaler(), "key")
    made = step.fit_transform(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match="read-only"):
        made[0, 0] = 1.0


def test_the_winner_is_a_plain_pipeline() -> None:
    frame, y = rows()
    search = SelectionCV((make_pipeline(columns(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}), cv=FOLDS)
    best = search.fit(frame, y).best_estimator_
    assert "SharedStep" not in repr(best) + repr(best[0].transformers_)
    assert type(best.named_steps["columntransformer"].named_transformers_["l"]) is TfidfVectorizer


def test_a_scorer_is_handed_a_plain_pipeline() -> None:
    frame, y = rows()
    seen = set()

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        seen.add("SharedStep" in repr(estimator) + repr(estimator[0].transformers_))
        return float(estimator.score(X, y))

    SelectionCV((make_pipeline(columns(), LogisticRegression()), {}), cv=FOLDS, scoring=scorer, refit=False).fit(frame, y)
    assert seen == {False}


def test_shared_steps_can_be_taken_out_again() -> None:
    program = make_pipeline(columns(numbers=FeatureUnion([("one", StandardScaler())])), StandardScaler(), SGDClassifier())
    shared = shared_steps.share(clone(program), "fold", frozenset())
    assert repr(shared).count("SharedStep") == 4
    assert repr(shared_steps.plain(shared)) == repr(program)
