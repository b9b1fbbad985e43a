"""How often a slice is found where there is none, and where there is one: out-of-fold errors of a tree, many tables.

    python -m benchmarks.simulations.weak_slices [--runs 300] [--errors noise,flips,slice] [--learner tree|naive_bayes|knn]

`noise`: labels have nothing to do with the columns, so that errors hang on nothing. `flips`: one column decides, and a fifth of
the labels is flipped wherever the row lies. `slice`: a tenth of the labels is flipped, and half of them in a tenth of the rows.
Errors are those of trees of depth 4 (or of naive Bayes, or of 15 neighbours) in 5 folds, as a study has them. A slice that
stands is a false alarm where the fold models err no more in it than elsewhere, on 20,000 fresh rows; its share stands with
Clopper and Pearson's interval.
"""

import argparse

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Booleans, Candidate, Feature, Task, positions
from modelsel.explanation.weak_slices import RowErrors, find, half, weak_slices
from modelsel.learner.trees.model import TreeModel
from modelsel.runner.final_fit import Final, fit
from modelsel.scheme.stratified_kfold import StratifiedKfold
from modelsel.statistics.bounds import clopper_pearson
from modelsel.tree.routing import route

ROWS = (200, 1000)
FRESH = 20_000
MORE = 0.01  # by so much the error rate has to be higher
LEARNERS = {
    "tree": Candidate(make("learner", "tree", max_depth=4, min_leaf=5)),
    "naive_bayes": Candidate(make("learner", "naive_bayes")),
    "knn": Candidate(make("learner", "knn", k=15)),
}


def table(kind: str, rows: int, rng: np.random.Generator) -> Task:
    """Six columns of numbers, one of four names; two classes."""
    values = np.column_stack([rng.normal(size=(rows, 6)), rng.integers(0, 4, rows)])
    target = values[:, 6] % 2 == 0 if kind != "noise" else rng.random(rows) < 0.5
    weak = (values[:, 1] > 0.25) & (values[:, 6] == 2)  # a tenth
    flipped = rng.random(rows) < {"noise": 0.0, "flips": 0.2, "slice": np.where(weak, 0.5, 0.1)}[kind]
    features = (*(Feature(f"x{i}", "numeric") for i in range(6)), Feature("name", "nominal", tuple("abcd")))
    return Task(
        name=kind, features=features, values=np.asfortranarray(values), rows=np.arange(rows), classes=("n", "y"),
        target=(target ^ flipped).astype(np.int32),
    )  # fmt: skip


def models(task: Task, learner: Candidate) -> tuple[list[Final], Booleans]:
    """The models of five folds, and which of their out-of-fold answers are wrong."""
    wrong, fitted = np.zeros(len(task), bool), []
    for fold in StratifiedKfold(folds=5).instantiate(task, 0).folds:
        fitted.append(fit(learner, task, 0, fold.analysis))
        wrong[fold.assessment] = fitted[-1].predict(task.take(fold.assessment)) != task.target[fold.assessment]
    return fitted, wrong


def so(slices: TreeModel, leaf: int, fitted: list[Final], fresh: Task) -> bool:
    """Do the fold models err more in the slice than elsewhere, on rows that nobody has seen?"""
    errors = np.mean([one.predict(fresh) != fresh.target for one in fitted], axis=0)
    inside = route(slices.cut.tree, fresh, positions(fresh)).leaf == leaf
    return bool(errors[inside].mean() > errors[~inside].mean() + MORE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--errors", default="noise,flips,slice")
    parser.add_argument("--learner", choices=LEARNERS, default="tree")
    args = parser.parse_args()
    runs, learner = args.runs, LEARNERS[args.learner]
    print("| errors | of | rows | tables | a slice stands at 5 % | one that is none on fresh rows | 95 % interval |")
    print("|---|---|---|---|---|---|---|")
    for kind in args.errors.split(","):
        for rows in ROWS:
            rng = np.random.default_rng(rows)
            stands = alarms = 0
            for seed in range(runs):
                task = table(kind, rows, rng)
                fitted, wrong = models(task, learner)
                told = weak_slices(task, RowErrors(wrong), seed)["slices"]
                if not (standing := [at for at, line in enumerate(told) if line["adjusted"] <= 0.05]):
                    continue
                slices, rules = find(task, wrong, half(task, generator(seed, task.fingerprint, "slices")))
                fresh = table(kind, FRESH, rng)
                stands += 1
                alarms += any(not so(slices, rules[at].leaf, fitted, fresh) for at in standing)
            low, high = (100 * end for end in clopper_pearson(alarms, runs))
            found = f"{100 * stands / runs:.1f} % | {100 * alarms / runs:.1f} % | {low:.1f} to {high:.1f} %"
            print(f"| {kind} | {args.learner} | {rows:,} | {runs:,} | {found} |", flush=True)


if __name__ == "__main__":
    main()
