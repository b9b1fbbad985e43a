"""Programs of other people: twenty that peek at sealed rows, and a hundred that do not. Each is what somebody might type.

`python -m watch_tests.programs seal|peek|clean HOMES` runs them in a process of its own and prints what was seen.
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import modelsel

Split = tuple[Any, Any, Any, Any]  # X_train, X_test, y_train, y_test
Program = Callable[[Split], None]
warnings.filterwarnings("ignore")


def customers(rows: int = 400) -> tuple[pd.DataFrame, Any]:
    """A frame of numbers, texts, truth values and missing cells."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "income": rng.lognormal(10, 1, rows).round(2), "age": rng.integers(18, 90, rows), "balance": rng.normal(0, 900, rows),
        "city": rng.choice([f"city {i}" for i in range(40)], rows), "job": rng.choice(["a", "b", "c"], rows),
        "owner": rng.random(rows) < 0.5,
    })  # fmt: skip
    frame.loc[rng.random(rows) < 0.1, "balance"] = np.nan
    return frame, (np.log(frame["income"]) + rng.normal(0, 1, rows) > 10).astype(int).to_numpy()


def bits(rows: int = 300) -> tuple[Any, Any]:
    """Rows of few contents, of which many repeat: nobody can tell them apart."""
    rng = np.random.default_rng(6)
    values = rng.integers(0, 2, (rows, 5)).astype(float)
    return values, (values.sum(axis=1) + rng.random(rows) > 3).astype(int)


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True, as_frame=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "digits": lambda: load_digits(return_X_y=True),
    "made": lambda: make_classification(400, 8, n_informative=4, random_state=0),
    "wide": lambda: make_classification(150, 60, n_informative=6, random_state=1),
    "customers": customers,
    "numbers of customers": lambda: (customers()[0][["income", "age", "balance"]].fillna(0), customers()[1]),
    "bits": bits,
    "single": lambda: (load_wine().data.astype(np.float32), load_wine().target),
}


def split(name: str, seed: int = 0) -> Split:
    X, y = TABLES[name]()
    return tuple(train_test_split(X, y, test_size=0.3, random_state=seed))  # type: ignore[return-value]


def whole(parts: Split) -> tuple[Any, Any]:
    """The table as it was before the split, as a second program would read it."""
    X_train, X_test, y_train, y_test = parts
    y = np.concatenate([y_train, y_test])
    return (pd.concat([X_train, X_test]) if hasattr(X_train, "columns") else np.vstack([X_train, X_test])), y


def tree(parts: Split, **settings: Any) -> Any:
    return DecisionTreeClassifier(random_state=0, **settings).fit(parts[0], parts[2])


# Those that peek: the table, the codes that are due, and what is typed.

PEEKING: dict[str, tuple[str, set[str], Program]] = {}


def peeks(table: str, *codes: str) -> Callable[[Program], Program]:
    def kept(program: Program) -> Program:
        PEEKING[program.__name__] = table, set(codes), program
        return program

    return kept


@peeks("wine", "G017")
def a_notebook_that_calls_score(parts: Split) -> None:
    tree(parts).score(parts[1], parts[3])


@peeks("iris", "G017")
def a_script_with_a_metric(parts: Split) -> None:
    metrics.accuracy_score(parts[3], tree(parts).predict(parts[1]))


@peeks("cancer", "G017")
def a_pipeline_and_the_area_under_the_curve(parts: Split) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(parts[0], parts[2])
    metrics.roc_auc_score(parts[3], model.predict_proba(parts[1])[:, 1])


@peeks("digits", "G017")
def a_sweep_over_depths(parts: Split) -> None:
    for depth in range(1, 6):
        tree(parts, max_depth=depth).score(parts[1], parts[3])


@peeks("made", "G017")
def a_loop_that_keeps_what_helps(parts: Split) -> None:
    best, kept = 0.0, np.ones(8)
    for column in range(8):
        tried = kept * (np.arange(8) != column)
        model = make_pipeline(FunctionTransformer(lambda X, kept: X * kept, kw_args={"kept": tried}), LogisticRegression())
        score = metrics.balanced_accuracy_score(parts[3], model.fit(parts[0], parts[2]).predict(parts[1]))
        if score > best:
            best, kept = score, tried


