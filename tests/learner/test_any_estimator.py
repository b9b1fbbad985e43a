"""Other people's estimators as candidates: the same answers as asking them directly, and refusals in words."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import TargetEncoder

from modelsel.config.build import build as built
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Candidate, Description, Feature, NumberTask, positions
from modelsel.learner.estimator import Estimator
from modelsel.learner.sklearn import Sklearn
from tests.extras import needs

LIGHTGBM, XGBOOST, CATBOOST = "lightgbm.LGBMClassifier", "xgboost.XGBClassifier", "catboost.CatBoostClassifier"
HIST = "sklearn.ensemble.HistGradientBoostingClassifier"


def seed_of(number):
    return int(np.random.default_rng(number).integers(2**31 - 1))


@pytest.fixture
def task(task_of):
    rng = np.random.default_rng(0)
    target = rng.integers(0, 3, 120)
    values = np.column_stack([rng.normal(target), rng.integers(0, 4, 120), (target + rng.integers(0, 2, 120)) % 3])
    values[rng.random(values.shape) < 0.05] = np.nan
    features = [Feature("x", "numeric"), Feature("n", "nominal", ("a", "b", "c")), Feature("o", "ordered", ("1", "2", "3"))]
    return task_of(features, values, target)


def coded(task):
    """By hand: numbers as they are, level indices, NaN for what is missing or was never declared."""
    x, n, o = task.values.T
    return np.column_stack([x, np.where(n > 2, np.nan, n), o])


@pytest.mark.slow
def test_categories_reach_scikit_learn_as_categories(task):
    model = Estimator(HIST, {"max_iter": 10}).fit(task, positions(task), np.random.default_rng(4))
    theirs = HistGradientBoostingClassifier(max_iter=10, categorical_features=[1], random_state=seed_of(4))
    theirs.fit(coded(task), task.target)
    assert np.array_equal(model.predict(task), theirs.predict(coded(task)))
    assert np.allclose(model.scores(task), theirs.predict_proba(coded(task)), rtol=0, atol=1e-15)


def test_categories_reach_lightgbm_as_categories(task):
    lightgbm = needs("lightgbm")
    model = Estimator(LIGHTGBM, {"n_estimators": 10, "min_child_samples": 5}).fit(
        task, positions(task), np.random.default_rng(4)
    )
    theirs = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=5, n_jobs=1, verbosity=-1, random_state=seed_of(4),
                                     deterministic=True, force_col_wise=True)  # fmt: skip
    theirs.fit(coded(task), task.target, categorical_feature=[1])
    assert np.allclose(model.scores(task), theirs.predict_proba(coded(task)), rtol=0, atol=1e-15)


def test_categories_reach_xgboost_as_categories(task):
    xgboost = needs("xgboost")
    model = Estimator(XGBOOST, {"n_estimators": 10}).fit(task, positions(task), np.random.default_rng(4))
    theirs = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True, feature_types=["q", "c", "q"], n_jobs=1,
                                   random_state=seed_of(4)).fit(coded(task), task.target)  # fmt: skip
    assert np.allclose(model.scores(task), theirs.predict_proba(coded(task)), atol=1e-6)


def test_categories_reach_catboost_as_categories(task):
    catboost, pandas = needs("catboost"), pytest.importorskip("pandas")
    model = Estimator(CATBOOST, {"iterations": 10}).fit(task, positions(task), np.random.default_rng(4))
    frame = pandas.DataFrame(coded(task), columns=["x", "n", "o"])
    frame["n"] = frame["n"].fillna(-1).astype(int).astype(str)
    theirs = catboost.CatBoostClassifier(iterations=10, cat_features=["n"], random_seed=seed_of(4), verbose=False,
                                         thread_count=1, allow_writing_files=False).fit(frame, task.target)  # fmt: skip
    assert np.allclose(model.scores(task), theirs.predict_proba(frame), atol=1e-12)


def test_means_of_the_classes_are_those_of_other_rows_where_it_is_fitted(task):
    """By hand: TargetEncoder's cross-fitted means for the rows of the fit, its plain means for others."""
    rows = np.arange(90)
    learner = Estimator("sklearn.neighbors.KNeighborsClassifier", encoding="target", missing="median")
    model = learner.fit(task, rows, np.random.default_rng(4))
    fill = lambda column: np.where(np.isnan(column), np.nanmedian(column[:90]), column)  # noqa: E731
    codes = np.where(np.isnan(task.values[:, [1]]), -1, task.values[:, [1]])
    encoder = TargetEncoder(random_state=seed_of(4))
    inner = encoder.fit_transform(codes[:90], task.target[:90])
    plain = np.column_stack([fill(task.values[:, 0]), fill(task.values[:, 2])])
    theirs = KNeighborsClassifier().fit(np.column_stack([plain[:90], inner]), task.target[:90])
    asked = np.column_stack([plain, encoder.transform(codes)])
    assert np.allclose(model.scores(task), theirs.predict_proba(asked))
    assert not np.allclose(inner, encoder.transform(codes[:90]))


