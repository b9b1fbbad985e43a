"""One fit says, bit for bit, what separate fits say, for every adapter; where its conditions do not hold nothing is shared."""

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from modelsel.core.types import Candidate, Feature, NumberTask, Task
from modelsel.foreign.parameters import settle_parameters
from modelsel.learner.estimator import Estimator
from modelsel.planning.make import batches, make
from modelsel.sharing.adapter import _at
from tests import doubles
from tests.extras import needs

SKLEARN = "sklearn.ensemble."
LIGHTGBM, XGBOOST, CATBOOST = "lightgbm.LGBMClassifier", "xgboost.XGBClassifier", "catboost.CatBoostClassifier"
TREE = "sklearn.tree.DecisionTreeClassifier"


@pytest.fixture(autouse=True)
def one_thread():
    """As in the pools: threads that wait for each other on a busy machine take most of the time here."""
    with threadpool_limits(1):
        yield


@dataclass(frozen=True)
class Case:
    """Candidates that differ in one parameter, and what they have in common."""

    estimator: str
    values: tuple[Any, ...] = (1, 3, 8, 20, 33)
    params: dict[str, Any] = field(default_factory=dict)
    parameter: str = "n_estimators"

    def __str__(self) -> str:
        return f"{self.estimator.rpartition('.')[2]} {self.params}"

    @property
    def learners(self) -> list[Estimator]:
        """The largest is neither first nor last."""
        order = [self.values[2], self.values[-1], *self.values[:2], *self.values[3:-1]]
        return [Estimator(self.estimator, {**self.params, self.parameter: value}) for value in order]


