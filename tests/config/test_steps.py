"""`steps:` of a learner become preparation steps, swept or not, and candidates that begin alike share fits."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from modelsel.config.build import Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.config.steps import _by_name, _is_read
from modelsel.core.types import Candidate, Feature, Task
from modelsel.preparer.transform import Transform
from modelsel.runner.evaluation.preprocessing import RANKINGS, prepare
from modelsel.runner.final_fit import fit

LOGISTIC = {
    "kind": "estimator",
    "estimator": "sklearn.linear_model.LogisticRegression",
    "params": {"tol": 1e-10, "max_iter": 10000},
}
STEPS = {"numeric": ["SimpleImputer", "StandardScaler"], "nominal": ["OneHotEncoder"]}


def candidates(entry: dict, expected: int) -> tuple[Candidate, ...]:
    builder = Builder(Folders.of())
    found = expand({"x": entry}, builder).candidates
    assert builder.problems == []
    assert len(found) == expected
    return found


def problems(entry: dict) -> str:
    builder = Builder(Folders.of())
    expand({"x": entry}, builder)
    return "\n".join(map(str, builder.problems))


@pytest.fixture
def mixed() -> Task:
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 120)
    values = np.column_stack([rng.normal(target), rng.integers(0, 3, 120), rng.normal(size=120) * 100])
    values[rng.random(values.shape) < 0.1] = np.nan
    features = (Feature("a", "numeric"), Feature("n", "nominal", ("u", "v", "w")), Feature("b", "numeric"))
    return Task(name="t", features=features, values=values, rows=np.arange(120), classes=("x", "y"),
                target=target.astype(np.int32))  # fmt: skip


def test_a_pipeline_says_what_scikit_learns_pipeline_says(mixed):
    (candidate,) = candidates({"learner": LOGISTIC, "steps": STEPS}, 1)
    model = fit(candidate, mixed, seed=0, rows=np.arange(80))
    names = np.array(["u", "v", "w", np.nan], object)
    n = names[np.where(np.isnan(mixed.values[:, 1]), 3, np.nan_to_num(mixed.values[:, 1])).astype(int)]
    raw = np.column_stack([mixed.values[:, [0, 2]].astype(object), n])
    theirs = make_pipeline(
        make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
                                (OneHotEncoder(handle_unknown="ignore"), [2])),
        LogisticRegression(tol=1e-10, max_iter=10000),
    ).fit(raw[:80], mixed.target[:80])  # fmt: skip
    assert np.allclose(model.scores(mixed), theirs.predict_proba(raw), atol=1e-6)
    assert np.array_equal(model.predict(mixed), theirs.predict(raw))


def test_a_level_that_the_analysis_rows_do_not_have_ends_no_fold(mixed):
    (candidate,) = candidates({"learner": LOGISTIC, "steps": STEPS}, 1)
    rows = np.flatnonzero(mixed.values[:, 1] != 2)
    assert fit(candidate, mixed, seed=0, rows=rows).scores(mixed).shape == (120, 2)


def test_lists_and_parameters_of_steps_are_swept(mixed):
    sweep = {"steps.numeric": [["SimpleImputer"], ["SimpleImputer", {"kind": "PCA", "n_components": 1}]], "params.C": [1, 10]}
    found = candidates({"learner": LOGISTIC, "steps": STEPS, "sweep": sweep}, 4)
    steps = [[(step.columns, step.transformer, dict(step.params)) for step in one.preparers] for one in found]
    short = [("numeric", "SimpleImputer", {}), ("nominal", "OneHotEncoder", {})]
    long = [("numeric", "SimpleImputer", {}), ("numeric", "PCA", {"n_components": 1}), ("nominal", "OneHotEncoder", {})]
    assert sorted(map(len, steps)) == [2, 2, 3, 3]
    assert short in steps
    assert long in steps


def test_candidates_that_begin_alike_share_the_fits_of_their_first_steps(mixed, monkeypatch):
    fits: list[str] = []
    for kind in (SimpleImputer, StandardScaler, OneHotEncoder):
        own = kind.fit
        name = kind.__name__
        monkeypatch.setattr(kind, "fit", lambda self, *a, own=own, name=name, **k: fits.append(name) or own(self, *a, **k))
    sweep = {"steps.numeric": [["SimpleImputer"], ["SimpleImputer", "StandardScaler"]], "params.C": [1, 10]}
    RANKINGS.__init__(16)
    for candidate in candidates({"learner": LOGISTIC, "sweep": sweep}, 4):
        prepare(candidate.preparers, mixed, np.arange(80), 0)
    assert sorted(fits) == ["SimpleImputer", "StandardScaler"]


def test_steps_serve_our_own_learners_too(mixed):
    (candidate,) = candidates({"learner": "knn", "normalise": "none", "steps": {"numeric": ["StandardScaler"]}}, 1)
    assert fit(candidate, mixed, seed=0).predict(mixed).shape == (120,)


@pytest.mark.parametrize(
    ("learner", "steps", "said"),
    [
        ("knn", {"text": ["TfidfVectorizer"]}, "MSEL-219: steps for text"),
        ("knn", {"age": ["StandardScaler"], "rest": "drop"}, "MSEL-219: steps for the rest before a learner of modelsel's own"),
        ("knn", {"age": ["StandardScaler"], "all": ["PCA"]}, "MSEL-219: 'all' beside columns by name"),
        (LOGISTIC, ["StandardScaler"], "MSEL-219: steps are not a mapping"),
        (LOGISTIC, {"numeric": [["StandardScaler"]]}, "MSEL-219: a step for numeric columns has no name"),
        (LOGISTIC, {"age": ["StandardScaler"], "all": ["PCA"]}, "MSEL-219: 'all' beside 'age'"),
    ],
)
def test_what_is_no_step_is_said(learner, steps, said):
    assert said in problems({"learner": learner, "steps": steps})


def test_steps_by_columns_are_the_estimators_own_and_are_swept():
    sweep = {"steps.text": [["TfidfVectorizer"], [{"kind": "HashingVectorizer", "n_features": 64}]], "params.C": [1, 10]}
    found = candidates({"learner": LOGISTIC, "steps": {"age": ["StandardScaler"], "rest": "drop"}, "sweep": sweep}, 4)
    said = {tuple((spec.columns, *(step.transformer for step in spec.steps)) for spec in one.learner.steps) for one in found}
    assert said == {
        (("age", "StandardScaler"), ("rest", "drop"), ("text", text)) for text in ("TfidfVectorizer", "HashingVectorizer")
    }
    assert len({one.id for one in found}) == 4


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("StandardScalar", "did you mean 'StandardScaler'?"),
        ("os.system", "estimators may come from"),
        ("TargetEncoder", "use encoding=target"),
        ("imblearn.over_sampling.SMOTE", "draws rows"),
        ("LogisticRegression", "no transformer"),
        ({"kind": "PCA", "components": 2}, "PCA has no parameter 'components'"),
    ],
)
def test_what_is_no_transformer_is_said(step, said):
    (candidate,) = candidates({"learner": LOGISTIC, "steps": {"numeric": [step]}}, 1)
    assert said in " ".join(candidate.preparers[0].problems())


BY_COLUMNS = {"age": ["StandardScaler"], "rest": ["passthrough"]}


@pytest.mark.parametrize(("setting", "value"), [("scale", "deviation"), ("missing", "median"), ("encoding", "ordinal")])
def test_what_is_said_of_columns_beside_steps_by_columns_is_refused_by_name(setting, value):
    for entry in (
        {"learner": LOGISTIC, "steps": BY_COLUMNS, setting: value},
        {"learner": {**LOGISTIC, setting: value}, "steps": BY_COLUMNS},
        {"learner": LOGISTIC, "steps": BY_COLUMNS, "sweep": {setting: [value]}},
        {"learner": {**LOGISTIC, setting: value}, "sweep": {"steps.age": [["StandardScaler"], ["MinMaxScaler"]]}},
    ):
        assert f"MSEL-219: {setting}" in problems(entry)
        assert f"{setting}; steps by columns say it all: leave it out, or write it as a step" in problems(entry)


def test_what_a_file_says_below_the_steps_is_replaced_and_said():
    builder = Builder(Folders.of())
    (one,) = expand({"x": {"learner": "logistic_regression", "steps": BY_COLUMNS}}, builder).candidates
    assert not builder.problems
    assert builder.notes == ["space.x: steps by columns stand in the place of scale=deviation, which a learner's file says"]
    assert one.learner.scale == "none"
    candidates({"learner": "logistic_regression", "scale": "none", "encoding": "auto", "steps": BY_COLUMNS}, 1)


def test_a_file_that_says_both_is_refused(tmp_path):
    (tmp_path / "learner").mkdir()
    (tmp_path / "learner" / "mine.yaml").write_text(
        "kind: logistic_regression\nscale: deviation\nsteps: {age: [StandardScaler], rest: [passthrough]}\n"
    )
    builder = Builder(Folders.of(str(tmp_path)))
    expand({"x": {"learner": "mine"}}, builder)
    assert [problem.code for problem in builder.problems] == ["MSEL-219"]
    (tmp_path / "learner" / "mine.yaml").write_text(
        "kind: logistic_regression\nsteps: {age: [StandardScaler], rest: [passthrough]}\n"
    )
    builder = Builder(Folders.of(str(tmp_path)))
    expand({"x": {"learner": "mine"}}, builder)
    assert not builder.problems
    assert len(builder.notes) == 1


def test_steps_by_kind_leave_encoding_missing_and_scale_as_they_are():
    (one,) = candidates({"learner": "logistic_regression", "steps": STEPS}, 1)
    assert one.learner.scale == "deviation"


def by_names(rows: int = 120) -> Task:
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, rows)
    names = ("age", "amount_1", "amount_2", "size")
    values = np.column_stack([rng.normal(target[:, None] * np.array([9.0, 1.0, 0.1, 0.01]), [9.0, 1.0, 0.1, 0.01], (rows, 4)),
                              rng.integers(0, 3, rows)])  # fmt: skip
    features = (*(Feature(name, "numeric") for name in names), Feature("town", "nominal", ("u", "v", "w")))
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("x", "y"),
                target=target.astype(np.int32))  # fmt: skip


NAMED = {
    "numeric": ["MinMaxScaler"], "amount_*": ["StandardScaler", {"kind": "PCA", "n_components": 1}],
    "amount_2": ["MaxAbsScaler"], "rest": "passthrough",
}  # fmt: skip


def test_columns_by_name_and_pattern_before_our_own_learners_are_what_scikit_learn_makes_of_them():
    task, rows = by_names(), np.arange(80)
    (candidate,) = candidates({"learner": "knn", "k": 5, "normalise": "none", "distance": "euclidean", "steps": NAMED}, 1)
    _, ready = prepare(candidate.preparers, task, rows, 0)
    made = {feature.name: ready.values[:, place] for place, feature in enumerate(ready.features)}
    theirs = make_column_transformer(
        (MaxAbsScaler(), [2]), (make_pipeline(StandardScaler(), PCA(1)), [1]), (MinMaxScaler(), [0, 3])
    ).fit(task.values[rows])
    ours = [made["amount_2/amount_2"], made["amount_*/pca0"], made["numeric/age"], made["numeric/size"]]
    assert np.allclose(np.column_stack(ours), theirs.transform(task.values), atol=1e-12)
    assert np.array_equal(made["town"], task.values[:, 4]), "what nobody names stays as it is"
    final = fit(candidate, task, seed=0, rows=rows)
    for _, step in final.steps:
        again = Transform.restore(step.describe())
        assert (again.reads, again.apart, again.features) == (step.reads, step.apart, step.features)


def test_steps_by_name_are_shared_and_swept_before_our_own_learners():
    sweep = {"steps.amount_*": [["StandardScaler"], ["MinMaxScaler"]], "k": [1, 3]}
    found = candidates({"learner": "knn", "steps": {"age": ["StandardScaler"]}, "sweep": sweep}, 4)
    assert len({one.preparers[0] for one in found}) == 1
    assert {one.preparers[1].apart for one in found} == {("age",)}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({"numerical": ["StandardScaler"]}, "steps name a column 'numerical' that is not there; did you mean 'numeric'"),
        ({"amont_*": ["StandardScaler"]}, "steps name a column 'amont_*' that is not there; did you mean"),
        ({"age, town": ["StandardScaler"]}, "steps for age, town read numbers or names and not both"),
    ],
)
def test_columns_that_are_not_there_are_told_before_any_fit(steps, said):
    (candidate,) = candidates({"learner": "knn", "steps": steps}, 1)
    reasons = [reason for step in candidate.preparers for reason in step.problems(by_names())]
    assert any(said in reason for reason in reasons), reasons


def test_ids_of_steps_by_kind_are_what_they_were():
    (candidate,) = candidates({"learner": "knn", "steps": {"numeric": ["StandardScaler"]}}, 1)
    assert candidate.spec["preparer"] == [
        {"kind": "transform", "transformer": "StandardScaler", "columns": "numeric", "params": {}}
    ]


def test_a_column_is_its_first_names_and_what_is_said_of_patterns_and_kinds_leaves_it_alone() -> None:
    said = {"numeric": "d", "b*": "c", "age": "a", "ab*": "b", "rest": "passthrough"}
    assert [(one["columns"], one.get("apart", [])) for one in _by_name(said)] == [
        ("age", []), ("b*", ["age"]), ("ab*", ["age", "b*"]), ("numeric", ["age", "b*", "ab*"])
    ]  # fmt: skip


def test_branches_of_a_record_all_name_their_columns() -> None:
    assert _is_read([{"columns": "age", "steps": []}])
    assert not _is_read([{"columns": "age", "steps": []}, {"age": "StandardScaler"}])
    assert not _is_read(["columns"])