def test_weights_are_handed_over(task, task_of):
    numbers = task_of(task.features[:1], task.values[:, :1], task.target, np.arange(120.0) + 1)
    model = Estimator().fit(numbers, positions(task), np.random.default_rng(0))
    middle = np.nanmedian(np.repeat(task.values[:, 0], np.arange(120) + 1))
    x = np.where(np.isnan(task.values[:, :1]), middle, task.values[:, :1])
    theirs = LogisticRegression().fit(x, task.target, sample_weight=np.arange(120.0) + 1)
    assert model.scores(task) == pytest.approx(theirs.predict_proba(x), abs=1e-9)


@pytest.mark.parametrize("estimator", [HIST, LIGHTGBM, XGBOOST, CATBOOST])
def test_a_class_without_analysis_rows_has_no_score(task, estimator):
    needs(estimator.partition(".")[0])
    rounds = {HIST: "max_iter", CATBOOST: "iterations"}.get(estimator, "n_estimators")
    rows = np.flatnonzero(task.target != 1)
    model = Estimator(estimator, {rounds: 5}).fit(task, rows, np.random.default_rng(0))
    assert model.scores(task).shape == (120, 3)
    assert (model.scores(task)[:, 1] == 0).all()
    assert set(np.unique(model.predict(task))) <= {0, 2}


def by_dotted_name(name):
    return Estimator(f"sklearn.{name}", scale="deviation")


def by_bare_name(name):
    return Sklearn(name.rpartition(".")[2], scale="deviation")


@pytest.mark.parametrize("made", [by_dotted_name, by_bare_name])
@pytest.mark.parametrize("name", ["svm.LinearSVC", "svm.SVC", "linear_model.RidgeClassifier", "linear_model.SGDClassifier"])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_probabilities_scores_are_decision_values(task, made, name, classes):
    rows = np.flatnonzero(task.target < classes)
    learner = made(name)
    model = learner.fit(task, rows, np.random.default_rng(0))
    columns = model.answering.columns if hasattr(model, "answering") else model.path.columns
    theirs = model.estimator.decision_function(columns.matrix(task, positions(task)))
    assert learner.scores_are == model.scores_are == "decision values"
    assert np.array_equal(model.scores(task), model.decisions(task))
    assert np.array_equal(model.scores(task)[:, 1], theirs if classes == 2 else theirs[:, 1])
    assert np.array_equal(np.argmax(model.scores(task), axis=1), model.predict(task))
    if classes == 2:
        assert np.array_equal(model.scores(task)[:, 0], -theirs)
        assert np.ptp(model.scores(task)[:, 2]) == 0


def test_decision_values_of_pairs_of_classes_are_none_and_a_calibrator_that_cannot_read_them_says_so(task):
    pairs = Estimator("sklearn.svm.SVC", {"decision_function_shape": "ovo"})
    assert (pairs.scores_are, Estimator("sklearn.svm.SVC").scores_are) == ("classes", "decision values")
    assert set(np.unique(pairs.fit(task, positions(task), np.random.default_rng(0)).scores(task))) == {0.0, 1.0}
    for wrong in ({"calibrator": "beta"}, {"calibrator": "temperature"}, {"threshold": "path"}, {"threshold": 0.5}):
        with pytest.raises(ConfigurationError, match=r"MSEL-207.* reads probabilities, and this learner gives decision values"):
            built("svm", wrong)
    for right in ({"calibrator": "platt"}, {"calibrator": "isotonic", "decision": {"kind": "threshold"}}):
        assert built("svm", right)[0].scores_are == "probabilities"


@pytest.mark.parametrize(
    ("learner", "problem"),
    [
        (Estimator("os.system"), "estimators may come from"),
        (Estimator("sklearn.preprocessing.StandardScaler"), "is not a scikit-learn classifier or regressor"),
        (Estimator("sklearn.svm.SVC", {"gama": 1}), "did you mean 'gamma'?"),
        (Estimator("sklearn.ensemble.StackingClassifier"), "cannot be made from plain values"),
        (Estimator("sklearn.svm.SVC", encoding="native"), "takes no categories"),
        (Estimator("sklearn.svm.SVC", missing="keep"), "takes no missing values"),
    ],
)
def test_what_cannot_be_is_said(learner, problem):
    assert problem in " ".join(learner.problems())


