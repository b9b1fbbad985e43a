"""The χ² p-value of a node's test, against SciPy's of its table of branches and classes."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from modelsel.core.types import Feature, Task
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.pruning import p_values

COLOUR = np.repeat([0.0, 1.0], [40, 30])  # no row is of the third level, whose branch stays empty
LABELS = np.concatenate([np.repeat([0, 1], [30, 10]), np.repeat([0, 1], [10, 20])]).astype(np.int32)


def test_a_branch_without_rows_counts_for_nothing() -> None:
    feature = Feature("colour", "nominal", ("red", "green", "blue"))
    task = Task(
        name="t",
        features=(feature,),
        values=np.asfortranarray(COLOUR[:, None]),
        rows=np.arange(70),
        classes=("no", "yes"),
        target=LABELS,
    )
    tree = Tree(splits=Splits(nominal="multiway")).fit(task, np.arange(70), np.random.default_rng(0)).cut.tree
    assert tree.weight.tolist() == [70.0, 40.0, 30.0, 0.0]
    expected = chi2_contingency(np.array([[30, 10], [10, 20]]), correction=False).pvalue
    assert p_values(tree) == pytest.approx([expected, np.nan, np.nan, np.nan], nan_ok=True)
