"""Presets of other libraries beside the libraries' own defaults: `python -m benchmarks.learners.presets`.

    python -m benchmarks.learners.presets run [--tables heart_c sonar] [--splits 2]
    python -m benchmarks.learners.presets show

Each split holds 30 % of a table back, by class; a classifier with fixed settings is fitted on the rest, columns coded as the
preset codes them, and asked about the rows held back. A line per table, split and settings goes to runs/presets.jsonl; what
stands there is not computed again. Mean ranks are over tables, within a library.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.common.places import ROOT
from benchmarks.common.tables import table
from modelsel.statistics.ranks import friedman

STORE = ROOT / "runs" / "presets.jsonl"
TABLES = (
    "breast_w", "car", "cmc", "credit_g", "diabetes_pima", "glass", "heart_c", "ionosphere", "sonar", "tic_tac_toe", "vehicle",
    "vote",
)  # fmt: skip
SAMPLED = {"subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8}
CATBOOST = {"iterations": 200, "learning_rate": 0.1, "depth": 6, "leaf_estimation_iterations": 10}
SMALL_STEPS = {"learning_rate": 0.03, "leaf_estimation_iterations": 1}
SLOW = {"learning_rate": 0.05, "n_estimators": 200}
LIBRARIES: Mapping[str, tuple[str, Mapping[str, Mapping[str, Any]]]] = {
    "lightgbm": (
        "lightgbm",
        {
            "library": {},
            "sampled": SAMPLED,
            "sampled, slow": {**SAMPLED, **SLOW},
            "sampled, small leaves": {**SAMPLED, "min_child_samples": 5},
            "small leaves": {"min_child_samples": 5},
            "sampled, slow, 15 leaves of 5": {**SAMPLED, **SLOW, "num_leaves": 15, "min_child_samples": 5},
            "sampled, slow, 15 leaves of 10": {**SAMPLED, **SLOW, "num_leaves": 15, "min_child_samples": 10},
        },
    ),
    "xgboost": (
        "xgboost",
        {
            "library": {"learning_rate": 0.3},
            "rate of 0.1": {},
            "sampled": {"subsample": 0.8, "colsample_bytree": 0.8},
            "sampled, slow": {"subsample": 0.8, "colsample_bytree": 0.8, "learning_rate": 0.05, "n_estimators": 200},
            "sampled, slow, 4 deep": {
                "subsample": 0.8, "colsample_bytree": 0.8, "learning_rate": 0.05, "n_estimators": 200, "max_depth": 4,
            },
        },
    ),
    "svm": ("svm", {"library": {}, "platt": {"calibrator": "platt"}, "C=10": {"C": 10.0}}),
    "catboost": (
        "catboost",
        {
            "library": {},
            "200 rounds, rate 0.1, ten steps": CATBOOST,
            "the same, depth 4": {**CATBOOST, "depth": 4},
            "the same, one step": {**CATBOOST, "leaf_estimation_iterations": 1},
            "500 rounds, rate 0.03, one step": {**CATBOOST, "iterations": 500, **SMALL_STEPS},
            "300 rounds, rate 0.03, one step": {**CATBOOST, "iterations": 300, **SMALL_STEPS},
            "500 rounds": {"iterations": 500},
            "200 rounds, one step": {"iterations": 200, "leaf_estimation_iterations": 1},
        },
    ),
    "mlp": ("mlp", {"library": {}, "preset": {}, "stops early": {"hidden_layer_sizes": [64], "early_stopping": True}}),
}  # fmt: skip


AS_IT_COMES: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {}, "xgboost": {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 6}, "svm": {},
    "catboost": {}, "mlp": {},
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """What one setting reached on the rows that a split held back; log loss is NaN where it says no chances."""

    library: str
    settings: str
    table: str
    split: int
    error: float
    log_loss: float
    seconds: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.library, self.settings, self.table, self.split


def made(library: str, settings: str) -> Any:
    """The classifier of a library with these settings over its own defaults; columns are coded as the preset codes them."""
    import modelsel
    from modelsel.config.folders import Folders

    learner, each = LIBRARIES[library]
    asked = dict(each[settings])
    calibrator = asked.pop("calibrator", "none")
    file: Any = Folders.of().read("learner", learner)
    params = file["params"] if settings == "preset" else {**AS_IT_COMES[library], **asked}
    return modelsel.classifier({**file, "params": params, "calibrator": calibrator})


def judged(library: str, settings: str, name: str, split: int) -> Line:
    """Fit on 70 % of a table, and ask about the others."""
    from sklearn.model_selection import train_test_split

    X, y = table(name)
    seen, unseen = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    truth, start = y.iloc[unseen].to_numpy(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(library, settings).fit(X.iloc[seen], y.iloc[seen])
        spent, loss = time.process_time() - start, np.nan
        wrong = np.asarray(model.predict(X.iloc[unseen])).astype(str) != truth
        if model.scores_are == "probabilities":
            place = {label: i for i, label in enumerate(np.asarray(model.classes_).astype(str))}
            chances = np.asarray(model.predict_proba(X.iloc[unseen]), np.float64)
            own = np.array([chances[i, place[label]] for i, label in enumerate(truth)])
            loss = float(-np.log(np.clip(own, 1e-15, 1.0)).mean())
    return Line(library, settings, name, split, float(wrong.mean()), loss, spent)


def read() -> list[Line]:
    """Every line that is on record; a line that was cut short is left out."""
    lines = STORE.read_text().splitlines() if STORE.exists() else []
    return [Line(**json.loads(line)) for line in lines if line.endswith("}")]


def compute(libraries: Iterable[str], tables: Iterable[str], splits: int) -> None:
    """Compute what is not on record, split after split."""
    known = {line.key for line in read()}
    STORE.parent.mkdir(exist_ok=True)
    for split in range(splits):
        for name in tables:
            for library in libraries:
                for settings in LIBRARIES[library][1]:
                    if (library, settings, name, split) not in known:
                        line = judged(library, settings, name, split)
                        with STORE.open("a") as file:
                            file.write(json.dumps(asdict(line)) + "\n")
                        print(line, flush=True)


def show() -> str:
    """Per library and settings means over tables and splits, and mean ranks over tables."""
    said = []
    for library, (_, each) in LIBRARIES.items():
        own = [line for line in read() if line.library == library]
        names = [name for name in TABLES if _whole(own, name, each)]
        if not names:
            continue
        said.append(f"\n{library}: {len(names)} tables, {len({line.split for line in own})} splits\n" + HEAD)
        errors, losses = (np.array([[_mean(own, name, one, what) for one in each] for name in names]) for what in MEASURED)
        ranks = [friedman(found).ranks if len(names) > 1 and np.isfinite(found).all() else None for found in (errors, losses)]
        for place, one in enumerate(each):
            first, second = ("–" if rank is None else f"{rank[place]:.2f}" for rank in ranks)
            spent = np.mean([line.seconds for line in own if line.settings == one])
            figures = f"{errors[:, place].mean():.4f} | {first} | {losses[:, place].mean():.4f} | {second}"
            said.append(f"| {one} | {figures} | {spent:.2f} |")
    return "\n".join(said)


MEASURED = ("error", "log_loss")
HEAD = "| settings | error | mean rank | log loss | mean rank | processor s |\n|---|---|---|---|---|---|"


def _whole(own: Iterable[Line], name: str, each: Mapping[str, Any]) -> bool:
    return {line.settings for line in own if line.table == name} == set(each)


def _mean(own: Iterable[Line], name: str, settings: str, what: str) -> float:
    return float(np.mean([getattr(line, what) for line in own if (line.table, line.settings) == (name, settings)]))


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute what is not on record")
    run.add_argument("--libraries", nargs="+", default=LIBRARIES, choices=LIBRARIES)
    run.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    run.add_argument("--splits", type=int, default=2)
    commands.add_parser("show", help="print the tables")
    args = parser.parse_args(words)
    if args.command == "run":
        compute(args.libraries, args.tables, args.splits)
    print(show())
    return 0


if __name__ == "__main__":
    sys.exit(main())
