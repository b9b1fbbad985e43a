"""Thresholds and calibrators taught by other outer folds, on pure noise: nothing is there to be gained.

    python -m benchmarks.simulations.crossed_noise [--runs 200] [--rows 100] [--folds unstratified] [--scores "naive Bayes"]

Two classes of equal chance, five normal columns that know nothing of them. The learners' fits are the package's own; what is
learnt for a fold comes from inner folds of its analysis rows (`inner`) or from the scores of the other outer folds (`outer`),
whose models saw the fold's labels. The truth of error and balanced error is .5, of log loss ln 2 = .693 at best; the error of a
learner that always says one class is that of the more frequent one where the folds hold the classes in proportion.
"""

import argparse
import itertools
from typing import Any

import numpy as np

from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Outputs, Task
from modelsel.runner.final_fit import fit

LEARNERS: dict[str, dict[str, Any]] = {
    "class shares": {"kind": "majority"}, "naive Bayes": {"kind": "naive_bayes"}, "k-NN, k = 15": {"kind": "knn", "k": 15},
}  # fmt: skip
SCHEMES = {"stratified": "stratified_kfold", "unstratified": "kfold"}
LEARNT: dict[str, dict[str, Any]] = {
    "threshold for the error": {"decision": {"kind": "threshold", "measure": "error"}},
    "threshold for the balanced error": {"decision": {"kind": "threshold"}},
    "platt": {"calibrator": {"kind": "platt"}},
    "isotonic": {"calibrator": {"kind": "isotonic"}},
}
MEASURES = ("error", "balanced_error", "log_loss")


def table(rows: int, rng: np.random.Generator) -> Task:
    """Noise."""
    return Task(
        name="noise", features=tuple(Feature(f"x{i}", "numeric") for i in range(5)), rows=np.arange(rows),
        values=np.asfortranarray(rng.normal(size=(rows, 5))), classes=("n", "y"),
        target=rng.integers(0, 2, rows).astype(np.int32),
    )  # fmt: skip


def judged(task: Task, learner: dict[str, Any], scheme: dict[str, Any]) -> list[float]:
    """Error, balanced error and log loss of all rows together, each by the model of its fold."""
    made = Candidate(*build(learner))
    scores, said = np.empty((1, len(task), 2)), np.empty((1, len(task)), np.int32)
    for fold in make("scheme", **scheme).instantiate(task, 0).folds:
        model = fit(made, task, 0, fold.analysis)
        asked = task.take(fold.assessment)
        scores[0, fold.assessment], said[0, fold.assessment] = model.scores(asked), model.predict(asked)
    outputs = Outputs(said, scores)
    return [float(make("measure", name).score(task.target, outputs, None, 2)[0]) for name in MEASURES]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--folds", choices=SCHEMES, help="only these outer folds (default: both)")
    parser.add_argument("--scores", choices=LEARNERS, help="only the scores of this learner (default: all)")
    args = parser.parse_args()
    schemes = [(name, kind) for name, kind in SCHEMES.items() if args.folds in (None, name)]
    learners = [(name, learner) for name, learner in LEARNERS.items() if args.scores in (None, name)]
    print(f"{args.runs} tables of {args.rows} rows; error, balanced error, log loss (± of the first two at most)\n")
    print("| 10 folds | scores | learnt | inner | outer | ± |\n|---|---|---|---|---|---|")
    for (folds, kind), (of, learner), (learnt, setting) in itertools.product(schemes, learners, LEARNT.items()):
        scheme, (group, own) = {"kind": kind, "folds": 10, "seed": 0}, next(iter(setting.items()))
        cells, spread = [], 0.0
        for crossing in ({}, {"fold_scores": "outer", "scheme": scheme}):
            rng = np.random.default_rng(0)
            try:
                asked = {**learner, group: {**own, **crossing}}
                found = np.array([judged(table(args.rows, rng), asked, scheme) for _ in range(args.runs)])
            except ConfigurationError:
                cells.append("refused")
                continue
            cells.append(", ".join(f"{value:.3f}" for value in found.mean(axis=0)))
            spread = max(spread, float(found[:, :2].std(axis=0, ddof=1).max() / np.sqrt(args.runs)))
        print(f"| {folds} | {of} | {learnt} | {cells[0]} | {cells[1]} | {spread:.3f} |", flush=True)


if __name__ == "__main__":
    main()
