"""The ten attempts of `guard_evasions` with the nearest other tool, `mlw` (imported as `ml`), as a program of its own.

    PYTHON benchmarks/attacks/_nearest_tool.py

It imports nothing of ours, so that the tool may live in an environment of its own. Prints JSON: the version, and what became
of each attempt after one look: revealed or refused. Every attempt has a table of its own, since the tool remembers by content.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable

import ml
import numpy as np
import pandas as pd


def table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(1000, 6))
    frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(6)])
    return frame.assign(y=np.where(values[:, 0] + rng.normal(size=1000) > 0, "yes", "no"))


def look(frame: pd.DataFrame, split_seed: int = 0, algorithm: str = "decision_tree") -> str:
    parts = ml.split(frame, "y", seed=split_seed)
    model = ml.fit(parts.train, "y", seed=0, algorithm=algorithm)
    try:
        ml.assess(model, test=parts.test)
    except ml.PartitionError:
        return "refused"
    return "revealed"


def own_accuracy(frame: pd.DataFrame) -> str:
    parts = ml.split(frame, "y", seed=0)
    model = ml.fit(parts.train, "y", seed=1, algorithm="logistic")
    agreed = np.mean(np.asarray(ml.predict(model, parts.test)) == np.asarray(parts.test["y"]))
    return "revealed" if 0 <= agreed <= 1 else "refused"


def elsewhere(seed: int, folder: str | None, algorithm: str) -> str:
    """The same program in a process of its own, in this directory or another."""
    command = [sys.executable, os.path.abspath(__file__), "again", str(seed), algorithm]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.strip()


def another_directory(seed: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return elsewhere(seed, folder, "logistic")


OTHER = "logistic"
ATTEMPTS: dict[str, Callable[[int], str]] = {
    "second model on the same test rows": lambda seed: look(table(seed), algorithm=OTHER),
    "new split seed": lambda seed: look(table(seed), 1, OTHER),
    "source rows shuffled, same seed": lambda seed: look(table(seed).sample(frac=1, random_state=5), algorithm=OTHER),
    "one column renamed": lambda seed: look(table(seed).rename(columns={"x0": "alpha"}), algorithm=OTHER),
    "float32 copy": lambda seed: look(table(seed).astype({f"x{i}": np.float32 for i in range(6)}), algorithm=OTHER),
    "constant column added": lambda seed: look(table(seed).assign(one=1.0), algorithm=OTHER),
    "own accuracy from test predictions": lambda seed: own_accuracy(table(seed)),
    "same script from another directory": another_directory,
    "another process": lambda seed: elsewhere(seed, None, OTHER),
    "honest identical re-run": lambda seed: f"{elsewhere(seed, None, 'decision_tree')} (one process: {look(table(seed))})",
}


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["again"]:
        print(look(table(int(sys.argv[2])), algorithm=sys.argv[3]))
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed, (name, attempt) in enumerate(ATTEMPTS.items()):
            first = look(table(seed))
            assert first == "revealed", f"the first look was {first}"
            found[name] = attempt(seed)
        os.chdir("/")
    print(json.dumps({"version": importlib.metadata.version("mlw"), "found": found}))


if __name__ == "__main__":
    main()
