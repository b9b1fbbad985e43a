"""Early stopping on rows that the scheme holds back: the fits of the library itself, and no row beside the analysis part."""

import inspect
import warnings
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import modelsel
from modelsel.config.build import build as learner
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import ClassTask, Feature, NumberTask, Task
from modelsel.foreign.parameters import settle_parameters
from modelsel.learner.estimator import Estimator, Holding
from modelsel.record.folder import RunFolder
from tests.api.conftest import QUICK, people
from tests.extras import needs

HISTOGRAMS = "sklearn.ensemble.HistGradientBoosting"
ROUNDS = {"sklearn": "max_iter", "catboost": "iterations"}
KINDS = [
    f"{HISTOGRAMS}Classifier", "lightgbm.LGBMClassifier", "xgboost.XGBClassifier", "catboost.CatBoostClassifier",
    f"{HISTOGRAMS}Regressor", "lightgbm.LGBMRegressor", "xgboost.XGBRegressor", "catboost.CatBoostRegressor",
]  # fmt: skip
ANALYSIS = np.arange(0, 240, dtype=np.int64)
PATIENCE = 6


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def task(numbers: bool = False, weighted: bool = True, seed: int = 0) -> Task:
    """The first feature is the number of the row: it names rows wherever a matrix of them goes."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(360, 4))
    score = signal[:, 0] + 0.7 * signal[:, 1] * signal[:, 2] + rng.normal(scale=1.2, size=360)
    own: dict[str, Any] = {
        "name": "t", "features": tuple(Feature(f"f{i}", "numeric") for i in range(5)), "rows": np.arange(360),
        "values": np.column_stack([np.arange(360.0), signal]), "groups": rng.integers(0, 24, 360),
        "times": rng.permutation(360).astype(float), "weights": rng.choice([0.5, 1.0, 2.0], 360) if weighted else None,
    }  # fmt: skip
    if numbers:
        return NumberTask(**own, target=score)
    return ClassTask(**own, classes=("a", "b", "c"), target=np.digitize(score, [-0.6, 0.6]).astype(np.int32))


def stopping(name: str, scheme: Any, rounds: int = 400, **params: Any) -> Estimator:
    package = name.partition(".")[0]
    needs(package)
    usual = {ROUNDS.get(package, "n_estimators"): rounds, **({"learning_rate": 0.1} if package == "catboost" else {}), **params}
    return Estimator(name, usual, early_stopping=PATIENCE, validation=scheme)


SCHEME = make("scheme", "stratified_group_kfold", folds=4, seed=3)


def by_hand(own: Estimator, work: Task, seed: int) -> tuple[Any, np.ndarray]:
    """The library itself, told what its page says, on the last fold that the scheme makes of the analysis rows."""
    inner = SCHEME.instantiate(work.take(ANALYSIS), 0).folds[-1]
    rows, held = ANALYSIS[inner.analysis], ANALYSIS[inner.assessment]
    X, y, V, z = work.values[rows], work.target[rows], work.values[held], work.target[held]
    w, v = (None, None) if work.weights is None else (work.weights[rows], work.weights[held])
    params = settle_parameters(own.cls, own.params, seed)
    name = own.estimator.partition(".")[0]
    if name == "sklearn":
        made = own.cls(**params, early_stopping=True, n_iter_no_change=PATIENCE)
        made.fit(X, y, sample_weight=w, X_val=V, y_val=z, sample_weight_val=v)
    elif name == "lightgbm":
        lightgbm = needs("lightgbm")
        made = own.cls(**params)
        call = [lightgbm.early_stopping(PATIENCE, verbose=False)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # eval_set is the older name
            made.fit(X, y, sample_weight=w, eval_set=[(V, z)], eval_sample_weight=None if v is None else [v], callbacks=call)
    elif name == "xgboost":
        made = own.cls(**params, early_stopping_rounds=PATIENCE)
        weights = None if v is None else [v]
        made.fit(X, y, sample_weight=w, eval_set=[(V, z)], sample_weight_eval_set=weights, verbose=False)
    else:
        catboost = needs("catboost")
        made = own.cls(**params)
        made.fit(X, y, sample_weight=w, eval_set=catboost.Pool(V, z, weight=v), early_stopping_rounds=PATIENCE)
    return made, held


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_it_is_the_fit_that_the_library_makes_with_the_same_validation_rows(name: str, weighted: bool) -> None:
    work = task(numbers=name.endswith("Regressor"), weighted=weighted)
    own = stopping(name, SCHEME)
    path = own.fit_path(work, ANALYSIS, np.random.default_rng(5))
    theirs, _ = by_hand(own, work, path.seed)
    rest = np.arange(240, 360)
    said = path.outputs([own], work, rest, scores=not name.endswith("Regressor"))
    assert np.array_equal(np.ravel(theirs.predict(work.values[rest])), said.predicted[0])
    if said.scores is not None:
        shares = np.asarray(theirs.predict_proba(work.values[rest]), np.float64)
        assert np.array_equal(said.scores[0], shares / shares.sum(axis=1, keepdims=True))
    rounds = path.complexity([own])[0]
    kept = {"sklearn": "n_iter_", "lightgbm": "best_iteration_", "xgboost": "best_iteration", "catboost": "tree_count_"}
    package = name.partition(".")[0]
    assert rounds == getattr(theirs, kept[package]) + (package == "xgboost")
    assert 0 < rounds < 400, "it stopped, or this shows nothing"


@pytest.mark.parametrize("name", KINDS[:4])
def test_no_other_row_than_those_of_the_analysis_part_reaches_the_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work, own = task(), stopping(name, SCHEME)
    seen: list[Any] = []
    fit = own.cls.fit

    @wraps(fit)
    def spied(self: Any, *given: Any, **named: Any) -> Any:
        bound = inspect.signature(fit).bind(self, *given, **named)
        bound.apply_defaults()
        seen.append(dict(bound.arguments))
        return fit(self, *given, **named)

    monkeypatch.setattr(own.cls, "fit", spied)
    own.fit_path(work, ANALYSIS, np.random.default_rng(5)).complexity([own])
    told = seen[0]
    validation = told.get("X_val") if told.get("X_val") is not None else told.get("eval_X") or told.get("eval_set")
    held = validation.get_features() if hasattr(validation, "get_features") else validation
    held = held[0] if isinstance(held, tuple | list) else held
    held = held[0] if isinstance(held, tuple) else held
    fitted, stopped = np.asarray(told["X"])[:, 0].astype(int), np.asarray(held)[:, 0].astype(int)
    assert len(stopped) > 30
    assert not set(fitted) & set(stopped)
    assert set(fitted) | set(stopped) == set(ANALYSIS.tolist())
    assert not set(work.groups[fitted]) & set(work.groups[stopped])


@pytest.mark.parametrize("name", KINDS[:4])
def test_what_stands_in_the_assessment_rows_changes_no_bit_of_the_model(name: str) -> None:
    work, own = task(), stopping(name, SCHEME)
    other = work.values.copy()
    other[240:] = 1e6
    target = work.target.copy()
    target[240:] = 0
    changed = ClassTask(name="t", features=work.features, values=other, rows=work.rows, classes=work.classes, target=target,
                        groups=work.groups, times=work.times, weights=work.weights)  # fmt: skip
    asked = work.take(np.arange(240, 360))
    one, two = (own.fit(each, ANALYSIS, np.random.default_rng(5)).scores(asked) for each in (work, changed))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("name", KINDS)
def test_a_stored_model_answers_as_the_fitted_one(name: str) -> None:
    needs("skops")
    work, own = task(numbers=name.endswith("Regressor")), stopping(name, SCHEME)
    model = own.fit(work, ANALYSIS, np.random.default_rng(5))
    again = Estimator.restore(model.describe())
    assert np.array_equal(model.predict(work), again.predict(work))
    assert again.answering.rounds == model.answering.rounds
    assert again.learner == own


@pytest.mark.parametrize("name", KINDS[:4])
def test_categories_are_read_natively_in_held_rows_too(name: str) -> None:
    work, levels = task(), tuple("vwxyz")
    rng = np.random.default_rng(1)
    town = np.where(rng.random(360) < 0.1, np.nan, (work.target + rng.integers(0, 3, 360)) % 5)
    features = (*work.features, Feature("town", "nominal", levels))
    named = ClassTask(name="t", features=features, values=np.column_stack([work.values, town]), rows=work.rows,
                      classes=work.classes, target=work.target, groups=work.groups, weights=work.weights)  # fmt: skip
    own = stopping(name, SCHEME)
    assert own.coded == "native"
    path = own.fit_path(named, ANALYSIS, np.random.default_rng(5))
    assert 0 < path.complexity([own])[0] < 400
    said = path.outputs([own], named, np.arange(240, 360), scores=True)
    assert (said.predicted[0] == named.target[240:]).mean() > 0.5


def test_the_scheme_says_which_rows_are_held_back() -> None:
    work = task()
    fitted, held = Holding(make("scheme", "group_kfold", folds=5, seed=0)).divide(work, ANALYSIS)
    assert not set(work.groups[fitted]) & set(work.groups[held])
    in_time = task().take(np.arange(360))
    ungrouped = ClassTask(name="t", features=work.features, values=work.values, rows=work.rows, classes=work.classes,
                          target=work.target, times=in_time.times)  # fmt: skip
    fitted, held = Holding(make("scheme", "time_split", folds=4, gap=10)).divide(ungrouped, ANALYSIS)
    times = np.sort(ungrouped.times[ANALYSIS])
    assert ungrouped.times[held].min() > ungrouped.times[fitted].max()
    between = (times > ungrouped.times[fitted].max()) & (times < ungrouped.times[held].min())
    assert between.sum() == 10
    fitted, held = Holding(make("scheme", "purged_kfold", folds=4, gap=20.0, embargo=5.0)).divide(ungrouped, ANALYSIS)
    assert ungrouped.times[fitted].max() < ungrouped.times[held].min() - 20
    fitted, held = Holding(make("scheme", "group_time_split")).divide(work, ANALYSIS)
    assert not set(work.groups[fitted]) & set(work.groups[held])
    assert work.times[held].min() > work.times[fitted].max()
    fitted, held = Holding(make("scheme", "stratified_kfold", folds=6, seed=1)).divide(ungrouped, ANALYSIS)
    counts = np.bincount(work.target[ANALYSIS], minlength=3)
    assert np.abs(np.bincount(work.target[held], minlength=3) - counts / 6).max() < 1


def test_a_row_that_was_drawn_twice_stands_on_one_side() -> None:
    work = task()
    drawn = np.sort(np.random.default_rng(1).integers(0, 240, 240))
    fitted, held = Holding(make("scheme", "kfold", folds=4, seed=0)).divide(
        ClassTask(name="t", features=work.features, values=work.values, rows=work.rows, classes=work.classes,
                  target=work.target), drawn)  # fmt: skip
    assert not set(fitted) & set(held)
    assert len(fitted) > len(np.unique(fitted)), "it is fitted on as often as it was drawn"


def test_held_rows_of_a_class_that_nothing_is_fitted_on_are_left_out() -> None:
    needs("xgboost")
    rng = np.random.default_rng(0)
    target = np.array([2] + [0, 1] * 59 + [0], np.int32)
    work = ClassTask(name="t", features=(Feature("x", "numeric"),), values=rng.normal(size=(120, 1)), rows=np.arange(120),
                     classes=("a", "b", "c"), target=target, times=-np.arange(120.0))  # fmt: skip
    own = stopping("xgboost.XGBClassifier", make("scheme", "time_split", folds=3))
    rows = np.arange(120)
    _, held = own.holding.divide(work, rows)
    assert 0 not in held
    assert own.fit(work, rows, np.random.default_rng(0)).scores(work)[:, 2].max() == 0


def test_an_encoding_that_reads_labels_reads_none_of_held_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.preprocessing import TargetEncoder

    seen: list[int] = []
    fit = TargetEncoder.fit_transform
    monkeypatch.setattr(TargetEncoder, "fit_transform", lambda self, X, y: seen.append(len(y)) or fit(self, X, y))
    rng = np.random.default_rng(0)
    levels = tuple("abcdef")
    work = ClassTask(name="t", features=(Feature("n", "nominal", levels),), values=rng.integers(0, 6, (120, 1)).astype(float),
                     rows=np.arange(120), classes=("a", "b"), target=rng.integers(0, 2, 120).astype(np.int32))  # fmt: skip
    own = Estimator(f"{HISTOGRAMS}Classifier", {"max_iter": 20}, encoding="target", early_stopping=3,
                    validation=make("scheme", "kfold", folds=4, seed=0))  # fmt: skip
    own.fit(work, np.arange(100), np.random.default_rng(0))
    assert seen == [75]


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("lightgbm.LGBMClassifier", {"boosting_type": "dart"}, "boosting_type=dart does not stop early"),
        ("lightgbm.LGBMClassifier", {"early_stopping_round": 3}, "beside params.early_stopping_round"),
        ("xgboost.XGBClassifier", {"booster": "gblinear"}, "booster=gblinear does not stop early"),
        ("xgboost.XGBClassifier", {"early_stopping_rounds": 3}, "beside params.early_stopping_rounds"),
        ("catboost.CatBoostClassifier", {"od_type": "Iter"}, "beside params.od_type"),
        (f"{HISTOGRAMS}Classifier", {"validation_fraction": 0.3}, "beside params.validation_fraction"),
        ("sklearn.ensemble.GradientBoostingClassifier", {}, "cannot stop early on rows that it is given"),
        ("sklearn.svm.SVC", {}, "cannot stop early on rows that it is given"),
    ],
)
def test_what_cannot_stop_so_is_refused_by_name(name: str, params: dict[str, Any], said: str) -> None:
    needs(name.partition(".")[0])
    assert any(said in reason for reason in Estimator(name, params, early_stopping=5, validation=SCHEME).problems())


def test_a_scheme_that_holds_too_little_back_is_said_before_any_fit() -> None:
    own = stopping(f"{HISTOGRAMS}Classifier", make("scheme", "leave_one_out"))
    ungrouped = task().take(np.arange(60))
    ungrouped = ClassTask(name="t", features=ungrouped.features, values=ungrouped.values, rows=ungrouped.rows,
                          classes=ungrouped.classes, target=ungrouped.target)  # fmt: skip
    assert any("holds 1 of 59 rows back, too few to stop by" in reason for reason in own.problems(ungrouped))
    few = stopping(f"{HISTOGRAMS}Classifier", make("scheme", "group_kfold", folds=24))
    assert any("24 folds of 23 groups" in reason for reason in few.problems(task()))


def test_without_a_study_it_has_to_be_said_what_holds_rows_back() -> None:
    with pytest.raises(ConfigurationError, match="there is none here: say validation"):
        learner("hist_gradient_boosting", {"early_stopping": 5})
    own, _ = learner("hist_gradient_boosting", {"early_stopping": 5, "validation": {"kind": "kfold", "folds": 3}})
    assert own.holding.scheme == make("scheme", "kfold", folds=3)


def test_its_candidates_are_fitted_by_themselves_and_others_share_as_before() -> None:
    plain, more = (Estimator(f"{HISTOGRAMS}Classifier", {"max_iter": rounds}) for rounds in (10, 20))
    assert plain.fit_key() == more.fit_key()
    one, two = (stopping(f"{HISTOGRAMS}Classifier", SCHEME, rounds) for rounds in (10, 20))
    assert one.fit_key() != two.fit_key()
    assert one.adapter is None


def test_a_study_puts_its_scheme_there_and_the_rounds_are_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    frame = people()
    space = {"boosting": {"learner": "hist_gradient_boosting", "early_stopping": 4, "params": {"max_iter": 300},
                          "sweep": {"params.learning_rate": [0.1, 0.3]}}}  # fmt: skip
    outcome = modelsel.run(frame, target="left", space=space, final_test=False, explanations={"weak_slices": False}, **QUICK)
    folder = RunFolder.open("latest")
    rows = folder.candidates()
    rounds = folder.outcome().extra["rounds"]
    assert set(rounds) == {row.id for row in rows}
    for row in rows:
        assert row.parameters["validation"] == "stratified_kfold"
        assert row.parameters["validation.folds"] == "3"
        assert len(rounds[row.id]) == 3
        assert np.mean(rounds[row.id]) == row.complexity
        assert max(rounds[row.id]) < 300
    model = outcome.model
    assert model.predict(frame).tolist() == modelsel.open_run("latest").model.predict(frame).tolist()
