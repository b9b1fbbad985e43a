"""How far grown trees are from the best of their size, and whether that pays: `python -m benchmarks.learners.how_far`.

    python -m benchmarks.learners.how_far run [FOLDER] [--tables iris monks_2] [--folds 5]
    python -m benchmarks.learners.how_far show

Six of the twelve tables come with scikit-learn or are made; FOLDER has the other six, NAME.csv beside NAME.json (target, kinds
of the columns). Without it they are passed over by name.

On all rows of a table: the errors of CART grown to a depth, of the best tree of that depth, and the bound that no tree of it
goes below (equal to the errors where the search ended). Out of fold: each method chooses its size within the analysis rows by
five folds (CART its strength of pruning, C4.5 its confidence, the best trees their price per leaf) and is asked about rows
that it did not see. A line per table and method goes to runs/how_far.jsonl; what stands there is not computed again.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.places import ROOT
from benchmarks.common.tables import table
from modelsel.core.spec import make
from modelsel.estimator import task_of
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.statistics.ranks import critical_difference, friedman

STORE = ROOT / "runs" / "how_far.jsonl"
BUNDLED = ("breast_cancer", "iris", "wine")  # of scikit-learn
MADE: Mapping[str, Mapping[str, Any]] = {
    "monks_2": {"kind": "monks", "problem": 2},
    "tic_tac_toe": {"kind": "tic_tac_toe"},
    "waveform": {"kind": "waveform", "rows": 500},
}
FILES = ("credit_a", "diabetes_pima", "glass", "heart_statlog", "ionosphere", "sonar")
TABLES = (*BUNDLED, *MADE, *FILES)
DEPTHS = (2, 3, 4)
PRICES = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.05)
LIMIT = 1000  # millions of steps of a search: about half a second


@dataclass(frozen=True)
class Line:
    """One method on one table: rows wrong in training (all rows) and out of fold, the bound of its depth, mean leaves."""

    table: str
    method: str
    rows: int
    training: int
    bound: int | None
    wrong: int
    leaves: float


def methods() -> Mapping[str, tuple[int | None, Mapping[str, Any]]]:
    """The depth of each method, and what it chooses from."""
    found: dict[str, tuple[int | None, Mapping[str, Any]]] = {}
    for depth in DEPTHS:
        grown = {"learner": "cart", "sweep": {"max_depth": depth, "pruner.alpha": "path"}}
        best = {"learner": "optimal_tree", "sweep": {"max_depth": depth, "limit": LIMIT, "leaf_price": list(PRICES)}}
        found[f"cart {depth}"], found[f"optimal {depth}"] = (depth, grown), (depth, best)
    found["cart"] = None, {"learner": "cart", "sweep": {"pruner.alpha": "path"}}
    found["c45"] = None, {"learner": "c45", "sweep": {"pruner.confidence": [0.05, 0.1, 0.25, 0.5]}}
    return found


def on_all_rows(X: pd.DataFrame, y: pd.Series, method: str, depth: int | None) -> tuple[int, int | None]:
    """Rows that a method gets wrong of those it was fitted on, at its full size; and the bound, of the best trees."""
    import modelsel

    if method.startswith("optimal"):
        task, _ = task_of(modelsel.classifier("optimal_tree"), X, y, None)
        path = OptimalTree(max_depth=depth, limit=LIMIT).fit_path(task, np.arange(len(task)), np.random.default_rng(0))
        errors, bound = (share[-1] * len(task) for share in path.front(depth or 0))
        return round(errors), int(np.ceil(bound - 1e-6))
    settings = {"pruner": "unpruned"} if depth is None else {"pruner": "unpruned", "max_depth": depth}
    model = modelsel.classifier("c45" if method == "c45" else "cart", **settings).fit(X, y)
    return int((model.predict(X) != y.to_numpy()).sum()), None


def out_of_fold(X: pd.DataFrame, y: pd.Series, space: Mapping[str, Any], folds: int) -> tuple[int, float]:
    """Rows wrong of those that a choice did not see, and the leaves of what was chosen, in the mean."""
    from sklearn.model_selection import StratifiedKFold

    import modelsel

    wrong, leaves = 0, []
    for seen, unseen in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        search = modelsel.SelectionCV({"one": dict(space)}, cv=StratifiedKFold(5, shuffle=True, random_state=1))
        search.fit(X.iloc[seen], y.iloc[seen])
        wrong += int((search.predict(X.iloc[unseen]) != y.iloc[unseen].to_numpy()).sum())
        leaves.append(float(search.best_estimator_.n_leaves_))
    return wrong, float(np.mean(leaves))


def read_table(name: str, folder: Path | None) -> tuple[pd.DataFrame, pd.Series]:
    """Features and classes of one of the tables, wherever it comes from. Raises KeyError where it is in no folder."""
    if name in BUNDLED:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        return X, y.astype(str)
    if name in MADE:
        settings = dict(MADE[name])
        task = make("dataset", settings.pop("kind"), **settings).read()
        X = pd.DataFrame({one.name: _column(one.levels, task.values[:, at]) for at, one in enumerate(task.features)})
        return X, pd.Series(np.array(task.classes)[task.target])
    if folder is None:
        raise KeyError(f"{name}: name the folder of {name}.csv")
    return table(name, folder)


def _column(levels: tuple[str, ...], values: np.ndarray) -> object:
    return pd.Categorical.from_codes(values.astype(int), levels) if levels else values


def judged(name: str, method: str, folds: int, folder: Path | None) -> Line:
    """One method on one table."""
    X, y = read_table(name, folder)
    depth, space = methods()[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a search that met its limit says so; the bound is in the table
        training, bound = on_all_rows(X, y, method, depth)
        wrong, leaves = out_of_fold(X, y, space, folds)
    return Line(name, method, len(y), training, bound, wrong, leaves)


def read() -> list[Line]:
    """Every line that is on record; a line that was cut short is left out."""
    lines = STORE.read_text().splitlines() if STORE.exists() else []
    return [Line(**json.loads(line)) for line in lines if line.endswith("}")]


def compute(tables: Iterable[str], folds: int, folder: Path | None) -> None:
    """Compute what is not on record."""
    known = {(one.table, one.method) for one in read()}
    STORE.parent.mkdir(exist_ok=True)
    for name in tables:
        if name in FILES and folder is None:
            print(f"{name}: passed over, no folder is named")
            continue
        for method in methods():
            if (name, method) not in known:
                found = judged(name, method, folds, folder)
                with STORE.open("a") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
                print(found, flush=True)


def show() -> str:
    """A line per table and a line of means; mean ranks out of fold with Nemenyi's critical difference."""
    by = {(one.table, one.method): one for one in read()}
    names = [name for name in TABLES if all((name, method) in by for method in methods())]
    if not names:
        return "nothing is on record: run it first"
    columns = list(methods())
    head = _row("table", "rows", *columns) + "\n|---|---|" + "---|" * len(columns)
    lines = [_row(name, by[name, columns[0]].rows, *(_cell(by[name, one]) for one in columns)) for name in names]
    shares = np.array([[by[name, one].wrong / by[name, one].rows for one in columns] for name in names])
    means = _row("mean out of fold", "", *(f"{share:.3f}" for share in shares.mean(axis=0)))
    said = [head, *lines, means]
    if len(names) > 1:
        ranks = friedman(shares)
        said.append(_row("mean rank", "", *(f"{rank:.2f}" for rank in ranks.ranks)))
        apart = critical_difference(len(columns), len(names))
        said += [
            "",
            *(_depth(depth, [(by[name, f"cart {depth}"], by[name, f"optimal {depth}"]) for name in names]) for depth in DEPTHS),
        ]
        said.append(f"\nFriedman's F p = {ranks.f_p:.2g}; mean ranks apart by {apart:.2f} differ (Nemenyi, .05)")
    return "\n".join(said)


