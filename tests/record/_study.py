"""A finished study to record and to look at: real trees, neighbours and Bayes (scikit-learn's) on breast_cancer, ten folds."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from modelsel.core.fingerprint import digest
from modelsel.core.outcome import CorrectedFacts, StudySummary, TestResult
from modelsel.core.selection import Assessed, Losses, Selection
from modelsel.core.types import Candidate, Feature, Fold, Resampling, Scoreboard, Task
from modelsel.record.documents import PairFacts
from modelsel.record.facts import StudyRecord


@dataclass(frozen=True)
class Stopping:
    """A nested record of parameters."""

    nested = True
    min_leaf: int = 1


@dataclass(frozen=True)
class Cart:
    kind = "tree"
    max_depth: int | None = None
    criterion: str = "gini"
    stop: Stopping = Stopping()

    def fitted(self):
        return DecisionTreeClassifier(
            criterion=self.criterion, max_depth=self.max_depth, min_samples_leaf=self.stop.min_leaf, random_state=0
        )


@dataclass(frozen=True)
class Near:
    kind = "knn"
    k: int = 1
    vote: str = "uniform"

    def fitted(self):
        return KNeighborsClassifier(self.k, weights="distance" if self.vote == "inverse" else "uniform")


@dataclass(frozen=True)
class Bayes:
    kind = "naive_bayes"
    smoothing: float = 1e-9

    def fitted(self):
        return GaussianNB(var_smoothing=self.smoothing)


def space() -> list[Candidate]:
    depths = (1, 2, 3, 5, None)
    trees = [Cart(depth, c, Stopping(leaf)) for c in ("gini", "entropy") for depth in depths for leaf in (1, 5, 20)]
    near = [Near(k, vote) for k in range(1, 20, 2) for vote in ("uniform", "inverse")]
    bayes = [Bayes(10.0**-e) for e in range(1, 6)]
    named = {"tree": "cart", "knn": "knn", "naive_bayes": "naive_bayes"}
    return [Candidate(spec, entry=named[spec.kind]) for spec in [*trees, *near, *bayes]]


def task() -> Task:
    table = load_breast_cancer()
    features = tuple(Feature(str(name), "numeric") for name in table.feature_names)
    rows = np.random.default_rng(0).permutation(len(table.target))[:398]
    return Task(name="breast_cancer", features=features, values=np.asfortranarray(table.data[rows]), rows=rows.astype(np.int64),
                classes=tuple(map(str, table.target_names)), target=table.target[rows].astype(np.int32))  # fmt: skip


def resampling(data: Task) -> Resampling:
    parts = StratifiedKFold(10, shuffle=True, random_state=0).split(data.values, data.target)
    return Resampling("stratified_kfold", data.fingerprint, tuple(Fold(i, 0, a, b) for i, (a, b) in enumerate(parts)))


@lru_cache(maxsize=1)
def finished() -> StudyRecord:
    with threadpool_limits(1):
        return _computed()


def _computed() -> StudyRecord:
    data = task()
    parts, candidates = resampling(data), space()
    predicted = np.full((len(candidates), len(data)), -1, np.int32)
    scores = np.full((len(candidates), len(data), 2), np.nan)
    size, training = np.zeros((2, len(candidates), 10))
    for i, candidate in enumerate(candidates):
        for j, fold in enumerate(parts.folds):
            model = candidate.learner.fitted().fit(data.values[fold.analysis], data.target[fold.analysis])
            scores[i, fold.assessment] = model.predict_proba(data.values[fold.assessment])
            predicted[i, fold.assessment] = model.predict(data.values[fold.assessment])
            size[i, j] = model.get_n_leaves() if hasattr(model, "get_n_leaves") else len(fold.analysis)
            training[i, j] = 1 - model.score(data.values[fold.analysis], data.target[fold.analysis])
    return assemble(data, parts, candidates, predicted, scores, size.mean(1), training.mean(1))


def assemble(data, parts, candidates, predicted, scores, complexity, training) -> StudyRecord:
    losses = (predicted != data.target).astype(np.float64)
    folds = np.stack([losses[:, fold.assessment].mean(1) for fold in parts.folds], axis=1)
    status = ["ok"] * len(candidates)
    reasons = [""] * len(candidates)
    eligible = np.ones(len(candidates), bool)
    for index, (state, reason) in {
        7: ("timeout", "stopped after 1 s"),
        48: ("skipped", "k = 19 is more than the rows"),
    }.items():
        status[index], reasons[index], eligible[index] = state, reason, False
        folds[index, 3:] = np.nan
    mean = np.where(eligible, folds.mean(1), np.nan)
    board = Scoreboard(tuple(c.id for c in candidates), folds, mean, losses.std(1) / np.sqrt(len(data)), complexity,
                       tuple("leaves" if c.entry == "cart" else "stored rows" for c in candidates), eligible)  # fmt: skip
    winner = int(np.lexsort((complexity, board.cost))[0])
    best = [winner, *_best_of_others(candidates, board, winner)]
    number = np.zeros(len(data), np.int64)
    for j, fold in enumerate(parts.folds):
        number[fold.assessment] = j
    selection = Selection(
        candidates=tuple(candidates),
        status=tuple(status),
        reasons=tuple(reasons),
        board=board,
        means={"training_error": training},
        losses=Losses(losses.T.astype(np.float32), number[:, None], data.rows, board.ids),
        assessed=Assessed(tuple(board.ids[i] for i in best), data.target, predicted[best], scores[best]),
        winner=winner,
        indistinguishable=tuple(int(i) for i in np.argsort(board.cost, kind="stable")[1:9]),
        corrected=CorrectedFacts(method="bbc", mean=float(mean[winner]) + 0.008, low=float(mean[winner]) - 0.012,
                                 high=float(mean[winner]) + 0.031),
    )  # fmt: skip
    pairs = tuple(
        PairFacts(first=board.ids[winner], second=board.ids[i], difference=(by := float(mean[i] - mean[winner])),
                  low=by - 0.02, high=by + 0.03, p=0.03, adjusted=0.06, method="corrected resampled t")
        for i in best[1:]
    )  # fmt: skip
    return StudyRecord(outcome(data, parts, selection), selection, CONFIG, data, parts, audit=AUDIT, pairs=pairs,
                    command=("modelsel", "run", "dataset=breast_cancer", "space=[cart,knn,naive_bayes]"))  # fmt: skip


def _best_of_others(candidates, board, winner):
    for entry in dict.fromkeys(c.entry for c in candidates):
        if entry != candidates[winner].entry:
            yield min((i for i, c in enumerate(candidates) if c.entry == entry), key=lambda i: board.cost[i])


def outcome(data: Task, parts: Resampling, selection: Selection) -> StudySummary:
    board, winner = selection.board, selection.winner
    candidate = selection.candidates[winner]
    return StudySummary(
        schema=1, folder="",
        study="breast_cancer-quick",
        spec_id=digest("a study"),
        seed=0,
        task={"name": data.name, "rows": 569, "development_rows": len(data), "test_rows": 171, "features": len(data.features),
              "kind": "classes", "classes": list(data.classes), "fingerprint": data.fingerprint},
        scheme={"name": parts.scheme, "folds": 10, "fingerprint": parts.fingerprint},
        measure="error",
        rule="best",
        candidates={"declared": len(selection.candidates) + 2, "distinct": len(selection.candidates),
                    "ok": selection.status.count("ok"), "failed": selection.status.count("timeout"),
                    "skipped": selection.status.count("skipped")},
        fits={"needed": 131, "naive": len(selection.candidates) * 10 + 1},
        winner={"id": candidate.id, "learner": candidate.entry, "entry": candidate.entry, "parameters": candidate.parameters,
                "complexity": {"name": board.unit[winner], "value": float(board.complexity[winner])},
                "cv": {"mean": float(board.mean[winner]), "se": float(board.se[winner]), "folds": board.folds[winner].tolist()},
                "corrected": selection.corrected, "measures": {}, "every_best": None,
                "indistinguishable": [board.ids[i] for i in selection.indistinguishable]},
        test=TestResult(score=7 / 171, errors=7, n=171, look=1, replay=False, price=3.21, spent=0.0, interval=(0.0142, 0.0934),
                        level=0.95, policy="warn", release="predicted"),
        failures=tuple({"id": board.ids[i], "status": s, "reason": selection.reasons[i]}
                       for i, s in enumerate(selection.status) if s != "ok"),
        seconds={"total": 4.31, "select": 3.62, "final": 0.05, "record": 0.6},
        modelsel="0.1.0",
        findings=(
            {"code": "WIDE_TEST", "severity": "medium", "message": "171 test rows cannot tell scores apart that differ by less "
             "than 4 percentage points", "do": "declare a larger split.test, or read the interval and not the number"},
            {"code": "CORRELATED", "severity": "info", "message": "mean radius and mean perimeter are nearly the same column",
             "do": "no harm for trees; k-NN counts them twice"},
        ),
    )  # fmt: skip


CONFIG = {
    "seed": 0,
    "dataset": {"kind": "breast_cancer"},
    "scheme": {"kind": "stratified_kfold", "folds": 10},
    "split": {"kind": "random", "test": 0.3, "seed": 0},
    "tracking": {"kind": "sqlite", "uri": None},
}


def audited(ledger: dict[str, Any], look: dict[str, Any], rows: int, then: dict[str, Any]) -> dict[str, Any]:
    """An audit of one test set with one look."""
    entry = {
        "seq": 3,
        "replica": "r",
        "at": "2026-11-20T11:00:00Z",
        "spec_id": "ab",
        "user": None,
        "host": None,
        "folder": None,
    }
    whole = {**entry, "look": 1, "replay": False, "status": "revealed", "errors": None, "spent": 0.0, "changes": [], **look}
    test_set = {"id": "5d0c2f", "rows": rows, "looks": [whole], "sealed": {}, "policies": [], "refusals": [], "studies": 1,
                "candidates": 1, "choices": None, "siblings": [], "next": then, "budget": None,
                "spent": look["price"]}  # fmt: skip
    return {"state": "warn", "ledger": ledger, "test_sets": [test_set], "flags": [], "next": then}


AUDIT = audited(
    {"url": "sqlite:////home/someone/.local/share/modelsel/ledger.db", "entries": 4, "intact": True, "head": "a3:4:9f2c"},
    {"study": "breast_cancer-quick", "score": 7 / 171, "errors": 7, "interval": [0.0142, 0.0934], "price": 3.21,
     "overlap": [], "flags": []},
    rows=171, then={"look": 2, "release": "predicted", "price": 5.15, "interval": [0.0089, 0.121]},
)  # fmt: skip
