"""scikit-learn's classifiers as candidates: the same answers as asking them directly, and refusals in words."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from modelsel.core.types import Candidate, Description, Feature, positions
from modelsel.learner.sklearn import Sklearn


@pytest.fixture
def task(task_of):
    rng = np.random.default_rng(0)
    target = rng.integers(0, 3, 90)
    values = np.column_stack([rng.normal(target), rng.integers(0, 3, 90), (target + rng.integers(0, 2, 90)) % 3])
    values[rng.random(values.shape) < 0.05] = np.nan
    features = [Feature("x", "numeric"), Feature("n", "nominal", ("a", "b", "c")), Feature("o", "ordered", ("1", "2", "3"))]
    return task_of(features, values, target)


def encoded(task):
    """By hand: median, a column per level and one for missing, rank with its median; a weight counts as so many rows."""
    x, n, o = task.values.T
    times = task.row_weights.astype(int)
    fill = lambda column: np.where(np.isnan(column), np.nanmedian(np.repeat(column, times)), column)  # noqa: E731
    return np.column_stack([fill(x), n == 0, n == 1, n == 2, np.isnan(n), fill(o)]).astype(float)


def test_answers_are_those_of_asking_the_estimator(task):
    learner = Sklearn(estimator="RandomForestClassifier", params={"n_estimators": 20})
    model = learner.fit(task, positions(task), np.random.default_rng(4))
    seed = int(np.random.default_rng(4).integers(2**31 - 1))
    theirs = RandomForestClassifier(20, random_state=seed).fit(encoded(task), task.target)
    assert np.array_equal(model.predict(task), theirs.predict(encoded(task)))
    assert model.scores(task) == pytest.approx(theirs.predict_proba(encoded(task)))


def test_weights_are_handed_over(task, task_of):
    weighted = task_of(task.features, task.values, task.target, np.arange(90.0) + 1)
    model = Sklearn().fit(weighted, positions(task), np.random.default_rng(0))
    theirs = LogisticRegression().fit(encoded(weighted), task.target, sample_weight=np.arange(90.0) + 1)
    assert model.scores(task) == pytest.approx(theirs.predict_proba(encoded(weighted)), abs=1e-9)


def test_a_class_without_analysis_rows_has_no_score(task):
    rows = np.flatnonzero(task.target != 1)
    scores = Sklearn().fit(task, rows, np.random.default_rng(0)).scores(task)
    assert scores.shape == (90, 3)
    assert (scores[:, 1] == 0).all()


def test_missing_numbers_may_stay_for_estimators_that_take_them(task):
    model = Sklearn(estimator="HistGradientBoostingClassifier", missing="keep", encoding="ordinal")
    assert model.fit(task, positions(task), np.random.default_rng(0)).predict(task).shape == (90,)


def test_the_recipe_fits_again_on_the_same_rows_and_on_no_others(task):
    learner = Sklearn(estimator="RandomForestClassifier", params={"n_estimators": 5})
    model = learner.fit(task, positions(task), np.random.default_rng(1))
    recipe = Sklearn.restore(model.describe())
    assert np.array_equal(recipe.refit(task, positions(task)).scores(task), model.scores(task))
    with pytest.raises(ValueError, match="not the rows"):
        recipe.refit(task, np.arange(50))
    with pytest.raises(ValueError, match="refit"):
        recipe.predict(task)


def test_a_recipe_of_something_else_is_refused(task):
    facts = Sklearn().fit(task, positions(task), np.random.default_rng(1)).describe().facts
    for change in ({"random_state": "7"}, {"learner": {**facts["learner"], "estimator": "os.system"}}):
        with pytest.raises(ValueError, match="not a whole recipe"):
            Sklearn.restore(Description("sklearn", {**facts, **change}))


@pytest.mark.parametrize(
    ("learner", "problem"),
    [
        (Sklearn(estimator="RandomForrestClassifier"), "did you mean 'RandomForestClassifier'?"),
        (Sklearn(estimator="sklearn.svm.SVC"), "scikit-learn has no classifier 'sklearn.svm.SVC'"),
        (Sklearn(estimator="SVC", params={"gama": 1}), "did you mean 'gamma'?"),
        (Sklearn(estimator="StackingClassifier"), "needs other estimators"),
    ],
)
def test_what_cannot_be_is_said(learner, problem):
    assert problem in " ".join(learner.problems())


def test_an_estimator_without_weights_is_refused_for_weighted_tasks(task, task_of):
    weighted = task_of(task.features, task.values, task.target, np.ones(90))
    assert list(Sklearn(estimator="KNeighborsClassifier").problems(weighted))
    assert not list(Sklearn(estimator="KNeighborsClassifier").problems(task))


def test_candidates_are_told_apart_by_their_parameters():
    one, same, other = (Sklearn(params=p) for p in ({"C": 1.0, "tol": 0.1}, {"tol": 0.1, "C": 1}, {"C": 2.0, "tol": 0.1}))
    assert Candidate(one).id == Candidate(same).id != Candidate(other).id
    assert hash(one) == hash(same)
    assert Candidate(one).parameters["params.C"] == 1.0


def test_training_error_is_what_the_estimator_says_of_its_own_rows(task, task_of):
    weighted = task_of(task.features, task.values, task.target, np.arange(90.0) + 1)
    rows = np.arange(70)
    for learner in (Sklearn(), Sklearn(estimator="DecisionTreeClassifier", params={"max_depth": 2})):
        path = learner.fit_path(weighted, rows, np.random.default_rng(0))
        wrong = path.model(learner).predict(weighted)[rows] != weighted.target[rows]
        expected = weighted.weights[rows][wrong].sum() / weighted.weights[rows].sum()
        assert path.training_error([learner])[0] == pytest.approx(expected, abs=1e-12)
        assert 0 < expected < 0.6


def test_training_error_of_neighbours_is_left_open(task):
    learner = Sklearn(estimator="KNeighborsClassifier")
    assert np.isnan(learner.fit_path(task, positions(task), np.random.default_rng(0)).training_error([learner])[0])
