"""Steps by columns: what scikit-learn's ColumnTransformer says of the same branches, sparse to the estimator, fitted once."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from modelsel.core.types import ClassTask, Feature, of_texts
from modelsel.learner import columns
from modelsel.learner.base import FittedModel
from modelsel.learner.estimator import Estimator
from tests.extras import needs

WORDS = np.array(["late", "paid", "again", "thanks", "reminder", "in", "time"])
LOGISTIC, FOREST = "sklearn.linear_model.LogisticRegression", "sklearn.ensemble.RandomForestClassifier"
TOWNS = np.array(["bonn", "kiel", "ulm", np.nan], object)


def step(name: str, **params: object) -> dict[str, object]:
    return {"transformer": name, "params": params}


STEPS = [
    ["amount_*, age", [step("SimpleImputer"), step("StandardScaler")]],
    ["nominal", [step("OneHotEncoder")]],
    ["text", [step("TfidfVectorizer", min_df=2)]],
]


def letters(rows: int = 160) -> tuple[ClassTask, pd.DataFrame]:
    """A task, and the same rows as a person's frame."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, rows)
    numbers = rng.normal(target[:, None], 1, (rows, 3))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    towns = rng.integers(0, 4, rows)
    texts = [" ".join(WORDS[rng.integers(0, 4 if y else 7, 6)]) for y in target]
    text, codes = of_texts(Feature("letter", "nominal", text=True), texts)
    features = (*(Feature(name, "numeric") for name in ("amount_1", "amount_2", "age")),
                Feature("town", "nominal", tuple(TOWNS[:3])), text)  # fmt: skip
    values = np.column_stack([numbers, np.where(towns == 3, np.nan, towns), codes])
    task = ClassTask(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"),
                     target=target.astype(np.int32))  # fmt: skip
    frame = pd.DataFrame(numbers, columns=["amount_1", "amount_2", "age"])
    return task, frame.assign(town=TOWNS[towns], letter=texts)


def theirs(last: object, seed: int = 0) -> object:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([
        ("numbers", numbers, ["amount_1", "amount_2", "age"]),
        ("town", OneHotEncoder(handle_unknown="ignore"), ["town"]),
        ("letter", TfidfVectorizer(min_df=2), "letter"),
    ])  # fmt: skip
    return make_pipeline(columns, last)


def fitted(estimator: str, params: dict[str, object], steps: list, task: ClassTask, rows: np.ndarray) -> FittedModel:
    return Estimator(estimator, params, steps=tuple(steps)).fit(task, rows, np.random.default_rng(4))


@pytest.mark.parametrize(
    ("name", "params", "last"),
    [
        (LOGISTIC, {"C": 2.0}, LogisticRegression(C=2.0)),
        (FOREST, {"n_estimators": 8, "random_state": 3}, RandomForestClassifier(8, random_state=3)),
    ],
)
def test_it_says_what_the_same_column_transformer_says_bit_for_bit(name, params, last):
    task, frame = letters()
    rows = np.arange(100)
    model = fitted(name, params, STEPS, task, rows)
    other = theirs(last).fit(frame.iloc[rows], task.target[rows])
    assert np.array_equal(model.scores(task), other.predict_proba(frame))


def test_sparse_stays_sparse_to_the_estimator(monkeypatch):
    seen = []
    fit = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, X, y, *a: seen.append(X) or fit(self, X, y, *a))
    task, frame = letters()
    wide = [["text", [step("HashingVectorizer", n_features=4096)]], ["rest", [step("drop")]]]
    model = fitted(LOGISTIC, {}, wide, task, np.arange(100))
    assert sparse.issparse(seen[0])
    hashed = HashingVectorizer(n_features=4096)
    other = LogisticRegression().fit(hashed.fit_transform(frame.letter[:100]), task.target[:100])
    assert np.array_equal(model.scores(task), other.predict_proba(hashed.transform(frame.letter)))


