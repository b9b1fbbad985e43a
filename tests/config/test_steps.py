"""`steps:` of a learner become preparation steps, swept or not, and candidates that begin alike share fits."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from modelsel.config.build import Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.core.types import Candidate, Feature, Task
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
        (
            "knn",
            {"numerical": ["StandardScaler"]},
            "MSEL-219: unknown kind of columns 'numerical', space.x.steps; did you mean 'numeric'",
        ),
        (LOGISTIC, ["StandardScaler"], "MSEL-219: steps are no mapping"),
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
