"""What somebody gets who declares nothing, judged on rows that no method saw: `python -m benchmarks.everyday.defaults`.

    python -m benchmarks.everyday.defaults run [--tables heart_c vote] [--splits 5] [--methods default forest]
    python -m benchmarks.everyday.defaults show [--against default] [--methods default forest]

Each split holds 30 % of a table back, by class; split 0 of all tables comes first, cheap methods before dear ones. A method
chooses and fits on the rest, one worker; error, log loss and AUC are those of its model on the rows held back, and `promise`
is the corrected score (of the searches of others the best mean of their folds, which is all they say). A line per table,
split, measure and method goes to runs/defaults.jsonl; what stands there is not computed again. An estimator as it comes asks
no measure and is fitted once for all of them. FLAML's clock is the processor's, as ours is. An interval is of the mean over
all rows, and the truth a mean over few: it holds where the two are no further apart than the standard errors of both allow.
GridSearchCV has ten folds as ours, over the families of `default`, or, as `GridSearchCV_wide`, over those of `everything`:
50 settings, each a fit of its own, where `everything` reads 130 candidates off 39 fits and adds an ensemble. What stands on
record as `everything_before` is that space before it was made cheaper (196 candidates, 60 fits). Seconds of `everything` are
without those for `everything_single`, what it would have chosen without its ensemble.
Nothing is looked at through a ledger: the tables are public, and the figures judge modelsel, not a model.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.utils.metaestimators import available_if

from benchmarks.common.places import ROOT
from benchmarks.common.tables import table
from modelsel.statistics.ranks import critical_difference, friedman

STORE = ROOT / "runs" / "defaults.jsonl"
TABLES = (
    "balance_scale", "breast_cancer_ljubljana", "breast_w", "car", "cmc", "credit_a", "credit_g", "dermatology",
    "diabetes_pima", "glass", "heart_c", "ionosphere", "kr_vs_kp", "segment", "sk_digits", "sonar", "soybean",
    "tic_tac_toe", "titanic", "vote",
)  # fmt: skip
MEASURES = ("error", "log_loss")
Z = 1.96  # 95 % of a normal distribution
SMALLEST = 1e-15  # a chance of the true class below this costs 34.5 nats


@dataclass(frozen=True)
class Outcome:
    """What one method promised on the rows it saw and reached on those it did not."""

    table: str
    split: int
    measure: str
    method: str
    error: float
    log_loss: float
    auc: float
    error_se: float
    log_loss_se: float
    promise: float | None
    low: float | None
    high: float | None
    candidates: int
    seconds: float
    chosen: str

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.table, self.split, self.measure, self.method

    @property
    def truth(self) -> float:
        return float(getattr(self, self.measure))

    @property
    def holds(self) -> bool | None:
        """Whether the interval and the rows held back agree, at 95 %; None without an interval."""
        if self.low is None or self.high is None or self.promise is None:
            return None
        end = self.high if self.truth > self.promise else self.low
        own = Z * float(getattr(self, f"{self.measure}_se"))
        return abs(self.truth - self.promise) <= float(np.hypot(end - self.promise, own)) + 1e-12


@dataclass(frozen=True, eq=False)
class Found:
    """A fitted model with what its method says it is worth; `promise` and its ends are in the measure's own sign."""

    model: Any
    promise: float | None = None
    low: float | None = None
    high: float | None = None
    candidates: int = 1
    chosen: str = ""
    single: "Found | None" = None  # the best candidate that is no ensemble, where the chosen one is
    beside: float = 0.0  # seconds for `single`, which nobody asked the method for


Method = Callable[[pd.DataFrame, pd.Series, str], Found]