@pytest.mark.filterwarnings("ignore:.*TargetEncoder:FutureWarning")
def test_means_of_classes_are_cross_fitted_as_in_a_pipeline():
    task, frame = letters()
    rows = np.arange(100)
    spec = [["town", [step("TargetEncoder", random_state=1)]], ["rest", [step("drop")]]]
    model = fitted(LOGISTIC, {}, spec, task, rows)
    other = make_pipeline(TargetEncoder(random_state=1), LogisticRegression())
    other.fit(frame[["town"]].iloc[rows], task.target[rows])
    assert np.array_equal(model.scores(task), other.predict_proba(frame[["town"]]))


def counted(monkeypatch) -> list[str]:
    """The names of transformers, each time one is fitted."""
    columns.STEPS.__init__(16)
    found: list[str] = []
    for kind in (SimpleImputer, StandardScaler, OneHotEncoder, TfidfVectorizer):
        own, name = kind.fit_transform, kind.__name__
        monkeypatch.setattr(
            kind, "fit_transform", lambda self, *a, own=own, name=name, **k: found.append(name) or own(self, *a, **k)
        )
    return found


def test_candidates_fit_the_steps_that_they_share_once_per_fold(monkeypatch):
    found = counted(monkeypatch)
    task, _ = letters()
    other = [*STEPS[:1], ["nominal", [step("OneHotEncoder")]], ["text", [step("TfidfVectorizer", min_df=3)]]]
    for rows in (np.arange(100), np.arange(50, 150)):
        for steps in (STEPS, other):
            for C in (0.1, 1.0, 10.0):
                fitted(LOGISTIC, {"C": C}, steps, task, rows)
            fitted(FOREST, {"n_estimators": 4}, steps, task, rows)
    each = {name: found.count(name) for name in sorted(set(found))}
    assert each == {"OneHotEncoder": 2, "SimpleImputer": 2, "StandardScaler": 2, "TfidfVectorizer": 4}


def test_a_step_that_draws_is_fitted_by_each_candidate(monkeypatch):
    task, _ = letters()
    drawing = [["numeric", [step("SimpleImputer"), step("PCA", n_components=2)]], ["rest", [step("drop")]]]
    found = counted(monkeypatch)
    seeds = {
        Estimator(LOGISTIC, {"C": C}, steps=tuple(drawing))
        .fit(task, np.arange(100), np.random.default_rng(seed))
        .answering.columns.branches.each[0]
        .chain[1]
        .random_state
        for seed, C in enumerate((0.1, 1.0))
    }
    assert len(seeds) == 2
    assert found == ["SimpleImputer"]


def test_a_step_that_writes_into_its_rows_harms_nobody(monkeypatch):
    task, _ = letters()
    rows = np.arange(100)
    plain = [["numeric", [step("SimpleImputer")]], ["rest", [step("drop")]]]
    writing = [["numeric", [step("SimpleImputer"), step("StandardScaler", copy=False)]], ["rest", [step("drop")]]]
    counted(monkeypatch)
    alone = fitted(LOGISTIC, {}, plain, task, rows).scores(task)
    counted(monkeypatch)
    both = [fitted(LOGISTIC, {}, steps, task, rows).scores(task) for steps in (plain, writing, plain)]
    assert np.array_equal(both[0], alone)
    assert np.array_equal(both[2], alone)
    safe = [["numeric", [step("SimpleImputer"), step("StandardScaler")]], ["rest", [step("drop")]]]
    assert np.array_equal(both[1], fitted(LOGISTIC, {}, safe, task, rows).scores(task))


