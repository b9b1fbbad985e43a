"""What somebody gets who declares nothing, judged on rows that no method saw: `python -m benchmarks.everyday.defaults`.

    python -m benchmarks.everyday.defaults run [--tables heart_c vote] [--splits 5] [--methods default forest]
    python -m benchmarks.everyday.defaults show [--against default]

Each split holds 30 % of a table back, by class. A method chooses and fits on the rest, one worker; error, log loss and AUC are
those of its model on the rows held back, and `promise` is the corrected score (of the searches of others the best mean of their
folds, which is all they say). A line per table, split, measure and method goes to runs/defaults.jsonl; what stands there is not
computed again. Nothing is looked at through a ledger: the tables are public, and the figures judge modelsel, not a model.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import chdir
from dataclasses import asdict, dataclass
from typing import Any

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
SCORING = {"error": "accuracy", "log_loss": "neg_log_loss"}
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


@dataclass(frozen=True, eq=False)
class Found:
    """A fitted model with what its method says it is worth; `promise` and its ends are in the measure's own sign."""

    model: Any
    promise: float | None = None
    low: float | None = None
    high: float | None = None
    candidates: int = 1
    chosen: str = ""


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
            chosen = f"{won.get('entry')} {won['id'][:8]}"
            return Found(done.model, *ends, candidates=done.candidates["distinct"], chosen=chosen)

    return fit


TARGET = "the class"


def untuned(name: str) -> Method:
    """One estimator of another library as it comes."""

    def fit(X: pd.DataFrame, y: pd.Series, _: str) -> Found:
        return Found(_pipeline(X, _named(name)).fit(X, y), chosen=name)

    return fit


def grid_search(X: pd.DataFrame, y: pd.Series, measure: str) -> Found:
    """GridSearchCV over the same families as the default space: trees, forests, neighbours, Bayes, a logistic regression."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    best, tried = None, 0
    for name, grid in GRIDS.items():
        search = GridSearchCV(
            _pipeline(X, _named(name)), {f"model__{key}": values for key, values in grid.items()}, scoring=SCORING[measure],
            cv=StratifiedKFold(10, shuffle=True, random_state=0), error_score=np.nan,
        ).fit(X, y)  # fmt: skip
        tried += len(search.cv_results_["params"])
        best = search if best is None or search.best_score_ > best.best_score_ else best
    assert best is not None
    score = float(best.best_score_)
    promise = 1 - score if measure == "error" else -score
    return Found(best.best_estimator_, promise, candidates=tried, chosen=str(best.best_estimator_[-1]))


GRIDS: Mapping[str, Mapping[str, list[Any]]] = {
    "cart": {"max_depth": [1, 2, 3, 4, 6, 8, None], "min_samples_leaf": [1, 5]},
    "forest": {"min_samples_split": [2, 5, 10]},
    "extra_trees": {"min_samples_split": [2, 5, 10]},
    "neighbours": {"n_neighbors": [1, 3, 5, 9, 15, 25, 41], "weights": ["uniform", "distance"]},
    "bayes": {"var_smoothing": [1e-9, 1e-3]},
    "logistic": {"C": [0.01, 0.1, 1, 10]},
}


def flaml(X: pd.DataFrame, y: pd.Series, measure: str) -> Found:
    """FLAML for as many seconds as the default space took on average (20 without any figure)."""
    from flaml import AutoML

    like = {"method": "default", "measure": measure, "table": X.attrs["table"]}
    spent = [one.seconds for one in read() if like.items() <= asdict(one).items()]
    search, seconds = AutoML(), max(float(np.mean(spent)) if spent else 20.0, 3.0)
    metric = {"error": "accuracy", "log_loss": "log_loss"}[measure]
    search.fit(X, y, task="classification", metric=metric, time_budget=seconds, n_jobs=1, verbose=0, seed=0)
    return Found(search, float(search.best_loss), chosen=str(search.best_estimator))


METHODS: Mapping[str, Method] = {
    "default": space("default"),
    "default_ensemble": space("default", "ensemble=greedy"),
    "quickstart": space("quickstart"),
    "everything": space("everything"),
    "GridSearchCV": grid_search,
    "FLAML": flaml,
    "forest": untuned("forest"),
    "boosting": untuned("boosting"),
}


def _named(name: str) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    made: Mapping[str, Any] = {
        "cart": DecisionTreeClassifier(random_state=0), "forest": RandomForestClassifier(random_state=0),
        "extra_trees": ExtraTreesClassifier(random_state=0), "boosting": HistGradientBoostingClassifier(random_state=0),
        "neighbours": KNeighborsClassifier(), "bayes": GaussianNB(), "logistic": LogisticRegression(max_iter=2000),
    }  # fmt: skip
    return made[name]


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


def judged(name: str, split: int, measure: str, method: str) -> Outcome:
    """Let a method choose on 70 % of a table's rows, and ask its model about the others."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split

    X, y = table(name)
    seen, unseen = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](X.iloc[seen], y.iloc[seen], measure)
        spent = time.process_time() - start
        rest, truth = X.iloc[unseen], y.iloc[unseen].to_numpy()
        classes = np.asarray(found.model.classes_).astype(str)
        chances = np.asarray(found.model.predict_proba(rest), np.float64)
        wrong = np.asarray(found.model.predict(rest)).ravel().astype(str) != truth
    place = {label: i for i, label in enumerate(classes)}
    own = np.array([chances[i, place[label]] if label in place else 0.0 for i, label in enumerate(truth)])
    loss = -np.log(np.clip(own, SMALLEST, 1.0))
    two = len(classes) == 2
    areas = roc_auc_score(truth == classes[1], chances[:, 1]) if two else np.nan
    return Outcome(
        name, split, measure, method, float(wrong.mean()), float(loss.mean()), float(areas), found.promise, found.low,
        found.high, found.candidates, spent, found.chosen,
    )  # fmt: skip


