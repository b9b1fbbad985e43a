"""Class weights per node and confusion matrices, against NumPy and a plain loop."""

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import positions
from modelsel.measure.base import confusion
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.routing import route, weights_by_node
from tests.tree.in_numpy import weights_in_numpy
from tests.tree.test_route import drawn, task_of


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_every_node_gets_the_class_weights_of_the_rows_that_pass_it(holes: float) -> None:
    rng = np.random.default_rng(5)
    task = task_of(drawn(rng, 400, holes), rng)
    tree = grow(task, positions(task)[::2], make("criterion", "entropy"), GrowthParams("fractional", "multiway"))
    rows, weight = rng.integers(0, 400, 250), rng.random(250)
    routed = route(tree, task, rows)
    assert routed.whole == (holes == 0.0)
    found = weights_by_node(tree, routed, task.target[rows], weight)
    assert found.tobytes() == weights_in_numpy(tree, routed, task.target[rows], weight).tobytes()
    np.testing.assert_allclose(found[0], np.bincount(task.target[rows], weight, 3))


@pytest.mark.parametrize("weighted", [False, True])
def test_confusion_counts_every_row_of_every_candidate(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    truth, predicted = rng.integers(0, 4, 70).astype(np.int32), rng.integers(0, 4, (9, 70)).astype(np.int32)
    weights = rng.random(70) if weighted else None
    found = confusion(truth, predicted, weights, 4)
    assert confusion(truth[::2], predicted[:, ::2], None if weights is None else weights[::2], 4).sum() > 0, "as strided views"
    for own, said in zip(found, predicted, strict=True):
        plain = np.zeros((4, 4))
        for row, (true, answer) in enumerate(zip(truth, said, strict=True)):
            plain[true, answer] += 1.0 if weights is None else weights[row]
        assert own.tolist() == plain.tolist()


@pytest.mark.parametrize("said", [-1, 3])
def test_a_class_that_is_none_is_refused(said: int) -> None:
    with pytest.raises(ValueError, match="not one of the 3"):
        confusion(np.zeros(2, np.int32), np.array([[0, said]], np.int32), None, 3)
