"""What watching costs a call: 300,000 rows × 20, of which 90,000 were sealed, predicted and transformed with and without.

The budget of a call is a twentieth of its time, or a millisecond where that is more. Rows of a frame are tried by the columns
of its screen, which stand by themselves in memory; of an array by rows nearly all of it passes through memory, and the quickest
of scikit-learn's estimators do hardly more than that: of these no goal is set.
"""

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import modelsel
from benchmarks.common.timing import Row, processor

ROWS, COLUMNS, SEALED, TURNS = 300_000, 20, 90_000, 7
SHARE, LEAST = 0.05, 0.001  # of a call's time; seconds


def rows() -> Iterator[Row]:
    """Predictions of large and small tables, as frames and as arrays, of quick and of slow estimators."""
    X, y = make_classification(ROWS, COLUMNS, n_informative=8, random_state=0)
    other = X + np.random.default_rng(1).normal(size=X.shape)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"MODELSEL_HOME": folder}):
        modelsel.watch(_frame(X[:SEALED]), name="large")
        for model in (
            LogisticRegression(),
            DecisionTreeClassifier(max_depth=8),
            RandomForestClassifier(20, n_jobs=1),
            HistGradientBoostingClassifier(max_iter=50),
        ):
            name = type(model).__name__
            model.fit(_frame(other[:5000]), y[:5000])
            slow = isinstance(model, RandomForestClassifier | HistGradientBoostingClassifier)
            yield _beside(f"{name}.predict, a frame of {ROWS:,} other rows", model.predict, _frame(other), must=slow)
            model.fit(other[:5000], y[:5000])
            yield _beside(f"{name}.predict, an array of {ROWS:,} other rows", model.predict, other, must=False)
        model = LogisticRegression().fit(other[:5000], y[:5000])
        yield _beside("LogisticRegression.predict, 100 other rows", model.predict, other[:100])
        yield _beside("LogisticRegression.fit, 5,000 other rows", lambda table: model.fit(table, y[:5000]), other[:5000])


def _frame(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(np.asfortranarray(values), columns=[f"c{i}" for i in range(COLUMNS)])


def _beside(work: str, call: Callable[[object], object], table: object, must: bool = True) -> Row:
    """A call in the context and outside of it by turns; the ratio is its extra time to its budget."""
    times: list[tuple[float, float]] = []
    for _ in range(TURNS):
        plain = _each(lambda: call(table))
        with modelsel.watching() as seen:
            call(table)
            watched = _each(lambda: call(table))
        assert not seen.findings
        times.append((watched, plain))
    watched, plain = (statistics.median(one) for one in zip(*times))
    ratios = tuple((ours - theirs) / max(LEAST, SHARE * theirs) for ours, theirs in times)
    note = f"{1000 * (watched - plain):.2f} ms more, {(watched - plain) / plain:.1%}"
    return Row(work, "5 % of the call, or 1 ms", ratios, watched, plain, "no finding", most=1.0 if must else None, note=note)


def _each(work: Callable[[], object], least: float = 0.05) -> float:
    """Processor time of a call, of as many in a row as take so long."""
    spent = [processor(work)]
    while sum(spent) < least:
        spent.append(processor(work))
    return statistics.mean(spent)


if __name__ == "__main__":
    for row in rows():
        print(row.work, row.note, f"{row.ratio:.2f}", row.reached)