def read() -> list[Outcome]:
    """Every line that is on record; a line that was cut short is left out."""
    lines = STORE.read_text().splitlines() if STORE.exists() else []
    return [Outcome(**json.loads(line)) for line in lines if line.endswith("}")]


def compute(tables: Iterable[str], splits: int, measures: Iterable[str], methods: Iterable[str]) -> None:
    """Compute what is not on record, split after split, so that what is there covers all tables equally."""
    known = {one.key for one in read()}
    STORE.parent.mkdir(exist_ok=True)
    for split in range(splits):
        for name in tables:
            for measure in measures:
                for method in methods:
                    if (name, split, measure, method) not in known:
                        _append(judged(name, split, measure, method))


def _append(outcome: Outcome) -> None:
    with STORE.open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")
    print(f"{outcome.table} {outcome.split} {outcome.measure} {outcome.method}: {outcome.truth:.4f}, {outcome.seconds:.1f} s, "
          f"{outcome.chosen}", flush=True)  # fmt: skip


def show(against: str) -> str:
    """Means over tables of what all methods have, mean ranks with Nemenyi's critical difference, promise less truth."""
    said = []
    for measure in MEASURES:
        found = [one for one in read() if one.measure == measure]
        methods = list(dict.fromkeys(one.method for one in found))
        by: dict[tuple[str, int], dict[str, Outcome]] = defaultdict(dict)
        for one in found:
            by[one.table, one.split][one.method] = one
        whole = {place: each for place, each in by.items() if len(each) == len(methods)}
        names = sorted({name for name, _ in whole})
        if len(methods) < 2 or not names:
            continue
        means = {method: [_over(whole, name, method, measure) for name in names] for method in methods}
        ranks = friedman(np.array(list(means.values())).T) if len(names) > 1 else None
        said += [f"\n{measure}: {len(names)} tables, {len(whole)} splits of 30 % in all", HEAD]
        for i, method in enumerate(methods):
            said.append(_line(method, whole, i, ranks, against))
        if ranks is not None:
            difference = critical_difference(len(methods), len(names))
            said.append(f"Friedman's F p = {ranks.f_p:.2g}; mean ranks apart by {difference:.2f} differ (Nemenyi, .05)")
    return "\n".join(said)


HEAD = (
    "| method | error | log loss | AUC | mean rank | promise − truth | held by interval | processor s | against |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def _over(whole: Mapping[tuple[str, int], Mapping[str, Outcome]], name: str, method: str, field: str) -> float:
    return float(np.mean([getattr(each[method], field) for (other, _), each in whole.items() if other == name]))


def _line(method: str, whole: Mapping[tuple[str, int], Mapping[str, Outcome]], place: int, ranks: Any, against: str) -> str:
    """Write the line of a method."""
    own = [each[method] for each in whole.values()]
    promised = [one for one in own if one.promise is not None]
    told = [one for one in own if one.low is not None and one.high is not None]
    bias = f"{np.mean([one.promise - one.truth for one in promised]):+.4f}" if promised else "–"  # type: ignore[operator]
    held = f"{np.mean([one.low <= one.truth <= one.high for one in told]):.0%}" if told else "–"  # type: ignore[operator]
    paired = [(each[against].truth, each[method].truth) for each in whole.values() if against in each]
    won = f"{sum(b < a for a, b in paired)} better, {sum(b > a for a, b in paired)} worse" if method != against else ""
    figures = (np.nanmean([getattr(one, name) for one in own]) for name in ("error", "log_loss", "auc"))
    rank = f"{ranks.ranks[place]:.2f}" if ranks is not None else "–"
    seconds = np.mean([one.seconds for one in own])
    return f"| {method} | {' | '.join(f'{one:.4f}' for one in figures)} | {rank} | {bias} | {held} | {seconds:.1f} | {won} |"


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
    args = parser.parse_args(words)
    if args.command == "show":
        print(show(args.against))
        return 0
    compute(args.tables, args.splits, args.measures, args.methods)
    print(show("default"))
    return 0


def _flaml_is_here() -> bool:
    from importlib.util import find_spec

    return find_spec("flaml") is not None


if __name__ == "__main__":
    sys.exit(main())
