"""What somebody gets who declares nothing, judged on rows that no method saw: `python -m benchmarks.defaults`.

    python -m benchmarks.defaults [run] [--minutes 90] [--tables heart_c vote] [--splits 5] [--methods default forest]
    python -m benchmarks.defaults show [--against default] [--methods default forest]

Twenty tables and five splits, and in ninety minutes on two cores what can be had of them: cheap methods on all splits, then the
dear ones table by table on the first split, on the next, and so on. Each split holds 30 % of a table back, by class. A method
chooses and fits on the rest, one worker; error, log loss and AUC are those of its model on the rows held back, and `promise`
is the corrected score (of the searches of others the best mean of their folds, which is all they say). A line per table,
split, measure and method goes to runs/defaults.jsonl; what stands there is not computed again.
An estimator as it comes asks no measure and is fitted once for all of them. FLAML's clock is the processor's, as ours is. An
interval is of the mean over all rows, and the truth a mean over few: it holds where the two are no further apart than the
standard errors of both allow.
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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import chdir
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pandas as pd

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
            won = done.winner
            corrected = cast(Mapping[str, float], won.get("corrected") or {})
            start, single = time.process_time(), _best_single(done) if won.get("entry") == "ensemble" else None
            beside, chosen = time.process_time() - start, f"{won.get('entry')} {won['id'][:8]}"
            return Found(
                done.model, corrected.get("mean"), corrected.get("low"), corrected.get("high"), done.candidates["distinct"],
                chosen, single, beside,
            )  # fmt: skip

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
    like = {"method": "default", "measure": measure, "table": X.attrs["table"]}
    spent = [one.seconds for one in read() if like.items() <= asdict(one).items()]
    search, seconds = import_module("flaml").AutoML(), max(float(np.mean(spent)) if spent else 20.0, 3.0)
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
DEAR = ("FLAML", "GridSearchCV", "everything", "GridSearchCV_wide", "catboost")  # after all others
USUAL = ("default", *UNTUNED, "FLAML", "everything", "GridSearchCV_wide")  # of whom the goals speak
LAST = 5  # minutes before the end in which nothing is begun: the longest answer takes as long
SINGLE = {"everything": "everything_single"}  # what the space would have chosen without its ensemble


class Named:
    """A fitted pipeline whose classes are numbers inside, as XGBoost wants them."""

    def __init__(self, pipeline: Any, classes: Any) -> None:
        self.pipeline, self.classes_ = pipeline, classes

    def __getattr__(self, name: str) -> Any:  # predict_proba, but of a support vector machine that has margins alone
        return getattr(self.pipeline, name)

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


@dataclass(frozen=True)
class Question:
    """What is asked of one method on one split of one table; an estimator as it comes answers for all measures at once."""

    table: str
    split: int
    method: str
    measures: tuple[str, ...]

    def answer(self) -> None:
        """Compute what it asks, and write it down."""
        if self.method not in UNTUNED:
            for measure in self.measures:
                _append(*judged(self.table, self.split, measure, self.method))
            return
        for outcome in judged(self.table, self.split, self.measures[0], self.method):
            _append(*(replace(outcome, measure=measure) for measure in self.measures))


def questions(tables: Sequence[str], splits: int, measures: Sequence[str], methods: Collection[str]) -> list[Question]:
    """What is not on record: cheap methods on all splits, then table by table the dear ones on the first split, and so on.

    Whenever it is stopped, the tables that a dear method has are those that the others have too: those of few seconds.
    """
    known, cost = {one.key for one in read()}, defaultdict[str, float](float)
    for one in read():
        cost[one.table] += one.seconds if one.method == "default" else 0.0
    cheap, dear = ([name for name in METHODS if name in methods and (name in DEAR) == dear] for dear in (False, True))
    short = sorted(tables, key=lambda name: cost[name])
    order = [(split, name, method) for split, method, name in product(range(splits), cheap, tables)]
    order += product(range(splits), short, dear)
    return [
        Question(name, split, method, left)
        for split, name, method in order
        if (left := tuple(each for each in measures if (name, split, each, method) not in known))
    ]  # fmt: skip


def compute(asked: Sequence[Question], minutes: float, workers: int) -> int:
    """Answer in processes of their own, in this order, and begin none in the last minutes; return how many are left."""
    STORE.parent.mkdir(exist_ok=True)
    ends, waiting, busy = time.monotonic() + 60 * (minutes - LAST), list(reversed(asked)), set[Future[None]]()
    with Environment(OMP_NUM_THREADS="1"), ProcessPoolExecutor(workers, get_context("spawn"), initializer=_warm_up) as pool:
        while (waiting and time.monotonic() < ends) or busy:
            while waiting and len(busy) < workers and time.monotonic() < ends:
                busy.add(pool.submit(waiting.pop().answer))
            done, busy = wait(busy, return_when=FIRST_COMPLETED)
            for each in done:
                each.result()
    return len(waiting)


def _warm_up() -> None:
    """Import and compile before anything is timed."""
    X, y = table("iris")
    for name in UNTUNED:
        _named(name)
    space("default")(X, y, "error")


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
    parser.add_argument("command", nargs="?", default="run", choices=("run", "show"), help="compute, or print what is there")
    parser.add_argument("--minutes", type=float, default=90.0, help="after which it ends; what is left waits for the next call")
    parser.add_argument("--workers", type=int, default=2, help="processes, a core each")
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--measures", nargs="+", default=MEASURES, choices=MEASURES)
    parser.add_argument("--methods", nargs="+", default=(), choices=list(METHODS), help="those alone")
    parser.add_argument("--against", default="default", help="whom the others are set beside in the table")
    args = parser.parse_args(words)
    if args.command == "run":
        methods = args.methods or [name for name in USUAL if name != "FLAML" or _flaml_is_here()]
        asked = questions(args.tables, args.splits, args.measures, methods)
        print(f"{len(asked)} of {len(args.tables) * args.splits * len(methods)} questions are open: {args.minutes:g} minutes "
              f"on {args.workers} processes, {LAST} of them for what was begun", flush=True)  # fmt: skip
        left = compute(asked, args.minutes, args.workers)
        print(f"{left} are left: the same command goes on with them" if left else "all are answered")
    for methods in [args.methods] if args.methods else (("default", *UNTUNED), USUAL):
        print(show(args.against, methods))
    return 0


def _flaml_is_here() -> bool:
    from importlib.util import find_spec

    return find_spec("flaml") is not None


if __name__ == "__main__":
    sys.exit(main())