def test_what_the_data_do_not_allow_is_said(task, task_of):
    weighted = task_of(task.features, task.values, task.target, np.ones(120))
    assert "takes no weights" in " ".join(Estimator("sklearn.neighbors.KNeighborsClassifier").problems(weighted))
    levels = tuple(map(str, range(300)))
    wide = task_of([Feature("n", "nominal", levels)], task.values[:, :1] * 0, task.target)
    assert "at most 255 categories, and n has more" in " ".join(Estimator(HIST).problems(wide))


def test_lightgbm_is_a_mapping_in_a_file_or_on_the_command_line():
    learner, _ = built({"kind": "estimator", "estimator": LIGHTGBM}, {"params.num_leaves": 7})
    assert Candidate(learner).parameters["params.num_leaves"] == 7
    with pytest.raises(ConfigurationError, match=r"MSEL-207: .*did you mean 'num_leaves'"):
        built({"kind": "estimator", "estimator": LIGHTGBM}, {"params.num_leafs": 7})


def test_the_recipe_fits_again_on_the_same_rows_and_on_no_others(task):
    learner = Estimator("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 5})
    model = learner.fit(task, positions(task), np.random.default_rng(1))
    facts = {name: value for name, value in model.describe().facts.items() if name != "stored"}
    recipe = Estimator.restore(Description("estimator", facts))
    assert np.array_equal(recipe.refit(task, positions(task)).scores(task), model.scores(task))
    with pytest.raises(ValueError, match="not the rows"):
        recipe.refit(task, np.arange(50))


def test_a_recipe_of_something_else_is_refused(task):
    facts = Estimator().fit(task, positions(task), np.random.default_rng(1)).describe().facts
    for change in ({"random_state": "7"}, {"learner": {**facts["learner"], "estimator": "os.system"}},
                   {"learner": {**facts["learner"], "hook": "x"}}):  # fmt: skip
        with pytest.raises(ValueError, match="not a whole recipe"):
            Estimator.restore(Description("estimator", {**facts, **change}))


@pytest.mark.parametrize(
    ("facts", "own", "said"),
    [
        ({"stored": "model.pkl"}, [0, 1], "not a whole model"), ({"classes": "2"}, [0, 1], "not a whole model"),
        ({}, [[0, 1]], "not a whole model"), ({}, [0.0, 1.0], "not a whole model"),
        ({}, [1, 0], "not class indices"), ({}, [0, 5], "not class indices"), ({}, [], "not a whole model"),
    ],
)  # fmt: skip
def test_a_stored_model_that_is_not_whole_is_refused(task, facts, own, said):
    kept = Estimator().fit(task, positions(task), np.random.default_rng(1)).describe()
    assert np.array_equal(Estimator.restore(kept).scores(task), Estimator.restore(kept).scores(task))
    with pytest.raises(ValueError, match=said):
        Estimator.restore(Description("estimator", {**kept.facts, **facts}, {**kept.arrays, "own": np.array(own)}))


def test_another_version_of_the_library_is_another_answer(monkeypatch):
    from modelsel.planning.sources import code

    before = code([Candidate(Estimator())])
    monkeypatch.setattr(Estimator, "source", "scikit-learn 0.1")
    assert code([Candidate(Estimator())]) != before


def test_a_linear_model_counts_what_its_penalty_leaves(task_of):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    task = task_of([Feature(name, "numeric") for name in "abc"], X, (X[:, 0] + rng.normal(size=40) > 0).astype(int))
    sizes = []
    for C in (0.01, 1, 100):
        learner = Estimator("sklearn.linear_model.LogisticRegression", {"C": C})
        path = learner.fit_path(task, positions(task), np.random.default_rng(0))
        sizes.append(float(path.complexity([learner])[0]))
        assert learner.unit == "effective parameters"
    assert 1 < sizes[0] < sizes[1] < sizes[2] < 4
    assert Estimator("sklearn.linear_model.SGDClassifier", {}).unit == "columns"


@pytest.fixture
def many_levels(task_of):
    """Columns that are mostly zeros once they are one-hot: sixty levels, some of them declared alone, and gaps."""
    rng = np.random.default_rng(5)
    levels = tuple(f"l{at}" for at in range(60))
    values = np.column_stack([rng.normal(size=400).round(1), rng.integers(0, 55, 400), rng.integers(0, 61, 400)])
    values[rng.random(values.shape) < 0.05] = np.nan
    target = ((np.nan_to_num(values[:, 0]) + np.nan_to_num(values[:, 1]) % 3 + rng.normal(size=400)) > 1).astype(int)
    features = [Feature("x", "numeric"), Feature("n", "nominal", levels), Feature("m", "nominal", levels)]
    return task_of(features, values, target)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("linear_model.LogisticRegression", {"solver": "lbfgs", "tol": 1e-8, "max_iter": 2000}),
        ("linear_model.LogisticRegression", {"solver": "auto", "tol": 1e-8, "l1_ratio": 1.0, "max_iter": 9000}),
        ("linear_model.LogisticRegression", {"solver": "newton-cholesky"}), ("linear_model.RidgeClassifier", {}),
        ("linear_model.LogisticRegression", {"solver": "liblinear"}), ("svm.LinearSVC", {}), ("svm.SVC", {}),
        ("neural_network.MLPClassifier", {"hidden_layer_sizes": [8], "max_iter": 5}), ("naive_bayes.BernoulliNB", {}),
        ("ensemble.GradientBoostingClassifier", {"n_estimators": 5}),
    ],
)  # fmt: skip
def test_what_is_mostly_zeros_is_fitted_without_them_and_answers_are_equal(many_levels, name, params, monkeypatch):
    learner = Estimator(f"sklearn.{name}", params, scale="deviation", encoding="one_hot")
    analysis, assessment = positions(many_levels)[:300], positions(many_levels)
    path = learner.fit_path(many_levels, analysis, np.random.default_rng(4))
    sparse = path.outputs([learner], many_levels, assessment, scores=True)
    assert path._columns[1].format == "csr"
    monkeypatch.setattr("modelsel.learner.columns.SPARSE", 0.0)
    again = learner.fit_path(many_levels, analysis, np.random.default_rng(4))
    dense = again.outputs([learner], many_levels, assessment, scores=True)
    assert isinstance(again._columns[1], np.ndarray)
    assert np.allclose(sparse.scores, dense.scores, rtol=0, atol=1e-6)
    assert np.array_equal(path._columns[1].toarray(), again._columns[1])
    assert path.complexity([learner])[0] == pytest.approx(again.complexity([learner])[0], rel=1e-6)


