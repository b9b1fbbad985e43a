"""Every criterion × kind of test × policy, and with it a third of all pruners × softeners × leaf scores × cost matrices, each
third in its turn: it is refused with a reason before anything is fitted, or it grows and answers rows with missing values and
with levels never met.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest

from modelsel.config.schema import kinds
from modelsel.core.spec import make
from modelsel.core.types import Feature, Table, Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.learner.trees.leaf import Leaf
from modelsel.tree.growing.growth import MISSING, NOMINAL

COSTS = ((0, 1, 3), (2, 0, 1), (0.5, 4, 0))
COUNT_ERRORS = ("error_based", "pessimistic", "mdl")  # as if each cost as much
LEAVES = (Leaf(), Leaf("laplace"), Leaf("m_estimate", prior="parent"), Leaf("m_estimate", prior=(0.5, 0.25, 0.25)))


@pytest.fixture(scope="module")
def task() -> Task:
    """Sixty rows of three classes; numeric, nominal and ordered features of various costs, a sixth of the values missing."""
    rng = np.random.default_rng(4)
    features = (
        Feature("x", "numeric"), Feature("sky", "nominal", ("blue", "grey", "red", "black"), cost=3.0),
        Feature("size", "ordered", ("s", "m", "l"), cost=0.5),
    )  # fmt: skip
    values = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.integers(0, 3, 60)])
    target = np.digitize(values[:, 0] + values[:, 1] + 0.5 * rng.normal(size=60), [0.5, 1.5]).astype(np.int32)
    values[rng.random(values.shape) < 1 / 6] = np.nan
    return Task(name="small", features=features, values=values, rows=np.arange(60), classes=("A", "B", "C"), target=target)


@pytest.fixture(scope="module")
def later(task: Task) -> Table:
    """The rows again, some without any value, some of a level that the training rows lack or nobody declared."""
    values = task.values.copy()
    values[:5], values[5:10, 1], values[10:15, 1] = np.nan, 3, 4
    return task.with_features(task.features, values)


def candidates(grown: Tree) -> Iterator[tuple[Tree, bool]]:
    """All that is read off one growing, and whether it is to be refused."""
    for pruner, softener, leaf, costs in product(kinds("pruner"), kinds("softener"), LEAVES, ((), COSTS)):
        if make("pruner", pruner).fit_key() == grown.pruner.fit_key() and softener != "nelder_mead":
            learner = replace(grown, pruner=make("pruner", pruner), softener=make("softener", softener), leaf=leaf, costs=costs)
            yield learner, bool(costs) and pruner in COUNT_ERRORS


CRITERIA = [kind for kind in kinds("criterion") if "classes" in make("criterion", kind).reads]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_combination_is_refused_with_a_reason_or_answers(criterion: str, missing: str, task: Task, later: Table) -> None:
    turn = CRITERIA.index(criterion) + MISSING.index(missing)
    for nominal, pruner in product(NOMINAL, ("unpruned", "reduced_error", "deviance_sequence")):
        parts = {"criterion": make("criterion", criterion), "splits": Splits(nominal=nominal), "missing": missing}
        grown = Tree(**parts, pruner=make("pruner", pruner))
        never = nominal == "multiway" and (criterion == "twoing" or missing == "surrogate")
        valid = []
        for learner, refused in islice(candidates(grown), turn % 3, None, 3):
            reasons = list(learner.problems(task))
            assert bool(reasons) == (refused or never), (learner, reasons)
            assert all(len(reason.split()) > 3 for reason in reasons)
            valid += [] if reasons else [learner]
        if valid:
            outputs = grown.fit_path(task, positions(task), np.random.default_rng(0)).outputs(
                valid, later, positions(later), True
            )
            assert outputs.scores is not None
            np.testing.assert_allclose(outputs.scores.sum(axis=2), 1.0)
            assert set(np.unique(outputs.predicted)) <= {0, 1, 2}
            assert (outputs.scores >= 0).all()