@peeks("cancer", "G026")
def cross_validation_of_the_whole_file(parts: Split) -> None:
    cross_val_score(GaussianNB(), *whole(parts))


@peeks("wine", "G026")
def a_grid_search_on_the_whole_file(parts: Split) -> None:
    GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=3).fit(*whole(parts))


@peeks("digits", "G026")
def another_split_with_another_seed(parts: Split) -> None:
    X, y = whole(parts)
    a, b, c, d = train_test_split(X, y, random_state=7)
    metrics.f1_score(d, KNeighborsClassifier().fit(a, c).predict(b), average="macro")


@peeks("made", "G025")
def fitting_on_the_test_rows(parts: Split) -> None:
    GaussianNB().fit(parts[1], parts[3])


@peeks("customers", "G017")
def texts_encoded_by_a_column_transformer(parts: Split) -> None:
    texts, numbers = (OneHotEncoder(handle_unknown="ignore"), ["city", "job"]), (StandardScaler(), ["income", "age"])
    encoder = make_column_transformer(texts, numbers)
    model = make_pipeline(encoder, LogisticRegression()).fit(parts[0], parts[2])
    metrics.classification_report(parts[3], model.predict(parts[1]))


@peeks("cancer", "G017")
def rows_scaled_once_and_scored_later(parts: Split) -> None:
    scaler = MinMaxScaler().fit(parts[0])
    train, test = scaler.transform(parts[0]), scaler.transform(parts[1])
    copied = np.array(test.tolist())
    metrics.matthews_corrcoef(parts[3], SVC().fit(train, parts[2]).predict(copied))


@peeks("wine", "G017")
def an_array_of_the_frame_in_single_precision(parts: Split) -> None:
    model = RandomForestClassifier(10, random_state=0).fit(parts[0].to_numpy(np.float32), parts[2])
    metrics.log_loss(parts[3], model.predict_proba(parts[1].to_numpy(np.float32)))


@peeks("cancer", "G017")
def a_threshold_put_on_by_hand(parts: Split) -> None:
    p = make_pipeline(StandardScaler(), LogisticRegression()).fit(parts[0], parts[2]).predict_proba(parts[1])[:, 1]
    for cut in (0.3, 0.5, 0.7):
        metrics.recall_score(parts[3], p > cut)


@peeks("digits", "G017")
def a_part_of_the_test_rows_in_another_order(parts: Split) -> None:
    chosen = np.random.default_rng(0).permutation(len(parts[1]))[:200]
    metrics.cohen_kappa_score(parts[3][chosen], tree(parts).predict(parts[1][chosen]))
    metrics.zero_one_loss(parts[3][chosen], tree(parts).predict(parts[1][chosen]))


@peeks("made", "G017")
def predictions_of_all_rows_scored_on_the_test_part(parts: Split) -> None:
    X, _ = whole(parts)
    predicted = tree(parts, max_depth=3).predict(X)
    metrics.accuracy_score(parts[3], predicted[len(parts[0]) :])


@peeks("cancer", "G017")
def a_frame_with_columns_added_and_turned_round(parts: Split) -> None:
    train, test = (one.copy() for one in parts[:2])
    for one in (train, test):
        one["sum"] = one.sum(axis=1)
    turned = list(test.columns)[::-1]
    GaussianNB().fit(train[turned], parts[2]).score(test[turned], parts[3])


@peeks("cancer", "G017")
def lightgbm_by_itself(parts: Split) -> None:
    lightgbm = import_module("lightgbm")  # of an extra

    model = lightgbm.train({"verbose": -1, "num_threads": 1, "objective": "binary"}, lightgbm.Dataset(parts[0], parts[2]), 5)
    metrics.roc_auc_score(parts[3], model.predict(parts[1]))


