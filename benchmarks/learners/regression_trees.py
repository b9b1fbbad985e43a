"""Regression trees beside scikit-learn and rpart: their errors, and how fast they grow, answer and are compared.

Errors: scikit-learn's diabetes, Friedman's first function (by rule), and the tables that NUMBERS.csv lists in the folder of
data, which only some machines have. Every tool chooses its strength of pruning by ten folds of the same training rows (70 %,
three draws); a row shows their root mean squared error on the others over ours. Seconds are processor time, side by side.
"""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import nan
from pathlib import Path
from shutil import which
from statistics import median

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

from benchmarks.common.number_tables import tables
from benchmarks.common.timing import Row, by_processor, processor
from modelsel import regressor
from modelsel.core.spec import make as part
from modelsel.core.types import Candidate, Feature, Floats, Integers, NumberTask, Resampling, positions
from modelsel.criterion.quantile import Quantile
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as
from modelsel.learner.tree import Splits, Tree
from modelsel.measure.mse import Mse
from modelsel.planning.make import make as plan
from modelsel.runner.execution.executors import Pool
from modelsel.runner.final_fit import fit
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.runner.run import run
from modelsel.scheme.kfold import Kfold
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import ABSOLUTE_ERROR, SQUARED_ERROR, GrowthParams, NumberLoss

SIZES = ((12_000, 21), (100_000, 20))
DEPTHS, SPLITS, LEAVES = [*range(1, 25), None], [*range(2, 22, 2)], (1, 2, 5, 10)
SAMPLE = {"max_depth": [4, 12, None], "min_samples_leaf": [1, 5]}
BOUND = {
    5: "",
    1: "Of the time of a fit on 12,000 rows half to three fifths are the growing kernel's (two fifths of that nodes of up to "
    "sixteen rows, the rest search and parting of sorted columns), a seventh sorts the columns, a tenth puts the tree "
    "together, and calls take the rest.",
}
DRAWS, SHARE, STRENGTHS = 3, 0.7, 20
RPART = """
suppressMessages(library(rpart)); train <- read.csv("{folder}/train.csv", stringsAsFactors = TRUE); set.seed(1)
test <- read.csv("{folder}/test.csv", stringsAsFactors = TRUE)
for (name in names(train)) if (is.factor(train[[name]])) {{
  test[[name]] <- factor(as.character(test[[name]]), levels = levels(train[[name]])) }}
tree <- rpart({target} ~ ., train, control = rpart.control(cp = 0, minsplit = 2, minbucket = 5, xval = 10))
best <- tree$cptable[which.min(tree$cptable[, "xerror"]), "CP"]
cat(format(predict(prune(tree, cp = best), test), digits = 17))
"""


def rows() -> Iterable[Row]:
    yield from errors()
    for size in SIZES:
        yield from calls(*size)
    yield from other_losses(300_000, 20)
    yield from many_candidates()


# Errors on rows that chose nothing.


def errors() -> Iterator[Row]:
    """A row per table and peer."""
    peers = {"DecisionTreeRegressor, ccp_alpha by GridSearchCV": by_grid_search}
    if which("Rscript"):
        peers["rpart anova, cp by its own ten folds"] = by_rpart
    else:
        print("rpart: passed over, there is no Rscript")
    for name, table, target in tables():
        with read_as("regression"):
            task = read_table(table.reset_index(drop=True), target=target)
        drawn = [np.random.default_rng(seed).permutation(len(table)) for seed in range(DRAWS)]
        parts = [np.split(order, [round(SHARE * len(table))]) for order in drawn]
        ours = [root(by_us(task, *each), task, each[1]) for each in parts]
        for peer, asked in peers.items():
            theirs = [root(asked(table, target, *each), task, each[1]) for each in parts]
            yield Row(
                f"error on the other 30 %, {name} {len(table)} × {len(task.features)}", peer,
                tuple(them / us for us, them in zip(ours, theirs, strict=True)), nan, nan, "of the same rows",
                note=f"{peer}: root mean squared error {median(theirs):.4g}, ours {median(ours):.4g}.",
            )  # fmt: skip


