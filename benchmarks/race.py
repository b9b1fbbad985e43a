"""What race=exact spares of slow learners: processor seconds and folds, beside the full study, with the same winner.

python -m benchmarks.race FOLDER    # a folder with segment.csv, magic04.csv and their .json
"""

import sys
import tempfile
import time
from contextlib import chdir, redirect_stdout
from pathlib import Path

import modelsel

CASES = ("segment", "magic04")
SPACE = {
    "xgboost": {
        "learner": "xgboost",
        "sweep": {"params.learning_rate": "choice(0.03, 0.1, 0.3)", "params.max_depth": "choice(1, 3, 6)"},
    },
    "mlp": {"learner": "mlp", "sweep": {"params.alpha": "choice(0.0001, 1, 100)"}},
    "logistic": {"learner": "logistic_regression", "sweep": {"params.C": "choice(0.0001, 0.01, 1)"}},
}


def seconds(folder: str, table: str, race: str) -> tuple[float, str, str]:
    """Processor seconds of the study, the winner, and what became of its candidates."""
    words = {"dataset": {"kind": "named", "which": table, "dir": folder, "openml": False}}
    before = time.process_time()
    done = modelsel.run(
        **words, space=SPACE, race=race, scheme={"kind": "stratified_kfold", "folds": 10}, split="none",
        tracking="off", pool="sequential", name=f"{table}-{race}", guard={"kind": "off", "remember": False},
    )  # fmt: skip
    return time.process_time() - before, done.winner["id"], str(done.candidates)


def main(folder: str) -> None:
    for table in CASES:
        found = {}
        for race in ("off", "exact"):
            with tempfile.TemporaryDirectory() as place, chdir(place), redirect_stdout(sys.stderr):
                found[race] = seconds(folder, table, race)
        assert found["off"][1] == found["exact"][1]
        full, raced = found["off"], found["exact"]
        print(
            f"{table}: {full[0]:.1f} s without, {raced[0]:.1f} s with a race ({1 - raced[0] / full[0]:.0%} spared); {raced[2]}",
            flush=True,
        )


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
