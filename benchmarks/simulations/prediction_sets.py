"""Coverage of prediction sets by CV+ of the choice repeated for each fold by the errors on the other folds.

    python -m benchmarks.simulations.prediction_sets [--runs 100] [--space "naive Bayes"]

Two classes; three of ten normal columns differ by `signal` standard deviations. Candidates are trees of depth 1 to 8 with three
smallest leaves and k-NN, logistic regressions of seven penalties, naive Bayes on the best 1 to 10 columns with normal or kernel
densities, or forests of 20 trees of two depths and two numbers of columns: for each fold the one of least error on the others
is chosen (the first of equals), and these fold models make sets for 2,000 fresh rows.
"""

import argparse
import itertools
from collections.abc import Sequence

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task
from modelsel.explanation.prediction_sets import conformity, guaranteed_coverage, prediction_sets
from modelsel.preparer.select_top import SelectTop
from modelsel.runner.final_fit import fit
from modelsel.scheme.stratified_kfold import StratifiedKfold

FOLDS, FRESH = 5, 2_000
LEVELS = (0.8, 0.9, 0.95)
TIED = (  # scores of trees and neighbours are shares of few rows
    *(Candidate(make("learner", "tree", max_depth=d, min_leaf=m)) for d, m in itertools.product((1, 2, 3, 5, 8), (1, 5, 10))),
    *(Candidate(make("learner", "knn", k=k)) for k in (1, 3, 5, 9, 15, 25)),
)
SMOOTH = tuple(
    Candidate(make("learner", "sklearn", estimator="LogisticRegression", params={"C": 10.0**c})) for c in range(-4, 3)
)
BAYES = tuple(
    Candidate(make("learner", "naive_bayes", numeric=numeric), (SelectTop(n=n),))
    for numeric, n in itertools.product(("gaussian", "kernel"), (1, 2, 3, 5, 10))
)
FORESTS = tuple(
    Candidate(make("learner", "forest", trees=20, max_depth=depth, features=features))
    for depth, features in itertools.product((2, None), ("sqrt", "all"))
)
SPACES = {"trees, k-NN": TIED, "logistic regression": SMOOTH, "naive Bayes": BAYES, "forests": FORESTS}


def table(rows: int, signal: float, rng: np.random.Generator) -> Task:
    target = (rng.random(rows) < 0.5).astype(np.int32)
    values = rng.normal(size=(rows, 10))
    values[:, :3] += signal * target[:, None]
    features = tuple(Feature(f"x{i}", "numeric") for i in range(10))
    return Task(name="t", features=features, values=np.asfortranarray(values), rows=np.arange(rows), classes=("n", "y"),
                target=target)  # fmt: skip


def study(candidates: Sequence[Candidate], rows: int, signal: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Coverage and mean size at each level."""
    task, fresh = table(rows, signal, rng), table(FRESH, signal, rng)
    folds = StratifiedKfold(folds=FOLDS).instantiate(task, 0).folds
    parts = [task.take(fold.assessment) for fold in folds]
    models = [[fit(candidate, task, 0, fold.analysis) for fold in folds] for candidate in candidates]
    wrong = np.array([[np.mean(model.predict(part) != part.target) for model, part in zip(own, parts)] for own in models])
    chosen = [int(np.argmin(np.round(np.delete(wrong, k, axis=1).mean(axis=1), 12))) for k in range(FOLDS)]
    kept = [(models[c][k], parts[k]) for k, c in enumerate(chosen)]
    strange = [conformity(model.scores(part), part.target) for model, part in kept]
    scores = [model.scores(fresh) for model, _ in kept]
    found = [prediction_sets(scores, strange, level) for level in LEVELS]
    return [(float(one[np.arange(FRESH), fresh.target].mean()), float(one.sum(axis=1).mean())) for one in found]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--space", choices=SPACES)
    args = parser.parse_args()
    runs, spaces = args.runs, [args.space] if args.space else list(SPACES)
    print(
        "| space | rows | signal | sets for | covered | ± | guaranteed | classes in a set |\n|---|---|---|---|---|---|---|---|"
    )
    for name, rows, signal in itertools.product(spaces, (100, 400), (0.0, 0.8)):
        rng = np.random.default_rng(rows)
        told = np.array([study(SPACES[name], rows, signal, rng) for _ in range(runs)])  # runs × levels × 2
        for at, level in enumerate(LEVELS):
            covered, size = told[:, at].mean(axis=0)
            error = told[:, at, 0].std(ddof=1) / np.sqrt(runs)
            least = guaranteed_coverage(level, rows, FOLDS)
            told_of = f"| {name} | {rows} | {signal:g} | {100 * level:g} % | {100 * covered:.1f} % | {100 * error:.1f} "
            print(f"{told_of}| {100 * least:.0f} % | {size:.2f} |", flush=True)


if __name__ == "__main__":
    main()
