"""Model trees beside trees, forests, lines and boosting: `python -m benchmarks.learners.model_trees [--tables swiss servo]`.

scikit-learn's diabetes, and the tables of NUMBERS.csv in the folder of data. Each learner is fitted on nine of ten folds (the
same for all; drawn once) and asked about the tenth. Printed is the root of its squared error over that of the fold's mean, in
per cent (the relative error of Wang & Witten 1997, whose table has M5' beside CART and lines), with mean ranks and Nemenyi's
critical difference. CART prunes by ten folds of its own; the others are as their files have them. `--drawing FILE` writes the
diagram. On a busy machine set OMP_NUM_THREADS=1: boosting's threads wait for each other.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from benchmarks.common.number_tables import tables
from benchmarks.learners.regression_trees import cart
from modelsel.config.build import NUMBERS, build
from modelsel.core.spec import make as part
from modelsel.core.types import Floats, Integers, NumberTask
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as
from modelsel.reporting.charts import FILE, diagram
from modelsel.statistics.ranks import cliques, critical_difference, friedman

FOLDS = 10
Asked = Callable[[NumberTask, Integers, Integers], Floats]


def fitted(name: str, settings: Mapping[str, object] | None = None) -> Asked:
    """A learner as its file has it, fitted on some rows and asked about others."""

    def ask(task: NumberTask, train: Integers, test: Integers) -> Floats:
        model = build(name, dict(settings or {}), context=NUMBERS)[0].fit(task, train, np.random.default_rng(0))
        return np.asarray(model.predict(task.take(test)))

    return ask


def pruned(task: NumberTask, train: Integers, test: Integers) -> Floats:
    """CART, five rows a leaf, with the strength of the sequence that has the least error over ten folds of its own."""
    family, rng = cart(min_leaf=5, pruner=part("pruner", "cost_complexity", alpha="path")), np.random.default_rng(0)
    path = family.fit_path(task, train, rng)
    members, fold = path.members(family), rng.permutation(np.arange(len(train)) % FOLDS)
    wrong = np.zeros(len(members))
    for each in range(FOLDS):
        inner, own = train[fold != each], train[fold == each]
        said = family.fit_path(task, inner, rng).outputs(members, task, own, scores=False).predicted
        wrong += np.square(said - task.target[own]).sum(axis=1)
    return np.asarray(path.outputs([members[int(np.argmin(wrong))]], task, test, scores=False).predicted[0])


LEARNERS: Mapping[str, Asked] = {
    "CART": pruned,
    "M5P": fitted("m5p"),
    "M5P -R": fitted("m5p", {"leaf": "mean"}),
    "forest": fitted("forest"),
    "linear": fitted("linear_regression"),
    "boosting": fitted("hist_gradient_boosting"),
}


def relative(task: NumberTask, ask: Asked) -> float:
    """Root of the squared error out of fold over that of the means of the analysis rows, in per cent."""
    fold = np.random.default_rng(0).permutation(np.arange(len(task)) % FOLDS)
    wrong, guessed = 0.0, 0.0
    for each in range(FOLDS):
        train, test = np.flatnonzero(fold != each), np.flatnonzero(fold == each)
        wrong += float(np.square(ask(task, train, test) - task.target[test]).sum())
        guessed += float(np.square(task.target[train].mean() - task.target[test]).sum())
    return 100 * float(np.sqrt(wrong / guessed))


def compute(wanted: list[str]) -> tuple[list[str], Floats]:
    """Names of tables, and errors: tables × learners; a line is printed as soon as it is there."""
    names, errors = [], []
    print(f"| table | rows | {' | '.join(LEARNERS)} |\n|---|---|{'---|' * len(LEARNERS)}")
    for name, table, target in tables():
        if name == "Friedman 1" or (wanted and name not in wanted):
            continue
        with read_as("regression"):
            task = read_table(table.reset_index(drop=True), target=target)
        names.append(name)
        errors.append([relative(task, ask) for ask in LEARNERS.values()])
        print(f"| {name} | {len(task):,} | {' | '.join(f'{one:.1f}' for one in errors[-1])} |", flush=True)
    return names, np.array(errors)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=[])
    parser.add_argument("--drawing", type=Path)
    asked = parser.parse_args(words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names, errors = compute(asked.tables)
    if len(names) > 1:
        test, apart = friedman(errors), critical_difference(len(LEARNERS), len(names))
        print(f"| mean rank | | {' | '.join(f'{rank:.2f}' for rank in test.ranks)} |")
        print(f"\nFriedman's F p = {test.f_p:.2g}; mean ranks apart by {apart:.2f} differ (Nemenyi, .05)")
        if asked.drawing:
            bars = cliques(test.ranks, apart)
            asked.drawing.write_text(diagram(list(LEARNERS), test.ranks, apart, bars, len(names)).svg(FILE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