def _depth(depth: int, pairs: Sequence[tuple[Line, Line]]) -> str:
    """CART and the best trees of one depth: mean shares in training and out of fold, tables won, Wilcoxon's test."""
    from scipy.stats import wilcoxon

    training = np.array([[line.training / line.rows for line in pair] for pair in pairs])
    unseen = np.array([[line.wrong / line.rows for line in pair] for pair in pairs])
    (own, best), (grown, optimal) = training.mean(axis=0), unseen.mean(axis=0)
    p = wilcoxon(unseen[:, 0], unseen[:, 1]).pvalue
    won, lost = int((unseen[:, 1] < unseen[:, 0]).sum()), int((unseen[:, 1] > unseen[:, 0]).sum())
    return (
        f"depth {depth}: training {own:.3f} of CART, {best:.3f} of the best trees; out of fold {grown:.3f} and {optimal:.3f}, "
        f"better on {won} tables, worse on {lost} (Wilcoxon p = {p:.2f})"
    )


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _cell(line: Line) -> str:
    """Training errors (with the bound where it is lower), errors out of fold, leaves."""
    bound = f" (≥ {line.bound})" if line.bound is not None and line.bound < line.training else ""
    return f"{line.training}{bound}, {line.wrong}, {line.leaves:.0f}"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute what is not on record")
    run.add_argument("folder", nargs="?", type=Path, help="of the tables that neither come with a package nor are made")
    run.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    run.add_argument("--folds", type=int, default=5)
    commands.add_parser("show", help="print what is on record")
    asked = parser.parse_args(words)
    if asked.command == "run":
        compute(asked.tables, asked.folds, asked.folder)
    print(show())
    return 0


if __name__ == "__main__":
    sys.exit(main())