def space(name: Any, *overrides: str) -> Method:
    """A space of modelsel's, with the corrected score as its promise."""

    def fit(X: pd.DataFrame, y: pd.Series, measure: str) -> Found:
        import modelsel

        with tempfile.TemporaryDirectory() as home, chdir(home), Environment(MODELSEL_HOME=home):
            done = modelsel.run(
                f"measure={measure}", "split=none", "guard=off", "tracking=off", "pool=sequential", *overrides,
                data=X.assign(**{TARGET: y.to_numpy()}), target=TARGET, space=name,
            )  # fmt: skip
            won, corrected = done.winner, done.winner.get("corrected") or {}
            ends = (corrected.get(end) for end in ("mean", "low", "high"))
            start, single = time.process_time(), _best_single(done) if won.get("entry") == "ensemble" else None
            beside, chosen = time.process_time() - start, f"{won.get('entry')} {won['id'][:8]}"
            return Found(done.model, *ends, done.candidates["distinct"], chosen, single, beside)

    return fit


def _best_single(done: Any) -> Found:
    rows = done.leaderboard
    best = rows[rows["entry"] != "ensemble"].iloc[0]
    return Found(done.candidate(best["id"]).fit(), chosen=f"{best['entry']} {best['id'][:8]}")


TARGET = "the class"


def grid_search(grids: "Grids") -> Method:
    """GridSearchCV over each family's grid, ten stratified folds as ours; the best of the families' best is the model."""

    def fit(X: pd.DataFrame, y: pd.Series, measure: str) -> Found:
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        (classes, codes), best, tried = np.unique(y.to_numpy(), return_inverse=True), None, 0
        for name, (fixed, grid) in grids.items():
            model = _named(name).set_params(**fixed, **(READING_CHANCES.get(name, {}) if measure == "log_loss" else {}))
            search = GridSearchCV(
                _pipeline(X, model), {f"model__{key}": values for key, values in grid.items()},
                scoring=_scorer(measure, len(classes)), cv=StratifiedKFold(10, shuffle=True, random_state=0),
            ).fit(X, codes)  # fmt: skip
            tried += len(search.cv_results_["params"])
            best = search if best is None or search.best_score_ > best.best_score_ else best
        assert best is not None
        assert np.isfinite(best.best_score_)
        promise = 1 - float(best.best_score_) if measure == "error" else -float(best.best_score_)
        chosen = f"{type(best.best_estimator_[-1]).__name__} {best.best_params_}"
        return Found(Named(best.best_estimator_, classes), promise, candidates=tried, chosen=chosen)

    return fit


def _scorer(measure: str, classes: int) -> Any:
    """Of log loss one that knows all classes: scikit-learn's own has no score for a fold in which one is missing."""
    from sklearn.metrics import log_loss, make_scorer

    if measure == "error":
        return "accuracy"
    return make_scorer(log_loss, greater_is_better=False, response_method="predict_proba", labels=np.arange(classes))


Grids = Mapping[str, tuple[Mapping[str, Any], Mapping[str, list[Any]]]]  # what is set, what is tried
READING_CHANCES: Mapping[str, Mapping[str, Any]] = {"svm": {"probability": True}}
NARROW: Grids = {  # the families of the default space
    "cart": ({}, {"max_depth": [1, 2, 3, 4, 6, 8, None], "min_samples_leaf": [1, 5]}),
    "forest": ({}, {"min_samples_split": [2, 5, 10]}),
    "extra_trees": ({}, {"min_samples_split": [2, 5, 10]}),
    "neighbours": ({}, {"n_neighbors": [1, 3, 5, 9, 15, 25, 41], "weights": ["uniform", "distance"]}),
    "bayes": ({}, {"var_smoothing": [1e-9, 1e-3]}),
    "logistic": ({}, {"C": [0.01, 0.1, 1, 10]}),
}
WIDE: Grids = {  # the families of space=everything, with fewer settings each, since each is a fit
    "cart": ({}, {"max_depth": [3, 6, None], "min_samples_leaf": [1, 5]}),
    "forest": ({"n_estimators": 300}, {"max_features": ["sqrt", 0.4]}),
    "extra_trees": ({"n_estimators": 300}, {"min_samples_split": [2, 10]}),
    "neighbours": ({}, {"n_neighbors": [1, 5, 15, 41], "weights": ["uniform", "distance"]}),
    "bayes": ({}, {"var_smoothing": [1e-9, 1e-3]}),
    "logistic": ({}, {"C": [0.01, 0.1, 1, 10]}),
    "svm": ({}, {"C": [0.1, 1, 10, 100], "gamma": ["scale", 0.05]}),
    "mlp": ({}, {"hidden_layer_sizes": [(32,), (128,)], "alpha": [1e-4, 0.1]}),
    "boosting": ({"max_iter": 200}, {"learning_rate": [0.05, 0.15], "max_leaf_nodes": [7, 31]}),
    "lightgbm": ({"n_estimators": 200}, {"learning_rate": [0.05, 0.15], "num_leaves": [7, 31]}),
    "xgboost": ({"n_estimators": 200}, {"learning_rate": [0.05, 0.15], "max_depth": [3, 6]}),
    "catboost": ({"iterations": 200, "learning_rate": 0.1}, {"depth": [4, 6]}),
}