def root(said: Floats, task: NumberTask, test: Integers) -> float:
    return float(np.sqrt(np.mean(np.square(said - task.target[test]))))


def by_us(task: NumberTask, train: Integers, test: Integers) -> Floats:
    """The strength of the sequence with the least error over ten folds, five rows a leaf."""
    rows, whole = task.take(train), cart(min_leaf=5)
    path = whole.fit_path(rows, positions(rows), np.random.default_rng(0))
    some = tuple(map(Candidate, path.members(replace(whole, pruner=part("pruner", "cost_complexity", alpha="path")))))
    found = study(rows, Kfold(folds=10).instantiate(rows, 0), some)
    return fit(some[int(np.argmin(found.board.mean))], rows, 0, positions(rows)).predict(task.take(test))


def cart(**settings: object) -> Tree:
    """CART by squared error as `learner=cart` has it: nominal values ordered by their mean, surrogates, here unpruned."""
    return Tree(criterion=part("criterion", "variance"), splits=Splits(nominal="subset"), missing="surrogate", **settings)


def by_grid_search(table: pd.DataFrame, target: str, train: Integers, test: Integers) -> Floats:
    """Nominal columns as indicators, missing values as they are, `STRENGTHS` of its own path, five rows a leaf."""
    values = table.drop(columns=target)
    nominal = values.select_dtypes(exclude="number").columns
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit_transform(values[nominal].fillna("?").astype(str))
    X, y = np.column_stack([values.drop(columns=nominal).to_numpy(float), coded]), table[target].to_numpy(float)
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    strengths = tree.cost_complexity_pruning_path(X[train], y[train]).ccp_alphas
    some = np.unique(np.quantile(np.maximum(strengths, 0.0), np.linspace(0, 1, STRENGTHS)))
    return (
        GridSearchCV(tree, {"ccp_alpha": some}, cv=10, scoring="neg_mean_squared_error")
        .fit(X[train], y[train])
        .predict(X[test])
    )


def by_rpart(table: pd.DataFrame, target: str, train: Integers, test: Integers) -> Floats:
    nominal = table.select_dtypes(exclude="number").columns
    table = table.assign(
        **{name: "level " + table[name] for name in nominal}
    )  # a level "4" is no number, whatever the others are
    with tempfile.TemporaryDirectory() as folder:
        table.iloc[train].to_csv(f"{folder}/train.csv", index=False)
        table.iloc[test].to_csv(f"{folder}/test.csv", index=False)
        program = RPART.format(folder=folder, target=target)
        said = subprocess.run(["Rscript", "-e", program], capture_output=True, text=True, check=True, timeout=600)
    return np.array(said.stdout.split(), float)


# Seconds.


def friedman(size: int, columns: int) -> NumberTask:
    """Friedman's first function with columns that say nothing; numbers of four decimals."""
    values, target = make_friedman1(size, columns, noise=1.0, random_state=0)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(columns))
    return NumberTask(name="friedman", features=features, values=values, rows=np.arange(size), target=target.round(4))


def calls(size: int, columns: int) -> Iterator[Row]:
    """Public `fit` and `predict` beside theirs."""
    task = friedman(size, columns)
    for leaf in (5, 1):
        yield from both(np.ascontiguousarray(task.values), task.target, leaf, turns=5 if size < 50_000 else 3)