@peeks("cancer", "G017")
def xgboost_by_itself(parts: Split) -> None:
    xgboost = import_module("xgboost")  # of an extra

    model = xgboost.train({"nthread": 1, "objective": "binary:logistic"}, xgboost.DMatrix(parts[0], parts[2]), 5)
    metrics.brier_score_loss(parts[3], model.predict(xgboost.DMatrix(parts[1])))


@peeks("wine", "G017")
def catboost_by_itself(parts: Split) -> None:
    catboost = import_module("catboost")  # of an extra

    model = catboost.CatBoostClassifier(iterations=5, verbose=False, thread_count=1, allow_writing_files=False)
    model.fit(parts[0], parts[2]).score(parts[1], parts[3])


@peeks("made", "G017", "G026")
def a_vote_bags_and_boosting_then_all_rows(parts: Split) -> None:
    models = [("bags", BaggingClassifier(n_estimators=3)), ("boosting", HistGradientBoostingClassifier(max_iter=5))]
    vote = VotingClassifier(models).fit(parts[0], parts[2])
    metrics.confusion_matrix(parts[3], vote.predict(parts[1]))
    clone(vote).fit(*whole(parts))


# Those that do not peek: fifteen ways to work, on ten tables.


def cross_validated(parts: Split) -> None:
    cross_validate(make_pipeline(StandardScaler(), LogisticRegression()), parts[0], parts[2], scoring=["accuracy", "f1_macro"])


def searched_and_predicted(parts: Split) -> None:
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=3).fit(parts[0], parts[2])
    search.predict(parts[1])
    search.predict_proba(parts[1])


def validated_on_as_many_rows_as_are_sealed(parts: Split) -> None:
    n = len(parts[1])
    model = GaussianNB().fit(parts[0][n:], parts[2][n:])
    model.predict(parts[1])
    metrics.accuracy_score(parts[2][:n], model.predict(parts[0][:n]))
    metrics.recall_score(parts[2][:n], (model.predict_proba(parts[0][:n])[:, 0] > 0.3).astype(int), average="micro")


def everybody_is_in_the_commonest_class(parts: Split) -> None:
    n = len(parts[1])
    floor = DummyClassifier(strategy="most_frequent").fit(parts[0], parts[2])
    floor.predict(parts[1])
    metrics.accuracy_score(parts[2][:n], floor.predict(parts[0][:n]))


def a_learning_curve(parts: Split) -> None:
    learning_curve(DecisionTreeClassifier(), parts[0], parts[2], train_sizes=[0.5, 1.0], cv=ShuffleSplit(2, random_state=0))


def predicted_out_of_fold(parts: Split) -> None:
    said = cross_val_predict(KNeighborsClassifier(3), parts[0], parts[2], cv=KFold(4))
    metrics.confusion_matrix(parts[2], said)
    metrics.accuracy_score(parts[2][: len(parts[1])], said[: len(parts[1])])


def calibrated_and_selected(parts: Split) -> None:
    model = make_pipeline(SelectKBest(k=2), CalibratedClassifierCV(GaussianNB(), cv=2)).fit(parts[0], parts[2])
    model[0].transform(parts[1])
    model.score(parts[0], parts[2])


def another_table_of_the_same_columns(parts: Split) -> None:
    rng = np.random.default_rng(1)
    rows = np.asarray(parts[0], float)
    fresh = rows + rng.normal(0, rows.std(axis=0) + 0.1, rows.shape)
    frame = pd.DataFrame(fresh, columns=parts[0].columns) if hasattr(parts[0], "columns") else fresh
    tree((frame, None, parts[2], None)).score(frame, parts[2])


def regressions_of_the_first_column(parts: Split) -> None:
    X, y = make_regression(len(parts[1]), 4, random_state=0)
    LinearRegression().fit(X, y).score(X, y)
    metrics.mean_absolute_error(parts[2], Ridge().fit(parts[0], parts[2]).predict(parts[0]))