def flaml(X: pd.DataFrame, y: pd.Series, measure: str) -> Found:
    """FLAML for as many seconds as the default space took on average (20 without any figure)."""
    from flaml import AutoML

    like = {"method": "default", "measure": measure, "table": X.attrs["table"]}
    spent = [one.seconds for one in read() if like.items() <= asdict(one).items()]
    search, seconds = AutoML(), max(float(np.mean(spent)) if spent else 20.0, 3.0)
    metric = {"error": "accuracy", "log_loss": "log_loss"}[measure]
    with patch("time.time", time.process_time):
        search.fit(X, y, task="classification", metric=metric, time_budget=seconds, n_jobs=1, verbose=0, seed=0)
    return Found(search, float(search.best_loss), chosen=str(search.best_estimator))


def untuned(name: str) -> Method:
    """Return one estimator of another library as it comes."""

    def fit(X: pd.DataFrame, y: pd.Series, _: str) -> Found:
        classes, codes = np.unique(y.to_numpy(), return_inverse=True)
        return Found(Named(_pipeline(X, _named(name)).fit(X, codes), classes), chosen=name)

    return fit


UNTUNED = (
    "cart", "bayes", "neighbours", "logistic", "forest", "extra_trees", "boosting", "lightgbm", "xgboost", "catboost",
)  # fmt: skip
METHODS: Mapping[str, Method] = {  # cheap ones first
    "default": space("default"),
    **{name: untuned(name) for name in UNTUNED},
    "quickstart": space("quickstart"),
    "default_ensemble": space("default", "ensemble=greedy"),
    "FLAML": flaml,
    "GridSearchCV": grid_search(NARROW),
    "everything": space("everything"),
    "GridSearchCV_wide": grid_search(WIDE),
}
SINGLE = {"everything": "everything_single"}  # what the space would have chosen without its ensemble


class Named:
    """A fitted pipeline whose classes are numbers inside, as XGBoost wants them."""

    def __init__(self, pipeline: Any, classes: Any) -> None:
        self.pipeline, self.classes_ = pipeline, classes

    @available_if(lambda self: hasattr(self.pipeline, "predict_proba"))  # a support vector machine may have margins alone
    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.pipeline.predict_proba(X)

    def predict(self, X: pd.DataFrame) -> Any:
        return self.classes_[np.asarray(self.pipeline.predict(X)).ravel().astype(int)]


def _named(name: str) -> Any:
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree

    if name in BOOSTERS:
        library, kind, settings = BOOSTERS[name]
        return getattr(import_module(library), kind)(**settings)
    made: Mapping[str, Any] = {
        "cart": tree.DecisionTreeClassifier(random_state=0), "forest": ensemble.RandomForestClassifier(random_state=0),
        "extra_trees": ensemble.ExtraTreesClassifier(random_state=0), "neighbours": neighbors.KNeighborsClassifier(),
        "boosting": ensemble.HistGradientBoostingClassifier(random_state=0), "bayes": naive_bayes.GaussianNB(),
        "logistic": linear_model.LogisticRegression(max_iter=2000), "svm": svm.SVC(random_state=0),
        "mlp": neural_network.MLPClassifier(random_state=0),
    }  # fmt: skip
    return made[name]


