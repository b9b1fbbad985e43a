"""A loss matrix as rpart uses it, written down here because the other answers of rpart have none."""

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.routing import route

# rpart 4.1.19, kyphosis: loss matrix (true × predicted), then rows of its leaves and what their errors cost.
# rpart(Kyphosis ~ ., kyphosis, parms = list(split = "gini", loss = L), control = rpart.control(cp = -1, minsplit = 2,
#       minbucket = 1, maxdepth = 3, xval = 0))
RPART = [(((0, 5), (1, 0)), [2, 5, 5, 11, 12, 17, 29], 15.0), (((0, 1), (5, 0)), [1, 3, 5, 9, 12, 22, 29], 18.0)]


@pytest.mark.about("kyphosis")
@pytest.mark.parametrize(("loss", "leaves", "price"), RPART)
def test_a_loss_per_true_class_is_a_weight_as_in_rpart(reference_task, loss, leaves, price) -> None:
    """rpart grows by priors altered by the loss (Breiman et al. 1984, section 4.4): a weight per row of the class."""
    task = reference_task("kyphosis")
    weight = np.array(loss, float).sum(axis=1)[task.target]
    weighted = Task(
        name="weighted", features=task.features, values=task.values, rows=task.rows, classes=task.classes,
        target=task.target, weights=weight,
    )  # fmt: skip
    learner = Tree(criterion=make("criterion", "gini"), splits=Splits(nominal="subset"), max_depth=3, min_gain=1e-9)
    model = learner.fit(weighted, positions(task), np.random.default_rng(0))
    reached = np.bincount(route(model.cut.tree, task, positions(task)).leaf)
    assert sorted(reached[reached > 0].tolist()) == leaves
    wrong = model.predict(task) != task.target
    assert weight[wrong].sum() == price