def predictions_handed_over(parts: Split) -> None:
    model = RandomForestClassifier(5, random_state=0).fit(parts[0], parts[2])
    frame = pd.DataFrame(model.predict_proba(parts[1]))
    frame.to_csv(Path(tempfile.gettempdir()) / f"handed {os.getpid()}.csv")
    metrics.accuracy_score(parts[2], model.predict(parts[0]))


def out_of_fold_on_as_many_rows_as_are_sealed(parts: Split) -> None:
    n = len(parts[1])
    tree(parts).predict(parts[1])
    metrics.accuracy_score(parts[2][:n], cross_val_predict(GaussianNB(), parts[0], parts[2], cv=KFold(3))[:n])


def agreement_of_two_models(parts: Split) -> None:
    one, other = tree(parts), GaussianNB().fit(parts[0], parts[2])
    metrics.accuracy_score(one.predict(parts[1]), other.predict(parts[1]))
    chances = [model.predict_proba(parts[1])[:, 0] > 0.5 for model in (one, other)]
    metrics.cohen_kappa_score(*chances)


def constants_compared_with_constants(parts: Split) -> None:
    n = len(parts[1])
    DummyClassifier(strategy="prior").fit(parts[0], parts[2]).predict_proba(parts[1])
    metrics.zero_one_loss(parts[2][:n], np.full(n, parts[2][0]))
    metrics.brier_score_loss((parts[2] == parts[2][0])[:n], np.full(n, 0.5))


def rows_that_teach_nothing(parts: Split) -> None:
    """Nothing is learned by what has nothing to learn, nor by a model that is frozen."""
    Normalizer().fit_transform(parts[1])
    FunctionTransformer(np.abs).fit_transform(parts[1])
    FrozenEstimator(GaussianNB().fit(parts[0], parts[2])).fit(parts[1], parts[3]).predict(parts[1])


def evaluated_on_development_rows(parts: Split) -> None:
    xgboost, n = import_module("xgboost"), len(parts[2]) // 2
    y = np.unique(parts[2], return_inverse=True)[1]
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(parts[0], y, eval_set=[(parts[0][:n], y[:n])], verbose=False)
    model.predict(parts[1])


CLEAN: tuple[Program, ...] = (
    cross_validated, searched_and_predicted, validated_on_as_many_rows_as_are_sealed, everybody_is_in_the_commonest_class,
    a_learning_curve, predicted_out_of_fold, calibrated_and_selected, another_table_of_the_same_columns,
    regressions_of_the_first_column, predictions_handed_over, out_of_fold_on_as_many_rows_as_are_sealed,
    agreement_of_two_models, constants_compared_with_constants, rows_that_teach_nothing, evaluated_on_development_rows,
)  # fmt: skip


def numbers(parts: Split) -> Split:
    """The numbers of a table alone, which every program can read."""
    if not hasattr(parts[0], "columns"):
        return parts
    train, test = (one.select_dtypes("number").fillna(0) for one in parts[:2])
    return train, test, parts[2], parts[3]


# A process: seal the rows of every program, or run the programs under watch.


def homes(kind: str, folder: Path) -> Iterator[tuple[str, str, Program, Path]]:
    """Each program with its table and its home; those that are clean share one."""
    if kind == "peek":
        yield from ((name, table, program, folder / name) for name, (table, _, program) in PEEKING.items())
    else:
        yield from ((f"{one.__name__} {table}", table, one, folder / "clean") for table in TABLES for one in CLEAN)


def main(action: str, kind: str, folder: Path) -> dict[str, list[str]]:
    """Seal rows for the programs of a kind, or run them; what was seen by each."""
    seen: dict[str, list[str]] = {}
    sealed: set[tuple[Path, str]] = set()
    for name, table, program, home in homes(kind, folder):
        os.environ["MODELSEL_HOME"] = str(home)
        parts = split(table)
        if action == "seal":
            if (home, table) not in sealed:
                sealed.add((home, table))
                modelsel.watch(parts[1], parts[3], name=table)
            continue
        with modelsel.watching() as watch:
            program(parts if kind == "peek" else numbers(parts))
        seen[name] = [finding.code for finding in watch.findings]
    return seen


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