@pytest.mark.parametrize("name", [LOGISTIC, FOREST])
def test_it_is_read_back_without_the_texts_that_it_was_fitted_on_and_reads_new_ones(name):
    task, _ = letters()
    model = fitted(name, {}, STEPS, task, np.arange(100))
    said = model.describe()
    assert "late" not in str(said.facts)
    text, codes = of_texts(Feature("letter", "nominal", text=True), ["never seen", None, "late reminder"])
    values = np.column_stack([task.values[:3, :4], codes])
    new = task.take(np.arange(3)).with_features((*task.features[:4], text), values)
    again = Estimator.restore(said)
    assert np.array_equal(again.scores(new), model.scores(new))
    assert np.array_equal(again.scores(task), model.scores(task))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([["town", [step("StandardScaler")]]], "steps of 'town' do not fit town: could not convert string to float"),
        ([["age", [step("TfidfVectorizer")]]], "steps of 'age' do not fit age"),
        ([["agee", [step("StandardScaler")]]], "steps name a column 'agee' that is not there; did you mean 'age'?"),
        ([["numerical", [step("StandardScaler")]]], "'numerical' that is not there; did you mean 'numeric'?"),
        ([["text", [step("TfidfVectorizer", min_df=999)]]], "steps of 'text' do not fit letter"),
        ([["numeric", [step("StandardScaler")]]], "the steps leave missing values"),
        ([["town", [step("SimpleImputer", strategy="most_frequent")]]], "the steps leave texts"),
        ([["numeric", [step("StandardScalar")]]], "did you mean 'StandardScaler'?"),
        ([["numeric", [step("imblearn.over_sampling.SMOTE")]]], "draws rows"),
        ([["numeric", [step("drop"), step("StandardScaler")]]], "drop stands alone"),
    ],
)
def test_what_does_not_fit_the_columns_is_a_problem_before_any_fold(steps, said):
    if "imblearn" in str(steps):
        pytest.importorskip("imblearn")
    task, _ = letters()
    learner = Estimator(LOGISTIC, steps=(*steps, ["rest", [step("drop")]]))
    assert said in " ".join(learner.problems(task))


def test_columns_that_nobody_names_are_said():
    task, _ = letters()
    found = list(Estimator(LOGISTIC, steps=(["text", [step("TfidfVectorizer")]],)).problems(task))
    assert found == ["no steps for amount_1, amount_2, age, town: add them, or `rest: drop`, or `rest: passthrough`"]


def test_a_matrix_that_the_estimator_does_not_take_is_said():
    task, _ = letters()
    sparse_steps = (["text", [step("HashingVectorizer")]], ["rest", [step("drop")]])
    learner = Estimator("sklearn.ensemble.HistGradientBoostingClassifier", steps=sparse_steps)
    assert "sparse matrix, which the estimator does not take" in " ".join(learner.problems(task))


def test_a_rare_word_that_a_part_of_the_rows_does_not_have_is_no_problem(monkeypatch):
    monkeypatch.setattr(columns, "TRIED", 5)
    task, _ = letters()
    learner = Estimator(LOGISTIC, steps=(["text", [step("TfidfVectorizer", min_df=20)]], ["rest", [step("drop")]]))
    assert list(learner.problems(task)) == []


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("StringEncoder", {"n_components": 3, "random_state": 0}),
        ("MinHashEncoder", {"n_components": 4}),
        ("GapEncoder", {"n_components": 2, "random_state": 0}),
    ],
)
def test_skrubs_transformers_of_one_column_make_what_skrub_makes_of_it_and_are_stored(name, params):
    skrub, skops = needs("skrub"), needs("skops")
    assert skops
    task, frame = letters()
    rows = np.arange(100)
    steps = [["letter", [step(f"skrub.{name}", **params), step("StandardScaler")]], ["rest", [step("drop")]]]
    model = fitted(LOGISTIC, {}, steps, task, rows)
    encoder, scaler = getattr(skrub, name)(**params), StandardScaler()
    made = encoder.fit_transform(frame.letter[:100].astype("str")).to_numpy()
    other = LogisticRegression().fit(np.hstack([scaler.fit_transform(made)]), task.target[:100])  # in C order, as there
    rest = scaler.transform(encoder.transform(frame.letter[100:].astype("str")).to_numpy())
    shares = np.asarray(other.predict_proba(np.hstack([rest])), np.float64)  # skrub gives single precision
    assert np.array_equal(model.scores(task.take(np.arange(100, 160))), shares / shares.sum(axis=1, keepdims=True))
    again = Estimator.restore(model.describe())
    assert np.array_equal(again.scores(task), model.scores(task))


def test_names_with_gaps_go_to_skrub_column_by_column():
    needs("skrub")
    task, _ = letters()
    steps = [["nominal", [step("skrub.MinHashEncoder", n_components=4)]], ["rest", [step("drop")]]]
    model = fitted(LOGISTIC, {}, steps, task, np.arange(100))
    assert model.estimator.n_features_in_ == 4  # the town; the letter is a text
    assert np.isfinite(model.scores(task)).all()
