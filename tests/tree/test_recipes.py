"""Each recipe of conf/learner on the textbooks' tables, against a tree by the book: its class and scores of every row."""

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import positions
from tests.contract.plain_tree import PlainTree
from tests.learner.test_tree import RECIPES, recipe

CONCEPTS = ("adult_and_stretch", "adult_or_stretch", "yellow_small", "yellow_small_or_adult_and_stretch")
TABLES = {
    "play_tennis": make("dataset", "play_tennis"),
    **{f"balloons_{concept}": make("dataset", "balloons", concept=concept) for concept in CONCEPTS},
    **{f"monks_{problem}": make("dataset", "monks", problem=problem) for problem in (1, 2, 3)},
    "tic_tac_toe": make("dataset", "tic_tac_toe"),
}


OF_CLASSES = [name for name in RECIPES if "classes" in recipe(name).criterion.reads]  # those of numbers: test_number_trees


@pytest.mark.sampled(25)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", OF_CLASSES)
def test_it_answers_as_a_tree_by_the_book(name: str, table: str) -> None:
    task, learner = TABLES[table].read(), recipe(name)
    model = learner.fit(task, positions(task), np.random.default_rng(0))
    plain = PlainTree(learner, task, positions(task), np.random.default_rng(0))
    classes, scores = zip(*(plain.answer(task, row) for row in range(len(task))), strict=True)
    assert model.predict(task).tolist() == list(classes)
    np.testing.assert_allclose(model.scores(task), np.array(scores), rtol=0, atol=1e-12)
    assert model.n_leaves == len(plain.root.leaves())