ROUNDS = {"parameter": "max_iter"}
SHARED = (
    Case(SKLEARN + "GradientBoostingClassifier"),
    Case(SKLEARN + "GradientBoostingClassifier", params={"subsample": 0.6, "max_features": 2, "random_state": 3}),
    Case(SKLEARN + "GradientBoostingClassifier", (2, 5, 9, 30, 60), {"n_iter_no_change": 3, "validation_fraction": 0.3}),
    Case(SKLEARN + "HistGradientBoostingClassifier", params={"max_features": 0.5}, **ROUNDS),
    Case(
        SKLEARN + "HistGradientBoostingClassifier",
        (2, 5, 9, 60, 90),
        {"early_stopping": True, "n_iter_no_change": 3},
        "max_iter",
    ),
    Case(SKLEARN + "AdaBoostClassifier"),
    Case(SKLEARN + "AdaBoostClassifier", params={"learning_rate": 0.3}),
    Case(SKLEARN + "RandomForestClassifier", params={"max_depth": 4}),
    Case(SKLEARN + "RandomForestClassifier", params={"class_weight": "balanced_subsample", "max_samples": 0.5}),
    Case(SKLEARN + "ExtraTreesClassifier", params={"bootstrap": True}),
    Case(SKLEARN + "BaggingClassifier", params={"max_samples": 0.5, "max_features": 0.5}),
    Case(LIGHTGBM, params={"min_child_samples": 5}),
    Case(LIGHTGBM, params={"subsample": 0.6, "subsample_freq": 2, "colsample_bytree": 0.5}),
    Case(LIGHTGBM, params={"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}),
    Case(LIGHTGBM, params={"data_sample_strategy": "goss", "learning_rate": 0.3}),
    Case(LIGHTGBM, params={"extra_trees": True}),
    Case(LIGHTGBM, params={"linear_tree": True}),
    Case(LIGHTGBM, (1, 2, 3, 50, 400), params={"min_child_samples": 60}),  # it runs out of splits
    Case(XGBOOST, params={"tree_method": "hist", "subsample": 0.6, "colsample_bynode": 0.5}),
    Case(XGBOOST, params={"tree_method": "exact"}),
    Case(XGBOOST, params={"num_parallel_tree": 3, "subsample": 0.5}),
    Case(CATBOOST, (1, 3, 8, 20, 33), {"learning_rate": 0.1}, "iterations"),
    Case(CATBOOST, (1, 3, 8, 20, 33), {"learning_rate": 0.1, "bootstrap_type": "Bernoulli", "subsample": 0.6}, "iterations"),
    Case(CATBOOST, (1, 3, 8, 20, 33), {"learning_rate": 0.1, "boosting_type": "Ordered"}, "iterations"),
    Case(CATBOOST, (20, 100, 199, 200, 240), {"learning_rate": 0.1, "leaf_estimation_iterations": 4, "depth": 2}, "iterations"),
)
SEPARATE = (
    Case(LIGHTGBM, params={"boosting_type": "dart"}),
    Case(LIGHTGBM, params={"objective": "multiclass"}),
    Case(LIGHTGBM, params={"early_stopping_round": 3}),
    Case(XGBOOST, params={"booster": "dart"}),
    Case(XGBOOST, params={"booster": "gblinear"}),
    Case(XGBOOST, params={"early_stopping_rounds": 3}),
    Case(CATBOOST, parameter="iterations"),
    Case(CATBOOST, params={"learning_rate": 0.1, "langevin": True}, parameter="iterations"),
    Case(CATBOOST, params={"learning_rate": 0.1, "posterior_sampling": True}, parameter="iterations"),
    Case(CATBOOST, params={"learning_rate": 0.1, "od_type": "Iter"}, parameter="iterations"),
    Case(SKLEARN + "RandomForestClassifier", params={"oob_score": True}),
    Case(SKLEARN + "GradientBoostingClassifier", params={"warm_start": True}),
    Case("imblearn.ensemble.BalancedRandomForestClassifier"),  # a subclass of a forest is another class
    Case("sklearn.svm.SVC", parameter="C"),
)


def task(classes: int = 3, weighted: bool = True, missing: bool = False) -> Task:
    rng = np.random.default_rng(classes)
    target = rng.integers(0, classes, 240)
    values = rng.normal(size=(240, 6)) + 0.8 * target[:, None] * (np.arange(6) < 3)
    if missing:
        values[rng.random(values.shape) < 0.1] = np.nan
    return Task(
        name="t", features=tuple(Feature(f"f{i}", "numeric") for i in range(6)), values=values, rows=np.arange(240),
        classes=tuple(map(str, range(classes))), target=target.astype(np.int32),
        weights=rng.choice([0.5, 1.0, 2.0], 240) if weighted else None,
    )  # fmt: skip


ANALYSIS, ASSESSMENT = np.arange(160), np.arange(160, 240)


def alone(learner: Estimator, work: Task, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A fit that knows nothing of modelsel's paths."""
    values = work.values[ANALYSIS], work.values[ASSESSMENT]
    weights = {} if work.weights is None else {"sample_weight": work.weights[ANALYSIS]}
    made = learner.cls(**settle_parameters(learner.cls, learner.params, seed)).fit(values[0], work.target[ANALYSIS], **weights)
    shares = np.asarray(made.predict_proba(values[1]), np.float64)
    return np.ravel(made.predict(values[1])), shares / shares.sum(axis=1, keepdims=True)


def compared(case: Case, work: Task) -> None:
    learners = case.learners
    seed = int(np.random.default_rng(5).integers(2**31 - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5)).outputs(learners, work, ASSESSMENT, True)
        for place, learner in enumerate(learners):
            predicted, shares = alone(learner, work, seed)
            assert np.array_equal(said.predicted[place], predicted)
            assert np.array_equal(said.scores[place], shares)


LIGHTGBM_NUMBERS, XGBOOST_NUMBERS, CATBOOST_NUMBERS = (
    "lightgbm.LGBMRegressor",
    "xgboost.XGBRegressor",
    "catboost.CatBoostRegressor",
)
SHARED_NUMBERS = (
    Case(SKLEARN + "GradientBoostingRegressor"),
    Case(SKLEARN + "GradientBoostingRegressor", params={"loss": "absolute_error", "subsample": 0.6}),
    Case(SKLEARN + "GradientBoostingRegressor", params={"loss": "quantile", "alpha": 0.2}),
    Case(SKLEARN + "HistGradientBoostingRegressor", params={"max_features": 0.5}, **ROUNDS),
    Case(SKLEARN + "HistGradientBoostingRegressor", params={"loss": "absolute_error"}, **ROUNDS),
    Case(SKLEARN + "HistGradientBoostingRegressor", params={"loss": "quantile", "quantile": 0.8}, **ROUNDS),
    Case(SKLEARN + "HistGradientBoostingRegressor", params={"loss": "poisson"}, **ROUNDS),
    Case(SKLEARN + "RandomForestRegressor", params={"max_features": 0.5}),
    Case(SKLEARN + "RandomForestRegressor", params={"criterion": "poisson", "max_depth": 4}),
    Case(SKLEARN + "ExtraTreesRegressor", params={"criterion": "absolute_error", "max_depth": 4}),
    Case(LIGHTGBM_NUMBERS, params={"min_child_samples": 5}),
    Case(LIGHTGBM_NUMBERS, params={"objective": "regression_l1", "subsample": 0.6, "subsample_freq": 2}),
    Case(LIGHTGBM_NUMBERS, params={"objective": "quantile", "alpha": 0.9}),
    Case(LIGHTGBM_NUMBERS, params={"objective": "poisson"}),
    Case(LIGHTGBM_NUMBERS, params={"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}),
    Case(XGBOOST_NUMBERS, params={"subsample": 0.6}),
    Case(XGBOOST_NUMBERS, params={"objective": "reg:absoluteerror"}),
    Case(XGBOOST_NUMBERS, params={"objective": "reg:quantileerror", "quantile_alpha": 0.1}),
    Case(XGBOOST_NUMBERS, params={"objective": "count:poisson"}),
    Case(CATBOOST_NUMBERS, (1, 3, 8, 20, 33), {"learning_rate": 0.1}, "iterations"),
    Case(CATBOOST_NUMBERS, (1, 3, 8, 20, 33), {"learning_rate": 0.1, "loss_function": "MAE"}, "iterations"),
    Case(CATBOOST_NUMBERS, (1, 3, 8, 20, 33), {"learning_rate": 0.1, "loss_function": "Quantile:alpha=0.9"}, "iterations"),
    Case(CATBOOST_NUMBERS, (1, 3, 8, 20, 33), {"learning_rate": 0.1, "loss_function": "Poisson"}, "iterations"),
)
SEPARATE_NUMBERS = (
    Case(LIGHTGBM_NUMBERS, params={"objective": "cross_entropy"}),
    Case(XGBOOST_NUMBERS, params={"objective": "reg:logistic"}),
    Case(CATBOOST_NUMBERS, params={"learning_rate": 0.1, "loss_function": "RMSEWithUncertainty"}, parameter="iterations"),
    Case(CATBOOST_NUMBERS, parameter="iterations"),
)


def quantity() -> NumberTask:
    """Numbers above 0, with weights."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(240, 6))
    return NumberTask(
        name="n", features=tuple(Feature(f"f{i}", "numeric") for i in range(6)), values=values, rows=np.arange(240),
        target=np.exp(values[:, 0] / 2 + rng.normal(size=240) / 3), weights=rng.choice([0.5, 1.0, 2.0], 240),
    )  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", SHARED_NUMBERS, ids=str)
def test_one_fit_says_the_numbers_of_separate_fits_bit_for_bit(case):
    installed(case)
    work, learners = quantity(), case.learners
    assert len(batches([Candidate(learner) for learner in learners])) == 1
    seed = int(np.random.default_rng(5).integers(2**31 - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5))
        said = path.outputs(learners, work, ASSESSMENT, False).predicted
        for learner, own in zip(learners, said, strict=True):
            made = learner.cls(**settle_parameters(learner.cls, learner.params, seed))
            made.fit(work.values[ANALYSIS], work.target[ANALYSIS], sample_weight=work.weights[ANALYSIS])
            assert np.array_equal(own, np.asarray(made.predict(work.values[ASSESSMENT]), np.float64))
            assert np.array_equal(path.model(learner).predict(work)[ASSESSMENT], own)


@pytest.mark.parametrize("case", SEPARATE_NUMBERS, ids=str)
def test_losses_of_which_nothing_is_known_are_fitted_one_by_one(case):
    installed(case)
    assert len(batches([Candidate(learner) for learner in case.learners])) == len(case.values)


def installed(case: Case) -> None:
    needs(case.estimator.partition(".")[0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", SHARED, ids=str)
def test_one_fit_says_what_separate_fits_say_bit_for_bit(case):
    installed(case)
    compared(case, task())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [SHARED[0], SHARED[3], SHARED[5], SHARED[7], SHARED[11], SHARED[18], SHARED[21]], ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_with_two_or_four_classes_without_weights_and_with_gaps(case, classes):
    installed(case)
    gaps = case.estimator not in (SKLEARN + "GradientBoostingClassifier", SKLEARN + "AdaBoostClassifier")
    compared(case, task(classes, weighted=False, missing=gaps))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", SHARED, ids=str)
def test_a_shared_fit_is_one_batch_and_a_model_is_that_of_its_own_fit(case):
    installed(case)
    learners, work = case.learners, task()
    assert len(batches([Candidate(learner) for learner in learners])) == 1
    path = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5))
    said = path.outputs(learners, work, ASSESSMENT, True)
    for place, learner in enumerate(learners):
        model = path.model(learner)
        assert np.array_equal(model.scores(work)[ASSESSMENT], said.scores[place])
        assert np.array_equal(model.predict(work)[ASSESSMENT], said.predicted[place])


@pytest.mark.parametrize("case", SEPARATE, ids=str)
def test_what_is_not_vouched_for_is_fitted_by_itself(case):
    installed(case)
    assert len(batches([Candidate(learner) for learner in case.learners])) == len(case.values)


def test_a_plan_counts_the_fits_that_are_shared_and_those_that_are_not():
    work = task()

    def fits(case: Case) -> tuple[int, int]:
        plan = make([Candidate(learner) for learner in case.learners], work, doubles.folds(work, 3))
        return plan.needed, plan.naive

    assert fits(Case(SKLEARN + "GradientBoostingClassifier")) == (3 + 1, 5 * 3 + 1)  # and the final fit
    assert fits(Case("sklearn.svm.SVC", parameter="C")) == (5 * 3 + 1, 5 * 3 + 1)


def test_early_stopping_did_stop_early_in_these_tests():
    work = task()
    stopped = GradientBoostingClassifier(n_estimators=60, n_iter_no_change=3, validation_fraction=0.3, random_state=1)
    assert stopped.fit(work.values, work.target).n_estimators_ < 60
    stopped = HistGradientBoostingClassifier(max_iter=90, early_stopping=True, n_iter_no_change=3, random_state=1)
    assert stopped.fit(work.values, work.target).n_iter_ < 90


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_every_alpha_on_between_and_beyond_the_path_is_cut_from_one_tree(missing, extra):
    work, name = task(missing=missing), "sklearn.tree.ExtraTreeClassifier" if extra else TREE
    grown = Estimator(name).cls(random_state=3).fit(work.values[ANALYSIS], work.target[ANALYSIS], work.weights[ANALYSIS])
    alphas = grown.cost_complexity_pruning_path(work.values[ANALYSIS], work.target[ANALYSIS], work.weights[ANALYSIS]).ccp_alphas
    between = (alphas[1:] + alphas[:-1]) / 2
    around = [np.nextafter(alphas, 1), np.maximum(np.nextafter(alphas, -1), 0)]
    values = sorted({0.0, 1.0, *alphas.tolist(), *between.tolist(), *np.concatenate(around).tolist()} - {-0.0})
    assert len(values) > 30
    compared(Case(name, tuple(value for value in values if value >= 0), {"random_state": 3}, "ccp_alpha"), work)


def test_asking_for_more_later_changes_nothing():
    learners, work = Case(SKLEARN + "GradientBoostingClassifier").learners, task()
    at_once = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5)).outputs(learners, work, ASSESSMENT, True)
    path = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5))
    for place, learner in enumerate(learners):
        assert np.array_equal(path.outputs([learner], work, ASSESSMENT, True).scores[0], at_once.scores[place])


def test_one_fit_is_made_for_all(monkeypatch):
    made: list[int] = []
    fit = DecisionTreeClassifier.fit
    monkeypatch.setattr(DecisionTreeClassifier, "fit", lambda self, *a, **k: made.append(1) or fit(self, *a, **k))
    learners, work = Case(TREE, (0.0, 0.001, 0.01, 0.02, 0.1), parameter="ccp_alpha").learners, task()
    path = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5))
    path.outputs(learners, work, ASSESSMENT, True)
    sizes = path.complexity(learners)
    assert len(made) == 1
    assert sizes[learners.index(max(learners, key=lambda one: one.params["ccp_alpha"]))] == min(sizes)


def test_catboost_fits_anew_from_two_hundred_rounds_on_where_nobody_says_the_steps_per_leaf() -> None:
    """It takes one step per leaf below 200 rounds, ten from there on: fits of 20 and of 200 rounds begin with other trees."""
    needs("catboost")
    said, work = {"learning_rate": 0.1, "depth": 2}, task(2)
    learners = [Estimator(CATBOOST, {**said, "iterations": value}) for value in (199, 200, 100, 240, 20)]
    assert [batch.members for batch in batches([Candidate(one) for one in learners])] == [(0, 2, 4), (1, 3)]
    spelt = [Estimator(CATBOOST, {**said, "iterations": value, "leaf_estimation_iterations": 10}) for value in (199, 200)]
    assert len(batches([Candidate(one) for one in spelt])) == 1
    compared(Case(CATBOOST, (20, 60, 100, 150, 199), said, "iterations"), work)
    compared(Case(CATBOOST, (200, 201, 210, 220, 240), said, "iterations"), work)


BOOSTED = [case for case in SHARED if case.estimator in (LIGHTGBM, XGBOOST)]


@pytest.mark.parametrize("case", BOOSTED, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_without_scores_the_predicted_classes_are_the_same(case, classes):
    installed(case)
    learners, work = case.learners, task(classes)
    said = [
        learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5)).outputs(learners, work, ASSESSMENT, scores)
        for scores in (False, True)
    ]
    assert said[0].scores is None
    assert np.array_equal(said[0].predicted, said[1].predicted)


def test_lightgbm_is_asked_once_for_the_leaves_and_answers_itself_where_sums_are_not_its_own(monkeypatch):
    lightgbm, adapter = needs("lightgbm"), pytest.importorskip("modelsel.sharing.lightgbm")
    learners, work = Case(LIGHTGBM).learners, task(3)
    path = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5))
    right = path.outputs(learners, work, ASSESSMENT, True)
    asked: list[tuple[int, bool]] = []
    predict = lightgbm.Booster.predict

    def noted(self, data, *more, **words):
        asked.append((len(data), bool(words.get("pred_leaf"))))
        return predict(self, data, *more, **words)

    monkeypatch.setattr(lightgbm.Booster, "predict", noted)
    path.outputs(learners, work, ASSESSMENT, True)
    assert asked == [(80, True), (adapter.TRIED, False)]
    asked.clear()
    monkeypatch.setattr(adapter, "_exp", lambda numbers: np.nextafter(np.exp(numbers), 2))  # another last bit
    other = path.outputs(learners, work, ASSESSMENT, True)
    assert [one for one in asked if one == (80, False)] == [(80, False)] * len(learners)
    assert np.array_equal(other.scores, right.scores)


def test_the_exponential_of_any_number_is_the_c_library_s_and_infinite_beyond_its_range():
    adapter = pytest.importorskip("modelsel.sharing.lightgbm")
    assert adapter._exp(np.array([0.0, -800.0, 1.0, 709.0, 710.0, np.inf])).tolist() == [
        1.0, 0.0, math.exp(1.0), math.exp(709.0), math.inf, math.inf,
    ]  # fmt: skip


@pytest.mark.parametrize("name", [LIGHTGBM, XGBOOST, SKLEARN + "RandomForestClassifier"])
def test_where_the_analysis_rows_have_one_class_it_has_the_whole_score(name):
    needs(name.partition(".")[0])
    work = replace(task(2, weighted=False), target=np.ones(240, np.int32))
    learners = [Estimator(name, {"n_estimators": value}) for value in (3, 5)]
    said = learners[0].fit_path(work, ANALYSIS, np.random.default_rng(5)).outputs(learners, work, ASSESSMENT, True)
    assert (said.predicted == 1).all()
    assert (said.scores == [0.0, 1.0]).all()


def test_no_stage_is_asked_for_after_the_last_that_is_wanted() -> None:
    stages = iter(range(10, 20))
    found = _at(stages, [2, 4])
    assert {number: int(stage) for number, stage in found.items()} == {2: 11, 4: 13}
    assert next(stages) == 14
