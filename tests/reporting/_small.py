"""A study of four candidates on ten rows whose every number is written here."""

from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.outcome import StudySummary, TestResult
from modelsel.core.selection import Assessed, Losses, Selection
from modelsel.core.types import Candidate, Feature, Fold, Resampling, Scoreboard, Task
from modelsel.record.documents import PairFacts
from modelsel.record.facts import StudyRecord
from tests.record._study import audited


@dataclass(frozen=True)
class Tree:
    kind = "tree"
    max_depth: int | None = None
    min_leaf: float = 2.0


@dataclass(frozen=True)
class Knn:
    kind = "knn"
    k: int = 1


def finished() -> StudyRecord:
    candidates = (Candidate(Tree(2), entry="cart"), Candidate(Tree(None), entry="cart"), Candidate(Knn(3), entry="knn"),
                  Candidate(Knn(99), entry="knn"))  # fmt: skip
    folds = np.array([[0.1, 0.2], [0.1, 0.3], [0.2, 0.3], [np.nan, np.nan]])
    board = Scoreboard(tuple(c.id for c in candidates), folds, folds.mean(1), np.array([0.05, 0.06, 0.07, np.nan]),
                       np.array([3.0, 7.5, 5.0, np.nan]), ("leaves", "leaves", "stored rows", "stored rows"),
                       np.array([True, True, True, False]))  # fmt: skip
    truth = np.array([0, 1] * 5, np.int32)
    predicted = np.stack([truth, np.where(np.arange(10) < 3, 0, truth)]).astype(np.int32)
    features = (Feature("width", "numeric"), Feature("colour", "nominal", ("red", "green")))
    values = np.column_stack([np.arange(10) / 4, np.tile([0, 1, 1, 0, np.nan], 2)])
    task = Task(name="small", features=features, values=np.asfortranarray(values), rows=np.arange(10, dtype=np.int64),
                classes=("no", "yes"), target=truth)  # fmt: skip
    rows = np.arange(10)
    parts = Resampling("kfold", task.fingerprint, (Fold(0, 0, rows[5:], rows[:5]), Fold(1, 0, rows[:5], rows[5:])))
    selection = Selection(
        candidates=candidates,
        status=("ok", "ok", "ok", "skipped"),
        reasons=("", "", "", "k = 99 is more than the rows"),
        board=board,
        means={"training_error": np.array([0.1, 0.0, np.nan, np.nan])},
        losses=Losses(np.zeros((10, 4), np.float32), (rows[:, None] >= 5).astype(np.int64), rows, board.ids),
        assessed=Assessed((board.ids[0], board.ids[2]), truth, predicted),
        winner=0,
        indistinguishable=(1,),
        difference_se=np.array([np.nan, 0.03, 0.04, np.nan]),
    )
    pair = PairFacts(first=board.ids[0], second=board.ids[2], difference=0.1, low=-0.02, high=0.22, p=0.04, adjusted=0.04,
                     method="corrected resampled t")  # fmt: skip
    command = ("modelsel", "run", "dataset=small", "space=[cart,knn]")
    return StudyRecord(outcome(selection, task), selection, {"seed": 0, "tracking": {"kind": "sqlite"}}, task, parts,
                    audit=AUDIT, pairs=(pair,), command=command)  # fmt: skip


def outcome(selection: Selection, task: Task) -> StudySummary:
    won = selection.candidates[0]
    corrected = {"method": "bbc", "mean": 0.18, "low": 0.05, "high": 0.31}
    return StudySummary(
        schema=1, folder="",
        study="small-cart",
        spec_id="5" * 32,
        seed=0,
        task={"name": "small", "rows": 15, "development_rows": 10, "test_rows": 5, "features": 2, "kind": "classes",
              "classes": ["no", "yes"], "fingerprint": "f" * 32},
        scheme={"name": "kfold", "folds": 2, "fingerprint": "e" * 32},
        measure="error",
        rule="best",
        candidates={"declared": 5, "distinct": 4, "ok": 3, "failed": 0, "skipped": 1},
        fits={"needed": 5, "naive": 9},
        winner={"id": won.id, "learner": "cart", "parameters": won.parameters, "complexity": {"name": "leaves", "value": 3.0},
                "cv": {"mean": 0.15, "se": 0.05, "folds": [0.1, 0.2]}, "corrected": corrected,
                "indistinguishable": [selection.board.ids[1]]},
        test=TestResult(score=0.2, errors=1, n=5, look=2, replay=False, price=1.79, spent=2.5, interval=(0.004, 0.78),
                        level=0.95, policy="warn", release="predicted", flags=("OVERLAP", "FIRST")),
        failures=({"id": selection.board.ids[3], "status": "skipped", "reason": "k = 99 is more than the rows"},),
        seconds={"total": 75.2, "select": 70.0, "final": 1.0, "record": 4.0},
        modelsel="0.1.0",
        findings=({"code": "FIRST", "severity": "info", "message": "a first", "do": ""},
                  {"code": "OVERLAP", "severity": "high", "message": "3 of 5 test rows were looked at before",
                   "do": "read the interval, which allows for it"}),
    )  # fmt: skip


def untested(study: StudyRecord) -> StudyRecord:
    return replace(study, outcome=study.outcome.but(test=None))


def refused(study: StudyRecord) -> StudyRecord:
    return replace(
        study, outcome=study.outcome.but(test=replace(study.outcome.test, score=None, refused="the look is used up"))
    )


def replayed(study: StudyRecord) -> StudyRecord:
    return replace(study, outcome=study.outcome.but(test=replace(study.outcome.test, replay=True, interval=None, errors=None)))


AUDIT = audited(
    {"url": "sqlite:////home/someone/ledger.db", "entries": 4, "intact": True, "head": "a3:4:9f2c"},
    {"look": 2, "study": "small-cart", "score": 0.2, "errors": 1, "interval": [0.004, 0.78], "price": 1.79,
     "flags": ["OVERLAP"], "overlap": [{"with": "older", "rows": 3, "share": 0.6}]},
    rows=5, then={"look": 3, "release": "predicted", "price": 1.79, "interval": [0.001, 0.86]},
)  # fmt: skip
