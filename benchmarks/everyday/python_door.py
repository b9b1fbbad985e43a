"""The package in Python: importing it, a study on a data frame beside the command line, SelectionCV beside GridSearchCV.

Seconds are processor time, of the process or of the command, so that others on the machine do not count.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common.places import ROOT
from benchmarks.common.timing import Row
from modelsel import SelectionCV
from modelsel.dataset.waveform import Waveform

TURNS, IMPORT, MORE = 3, 0.3, 1.05
STUDY = {"scheme.folds": 5, "tracking": "off", "final_test": "false", "pool": "threads", "pool.n_jobs": 1}
IN_PYTHON = (
    "import pandas as pd, modelsel\n"
    "frame = pd.read_csv('t.csv')\n"
    "print(modelsel.run({words}, data=frame, target='y', space=['cart', 'knn', 'naive_bayes']))\n"
)
DEPTHS, LEAVES = list(range(1, 21)), list(range(1, 11))
KS, SHARES = list(range(1, 101, 2)), np.linspace(0.05, 0.95, 30).round(3).tolist()


def rows() -> Iterable[Row]:
    yield importing()
    yield on_a_frame()
    yield from searches()


def importing() -> Row:
    """What `import modelsel` adds to starting Python, beside what was asked."""
    spent = [_command(["-c", "import modelsel"]) - _command(["-c", "pass"]) for _ in range(5)]
    return Row(
        "import modelsel", f"a budget of {IMPORT} s", tuple(one / IMPORT for one in spent), statistics.median(spent), IMPORT,
        "none: nothing is computed", most=1.0,
    )  # fmt: skip


def on_a_frame() -> Row:
    """The whole process either way, reading of the file included; each in a folder of its own, where nothing is known yet."""
    task = Waveform(rows=5_000).read()
    words = [f"{key}={value}" for key, value in STUDY.items()]
    typed = ["-m", "modelsel", "run", "t.csv", "y", "space=[cart,knn,naive_bayes]", *words]
    code = IN_PYTHON.format(words=", ".join(map(repr, words)))
    pairs, said = [], set()
    for turn in range(TURNS + 1):
        spent = []
        for command in (["-c", code], typed):
            with tempfile.TemporaryDirectory() as place:
                table = np.column_stack([task.values.astype(str), task.target.astype(str)])
                head = ",".join([*(feature.name for feature in task.features), "y"])
                Path(place, "t.csv").write_text("\n".join([head, *map(",".join, table)]) + "\n")
                spent.append(_command(command, place, said))
        pairs += [spent] if turn else []  # the first turn compiles
    assert len(said) == 1, said
    return Row(
        "a study on a data frame, 5,000 × 21, three learners", "the same through the command line: times as long",
        tuple(ours / theirs for ours, theirs in pairs), statistics.median(ours for ours, _ in pairs),
        statistics.median(theirs for _, theirs in pairs), "the winner, its scores and its interval", most=MORE,
    )  # fmt: skip


def searches() -> Iterable[Row]:
    task = Waveform(rows=1_000).read()
    X, y = np.ascontiguousarray(task.values), task.target
    trees = {"cart": {"learner": "cart", "pruner": "unpruned", "sweep": {"max_depth": DEPTHS, "min_leaf": LEAVES}}}
    grid: dict[str, Any] = {"max_depth": DEPTHS, "min_samples_leaf": LEAVES}
    yield _search("trees × 200", trees, DecisionTreeClassifier(random_state=0), grid, X, y, 0.03, "mean scores to .03 (ties)")
    X, y = X[y < 2], y[y < 2]  # an odd number of votes for one of two classes has no ties
    knn = {"knn": {"learner": "knn", "distance": "euclidean", "normalise": "none", "sweep": {"k": KS}}}
    yield _search("k-NN × 50", knn, KNeighborsClassifier(), {"n_neighbors": KS}, X, y, 1e-9, "mean scores")
    bayes = {
        f"p{share}": {"learner": "naive_bayes", "numeric": "gaussian", "prior": [share, round(1 - share, 3)]}
        for share in SHARES
    }
    priors = {"priors": [[share, round(1 - share, 3)] for share in SHARES]}
    yield _search("naive Bayes × 30", bayes, GaussianNB(var_smoothing=0), priors, X, y, 0.002, "mean scores to .002 (a row)")


def _search(
    work: str, space: Any, estimator: Any, grid: Any, X: Any, y: Any, tolerance: float, equal: str
) -> Row:  # fmt: skip
    ours, theirs = SelectionCV(space, cv=5), GridSearchCV(estimator, grid, cv=5)
    ours.fit(X, y)  # compiles
    pairs = [(_spent(lambda: ours.fit(X, y)), _spent(lambda: theirs.fit(X, y))) for _ in range(TURNS)]
    found, expected = (np.sort(one.cv_results_["mean_test_score"]) for one in (ours, theirs))
    assert np.abs(found - expected).max() <= tolerance, np.abs(found - expected).max()
    return Row(
        f"SelectionCV, {work}, 5 folds, {len(X):,} × {X.shape[1]}", f"GridSearchCV({type(estimator).__name__})",
        tuple(them / us for us, them in pairs), statistics.median(us for us, _ in pairs),
        statistics.median(them for _, them in pairs), equal,
    )  # fmt: skip


def _spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _command(words: list[str], place: str = ".", said: set[str] | None = None) -> float:
    """Processor seconds of Python with these words; what it says of the winner goes to `said`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MODELSEL_HOME": f"{tempfile.gettempdir()}/modelsel-bench-home"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], cwd=place, env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if said is not None:
        said.add("\n".join(line for line in done.stdout.splitlines() if "winner" in line or "cross-validated" in line))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