def both(X: Floats, y: Floats, leaf: int, turns: int) -> Iterator[Row]:
    """One size and one smallest leaf; training rows have to be answered alike."""
    ours, theirs = (
        regressor("cart", pruner="unpruned", min_leaf=leaf),
        DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0),
    )
    same = float(np.mean(np.isclose(ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X), rtol=1e-9)))
    assert same > 0.999, same
    where, equal = f"Friedman 1 of {len(X):,} × {X.shape[1]}, min_leaf={leaf}", f"{same:.2%} of training rows answered alike"
    yield by_processor(
        f"regressor fit, {where}", "DecisionTreeRegressor.fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 10, equal,
        turns=turns, note=BOUND[leaf],
    )  # fmt: skip
    new = np.tile(X, (max(1, 100_000 // len(X)), 1))
    yield by_processor(
        f"regressor predict, {len(new):,} rows, {where}", "DecisionTreeRegressor.predict", lambda: ours.predict(new),
        lambda: theirs.predict(new), 2, equal, turns=turns,
    )  # fmt: skip


def other_losses(size: int, columns: int) -> Iterator[Row]:
    """Growing by absolute error and by the loss of a quantile, as multiples of growing by squared error."""
    task, growth = friedman(size, columns), GrowthParams(min_leaf=5.0, min_split=2.0)

    def spent(loss: NumberLoss) -> float:
        return processor(lambda: grow_numbers(task, positions(task), growth, loss))

    for name, loss in (("absolute error", ABSOLUTE_ERROR), ("the pinball loss at .9", Quantile(q=0.9).number_loss)):
        turns = [(spent(SQUARED_ERROR), spent(loss)) for _ in range(3)]
        yield Row(
            f"grow one tree by {name}, Friedman 1 of {size:,} × {columns}, min_leaf=5", "by squared error: times as long",
            tuple(ours / squared for squared, ours in turns), median(ours for _, ours in turns),
            median(squared for squared, _ in turns), "the tests' brute force, of small tables", most=6.0,
        )  # fmt: skip


def study(task: NumberTask, folds: Resampling, some: tuple[Candidate, ...], place: Path | None = None) -> Results:
    """All of what the engine does for a study, in this thread, the journal on disk."""
    with tempfile.TemporaryDirectory() as folder, Journal(place or Path(folder)) as journal:
        return run(plan(some, task, folds), task, folds, Mse(), Pool("sequential"), journal)


def many_candidates() -> Iterator[Row]:
    """A thousand candidates on ten folds; theirs are six of the same candidates, divided by the sample's share."""
    task = friedman(5000, 21)
    folds = Kfold(folds=10).instantiate(task, 0)
    some = tuple(Candidate(cart(max_depth=d, min_split=s, min_leaf=m)) for d in DEPTHS for s in SPLITS for m in LEAVES)
    fold_of = np.empty(len(task), int)
    for fold in folds.folds:
        fold_of[fold.assessment] = fold.index
    grid = GridSearchCV(
        DecisionTreeRegressor(random_state=0),
        SAMPLE,
        cv=PredefinedSplit(fold_of),
        refit=False,
        scoring="neg_mean_squared_error",
    )
    share = len(grid.fit(task.values, task.target).cv_results_["params"]) / len(some)
    with tempfile.TemporaryDirectory() as folder:
        found = study(task, folds, some, Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / (len(some) * len(task))
    at = {(c.learner.max_depth, c.learner.min_leaf): i for i, c in enumerate(some) if c.learner.min_split == SPLITS[0]}
    scores = {
        (p["max_depth"], p["min_samples_leaf"]): s
        for p, s in zip(grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True)
    }
    apart = max(abs(found.board.mean[at[key]] / -score - 1) for key, score in scores.items() if key[0] == 4)
    assert apart < 1e-9, apart
    pairs = [
        (processor(lambda: study(task, folds, some)), processor(lambda: grid.fit(task.values, task.target)) / share)
        for _ in range(3)
    ]
    work = f"{len(some):,} tree candidates × 10 folds, Friedman 1 of 5,000 × 21"
    yield Row(
        work, f"GridSearchCV(DecisionTreeRegressor), extrapolated from {len(scores)} candidates",
        tuple(them / us for us, them in pairs), median(us for us, _ in pairs), median(them for _, them in pairs),
        f"scores at depth 4 to {apart:.0e}", goal=500,
    )  # fmt: skip
    yield Row("the same: bytes of the journal per prediction", "8", (size,), nan, nan, "", most=8)