@pytest.mark.parametrize(("library", "name", "params"), [
    ("lightgbm", LIGHTGBM, {"n_estimators": 5}), ("xgboost", XGBOOST, {"n_estimators": 5}),
    ("catboost", CATBOOST, {"iterations": 5}),
])  # fmt: skip
def test_boosting_of_other_libraries_answers_alike_without_the_zeros(many_levels, library, name, params, monkeypatch):
    needs(library)
    learner = Estimator(name, params, encoding="one_hot")
    everyone = positions(many_levels)
    sparse = learner.fit_path(many_levels, everyone[:300], np.random.default_rng(4)).outputs(
        [learner], many_levels, everyone, True
    )
    monkeypatch.setattr("modelsel.learner.columns.SPARSE", 0.0)
    dense = learner.fit_path(many_levels, everyone[:300], np.random.default_rng(4)).outputs(
        [learner], many_levels, everyone, True
    )
    assert np.allclose(sparse.scores, dense.scores, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["Ridge", "LinearRegression", "Lasso"])
def test_lines_through_numbers_are_the_same_without_the_zeros(many_levels, name, monkeypatch):
    rng = np.random.default_rng(6)
    common = {key: getattr(many_levels, key) for key in ("name", "features", "values", "rows")}
    task = NumberTask(
        **common, target=np.nan_to_num(many_levels.values[:, 0]) + rng.normal(size=400), weights=None, measured_in=""
    )
    learner = Estimator(f"sklearn.linear_model.{name}", {}, scale="deviation")
    everyone = positions(task)
    sparse = learner.fit_path(task, everyone[:300], rng).outputs([learner], task, everyone, False)
    monkeypatch.setattr("modelsel.learner.columns.SPARSE", 0.0)
    dense = learner.fit_path(task, everyone[:300], rng).outputs([learner], task, everyone, False)
    assert np.allclose(sparse.predicted, dense.predicted, rtol=0, atol=1e-6)


def test_solvers_that_learn_otherwise_without_zeros_read_them(many_levels):
    learner = Estimator("sklearn.linear_model.LogisticRegression", {"solver": "saga"})
    assert isinstance(learner.fit_path(many_levels, positions(many_levels), np.random.default_rng(0))._columns[1], np.ndarray)