BOOSTERS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "lightgbm": ("lightgbm", "LGBMClassifier", {"n_jobs": 1, "verbose": -1, "random_state": 0}),
    "xgboost": ("xgboost", "XGBClassifier", {"n_jobs": 1, "random_state": 0}),
    "catboost": ("catboost", "CatBoostClassifier", {
        "thread_count": 1, "verbose": False, "random_seed": 0, "allow_writing_files": False}),
}  # fmt: skip


def _pipeline(X: pd.DataFrame, model: Any) -> Any:
    """The steps that scikit-learn's users write: medians and standard deviations of numbers, columns of zeros and ones."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric = list(X.select_dtypes("number").columns)
    nominal = [column for column in X.columns if column not in numeric]
    steps = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
        ("names", make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)), nominal),
    ])  # fmt: skip
    return Pipeline([("columns", steps), ("model", model)])


class Environment:
    """Variables of the environment for a while."""

    def __init__(self, **values: str) -> None:
        self.values, self.before = values, {name: os.environ.get(name) for name in values}

    def __enter__(self) -> None:
        os.environ.update(self.values)

    def __exit__(self, *_: object) -> None:
        for name, value in self.before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def judged(name: str, split: int, measure: str, method: str) -> Iterator[Outcome]:
    """Let a method choose on 70 % of a table's rows, and ask its model about the others."""
    from sklearn.model_selection import train_test_split

    X, y = table(name)
    seen, unseen = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](X.iloc[seen], y.iloc[seen], measure)
        spent = time.process_time() - start - found.beside
        for each, called in ((found, method), (found.single or found, SINGLE.get(method))):
            if called:
                figures = _figures(each.model, X.iloc[unseen], y.iloc[unseen].to_numpy())
                told = (each.promise, each.low, each.high) if called == method else (None, None, None)
                yield Outcome(name, split, measure, called, *figures, *told, found.candidates, spent, each.chosen)


def _figures(model: Any, rest: pd.DataFrame, truth: Any) -> tuple[float, float, float, float, float]:
    """Return error, log loss, AUC of two classes, and standard errors of the first two; NaN where a model has no chances."""
    from sklearn.metrics import roc_auc_score

    wrong = np.asarray(model.predict(rest)).ravel().astype(str) != truth
    loss, area = np.full(len(truth), np.nan), np.nan
    if hasattr(model, "predict_proba"):
        classes, chances = np.asarray(model.classes_).astype(str), np.asarray(model.predict_proba(rest), np.float64)
        place = {label: i for i, label in enumerate(classes)}
        own = np.array([chances[i, place[label]] if label in place else 0.0 for i, label in enumerate(truth)])
        loss = -np.log(np.clip(own, SMALLEST, 1.0))
        area = roc_auc_score(truth == classes[1], chances[:, 1]) if len(classes) == 2 else np.nan
    spread = (float(each.std(ddof=1) / np.sqrt(len(truth))) for each in (wrong, loss))
    return float(wrong.mean()), float(loss.mean()), float(area), *spread  # type: ignore[return-value]


def read() -> list[Outcome]:
    """Every line that is on record; a line that was cut short is left out."""
    lines = STORE.read_text().splitlines() if STORE.exists() else []
    return [Outcome(**json.loads(line)) for line in lines if line.endswith("}")]


def compute(tables: Iterable[str], splits: int, measures: Iterable[str], methods: Iterable[str]) -> None:
    """Compute what is not on record, split after split and method after method: what is there covers all tables equally."""
    known = {one.key for one in read()}
    STORE.parent.mkdir(exist_ok=True)
    for split, method, name in product(range(splits), methods, tables):
        left = [measure for measure in measures if (name, split, measure, method) not in known]
        if left and method in UNTUNED:
            for outcome in judged(name, split, left[0], method):
                _append(*(replace(outcome, measure=measure) for measure in left))
        else:
            for measure in left:
                _append(*judged(name, split, measure, method))


def _append(*outcomes: Outcome) -> None:
    with STORE.open("a") as file:
        file.writelines(json.dumps(asdict(outcome)) + "\n" for outcome in outcomes)
    for one in outcomes:
        print(
            f"{one.table} {one.split} {one.measure} {one.method}: {one.truth:.4f}, {one.seconds:.1f} s, {one.chosen}",
            flush=True,
        )


