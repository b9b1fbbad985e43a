"""What race=exact spares of slow learners: processor seconds and folds, beside the full study, with the same winner.

python -m benchmarks.searching.race FOLDER [TABLE ...]    # a folder with segment.csv, magic04.csv and their .json

On magic04, 19,020 rows, boosted trees and linear models alone: a neural network takes minutes of each fold there.
"""

import sys
import tempfile
import time
from contextlib import chdir, redirect_stdout
from pathlib import Path

import modelsel

CASES = {"segment": ("xgboost", "mlp", "logistic"), "magic04": ("xgboost", "logistic")}
SPACE = {
    "xgboost": {
        "learner": "xgboost",
        "sweep": {"params.learning_rate": "choice(0.03, 0.1, 0.3)", "params.max_depth": "choice(1, 3, 6)"},
    },
    "mlp": {"learner": "mlp", "sweep": {"params.alpha": "choice(0.0001, 1, 100)"}},
    "logistic": {"learner": "logistic_regression", "sweep": {"params.C": "choice(0.0001, 0.01, 1)"}},
}


def seconds(folder: str, table: str, race: str) -> tuple[float, str, int, str]:
    """Processor seconds of the study, the winner, how many folds its candidates finished, and what became of them."""
    words = {"dataset": {"kind": "named", "which": table, "dir": folder, "openml": False}}
    before = time.process_time()
    done = modelsel.run(
        **words, space={name: SPACE[name] for name in CASES[table]}, race=race, split="none",
        scheme={"kind": "stratified_kfold", "folds": 10},
        tracking="off", pool="sequential", name=f"{table}-{race}", guard={"kind": "off", "remember": False},
    )  # fmt: skip
    spent = time.process_time() - before
    return spent, done.winner["id"], int(done.tables()["folds"]["score"].notna().sum()), str(done.candidates)


def main(folder: str, tables: list[str]) -> None:
    for table in tables or CASES:
        found = {}
        for race in ("off", "exact"):
            with tempfile.TemporaryDirectory() as place, chdir(place), redirect_stdout(sys.stderr):
                found[race] = seconds(folder, table, race)
        assert found["off"][1] == found["exact"][1]
        full, raced = found["off"], found["exact"]
        print(
            f"{table}: {full[0]:.1f} s and {full[2]} folds without, {raced[0]:.1f} s and {raced[2]} with a race "
            f"({1 - raced[0] / full[0]:.0%} of the time spared, {1 - raced[2] / full[2]:.0%} of the folds); {raced[3]}",
            flush=True,
        )


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), sys.argv[2:])
