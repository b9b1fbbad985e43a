"""Pipelines that share steps, against GridSearchCV of the same pipelines and folds: columns of texts, numbers, names.

Ten strengths of a linear model behind the same columns, and behind two sizes of the vocabulary: the loop fits every branch for
every candidate and fold, and asks it for the assessment rows again. Processor seconds, one thread on either side.
"""

import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Row, processor
from modelsel import SelectionCV

LETTERS, TURNS = 3_000, 3
STRENGTHS = np.logspace(-2, 2, 10).tolist()


def letters() -> tuple[pd.DataFrame, np.ndarray]:
    """Texts of fifty words of a thousand, drawn by rank, numbers and towns; the class leans on all of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, LETTERS)
    words = np.array([f"word{number}" for number in range(1_000)])
    ranks = np.minimum(rng.zipf(1.3, (LETTERS, 50)) + 3 * y[:, None], 999)
    frame = pd.DataFrame(rng.normal(y[:, None], 3, (LETTERS, 10)), columns=[f"x{number}" for number in range(10)])
    towns = np.array([f"town{number}" for number in range(200)])[rng.integers(0, 200, LETTERS)]
    return frame.assign(letter=[" ".join(row) for row in words[ranks]], town=towns), y


def program() -> Any:
    columns = ColumnTransformer([
        ("letter", TfidfVectorizer(ngram_range=(1, 2)), "letter"),
        ("town", OneHotEncoder(handle_unknown="ignore"), ["town"]),
        ("numbers", StandardScaler(), [f"x{number}" for number in range(10)]),
    ])  # fmt: skip
    return make_pipeline(columns, RidgeClassifier(solver="sparse_cg", max_iter=20))


def rows() -> Iterable[Row]:
    X, y = letters()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grids = {
        "ten strengths": {"ridgeclassifier__alpha": STRENGTHS},
        "ten strengths × two vocabularies": {
            "ridgeclassifier__alpha": STRENGTHS, "columntransformer__letter__max_features": [2_000, 20_000],
        },
    }  # fmt: skip
    for name, grid in grids.items():
        ours = SelectionCV((program(), grid), cv=folds, refit=False, n_jobs=1)
        theirs = GridSearchCV(program(), grid, cv=folds, refit=False)
        with threadpool_limits(1):
            pairs = [(processor(lambda: ours.fit(X, y)), processor(lambda: theirs.fit(X, y))) for _ in range(TURNS)]  # noqa: B023
        same = [ours.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
        assert np.array_equal(same, [theirs.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
        yield Row(
            f"a ColumnTransformer of texts, {name} × 3 folds, {LETTERS:,} letters",
            "GridSearchCV, the same pipelines and folds",
            tuple(them / us for us, them in pairs),
            statistics.median(us for us, _ in pairs),
            statistics.median(them for _, them in pairs),
            equal="accuracies of all candidates in all folds, bit for bit",
            goal=None,
        )