def show(against: str, methods: Collection[str] = ()) -> str:
    """Means over tables, mean ranks with Nemenyi's critical difference, promise less truth, on splits that all methods have."""
    every = [one for one in read() if not methods or one.method in methods]
    return "\n".join(line for measure in MEASURES for line in _shown([one for one in every if one.measure == measure], against))


def _shown(found: list[Outcome], against: str) -> list[str]:
    methods = list(dict.fromkeys(one.method for one in found))
    by: dict[tuple[str, int], dict[str, Outcome]] = defaultdict(dict)
    for one in found:
        by[one.table, one.split][one.method] = one
    whole = {place: each for place, each in by.items() if len(each) == len(methods)}
    names = sorted({name for name, _ in whole})
    if not found:
        return []
    measure = found[0].measure
    if len(methods) < 2 or len(names) < 2:
        there = ", ".join(f"{name} {many}" for name, many in Counter(one.method for one in found).items())
        return [f"\n{measure}: no two tables have all of these methods; name some that they share with --methods ({there})"]
    ranks = friedman(np.array([[_over(whole, name, method, measure) for method in methods] for name in names]))
    difference = critical_difference(len(methods), len(names))
    order = np.argsort(ranks.ranks, kind="stable")
    lines = [_line(methods[place], whole, float(ranks.ranks[place]), against) for place in order]
    head = f"\n{measure}: {len(names)} tables, {len(whole)} splits of 30 % in all"
    return [head, HEAD, *lines, f"Friedman's F p = {ranks.f_p:.2g}; mean ranks apart by {difference:.2f} differ (Nemenyi, .05)"]


HEAD = (
    "| method | error | log loss | AUC | mean rank | promise − truth | held by interval | processor s | against |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def _over(whole: Mapping[tuple[str, int], Mapping[str, Outcome]], name: str, method: str, field: str) -> float:
    return float(np.mean([getattr(each[method], field) for (other, _), each in whole.items() if other == name]))


def _line(method: str, whole: Mapping[tuple[str, int], Mapping[str, Outcome]], rank: float, against: str) -> str:
    own = [each[method] for each in whole.values()]
    away = [one.promise - one.truth for one in own if one.promise is not None]
    told = [one.holds for one in own if one.holds is not None]
    bias = f"{np.mean(away):+.4f}" if away else "–"
    held = f"{np.mean(told):.0%}" if told else "–"
    paired = [(each[against].truth, each[method].truth) for each in whole.values() if against in each]
    won = f"{sum(b < a for a, b in paired)} better, {sum(b > a for a, b in paired)} worse" if method != against else ""
    areas = [one.auc for one in own if not np.isnan(one.auc)]
    figures = (np.mean([one.error for one in own]), np.mean([one.log_loss for one in own]), np.mean(areas) if areas else np.nan)
    cells = " | ".join("–" if np.isnan(one) else f"{one:.4f}" for one in figures)
    seconds = np.mean([one.seconds for one in own])
    return f"| {method} | {cells} | {rank:.2f} | {bias} | {held} | {seconds:.1f} | {won} |"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute what is not on record")
    run.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    run.add_argument("--splits", type=int, default=5)
    run.add_argument("--measures", nargs="+", default=MEASURES, choices=MEASURES)
    run.add_argument("--methods", nargs="+", default=[name for name in METHODS if name != "FLAML" or _flaml_is_here()])
    shown = commands.add_parser("show", help="print the tables")
    shown.add_argument("--against", default="default")
    shown.add_argument(
        "--methods", nargs="+", default=(), help="those alone, on all splits that they have (default: all methods)"
    )
    args = parser.parse_args(words)
    if args.command == "show":
        print(show(args.against, args.methods))
        return 0
    compute(args.tables, args.splits, args.measures, args.methods)
    print(show("default"))
    return 0


def _flaml_is_here() -> bool:
    from importlib.util import find_spec

    return find_spec("flaml") is not None


if __name__ == "__main__":
    sys.exit(main())
