"""Candidates that cannot differ on a table are counted once; those that can are not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from modelsel.config.build import learner
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task, positions
from modelsel.planning.alike import counted_once, told_apart

NUMBERS = (Feature("x", "numeric"), Feature("y", "numeric"))
WORDS = (Feature("a", "nominal", ("r", "g", "b")), Feature("b", "nominal", ("s", "t")))
GRADES = (Feature("a", "ordered", ("r", "g", "b")), Feature("b", "ordered", ("s", "t")))
MIXED = (NUMBERS[0], WORDS[0])


def task(features: tuple[Feature, ...], seed: int, rows: int = 80) -> Task:
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=rows) if f.kind == "numeric" else rng.integers(0, len(f.levels), rows) for f in features]
    target = (columns[0] + rng.normal(size=rows) > np.mean(columns[0])).astype(np.int32)
    return Task(name="t", features=features, values=np.column_stack(columns).astype(float), rows=np.arange(rows),
                classes=("no", "yes"), target=target)  # fmt: skip


def bayes() -> list[Candidate]:
    """Sixteen, as a person would sweep them."""
    sweep = product(("gaussian", "kernel"), (0.0, 0.5, 1.0, 2.0), (None, 2.0))
    return [Candidate(learner("naive_bayes", {"numeric": n, "smoothing": s, "m": m})[0]) for n, s, m in sweep]


def trees() -> list[Candidate]:
    sweep = product(("multiway", "equality", "subset"), ("midpoint", "observed"))
    return [Candidate(learner("tree", {"splits.nominal": n, "splits.threshold": t})[0]) for n, t in sweep]


@pytest.mark.parametrize(
    ("candidates", "features", "count"),
    [(bayes, NUMBERS, 2), (bayes, WORDS, 5), (bayes, MIXED, 10), (trees, NUMBERS, 2), (trees, WORDS, 3), (trees, GRADES, 2)],
)
def test_only_those_that_can_differ_are_counted(candidates, features, count) -> None:
    assert len(told_apart(candidates(), features)) == count


@pytest.mark.parametrize("features", [NUMBERS, WORDS, GRADES, MIXED])
@pytest.mark.parametrize("candidates", [bayes, trees])
def test_what_is_left_out_answers_as_the_one_that_stands_for_it(candidates, features) -> None:
    """On rows that it was not fitted on, with missing values, class scores too."""
    known, new = task(features, 1), task(features, 2)
    values = np.array(new.values)
    values[:10, 0] = np.nan
    new = new.with_features(features, values)
    declared = candidates()
    kinds = frozenset(feature.kind for feature in features)
    kept = {one.learner.mattering(kinds): one for one in told_apart(declared, features)}
    for each in declared:
        scores = [one.learner.fit(known, positions(known), np.random.default_rng(0)).scores(new)
                  for one in (each, kept[each.learner.mattering(kinds)])]  # fmt: skip
        assert np.array_equal(*scores)


def test_prepared_features_and_learners_that_draw_are_left_as_they_are() -> None:
    step = make("preparer", "discretise_width")
    prepared = [replace(each, preparers=(step,)) for each in bayes()]
    assert len(told_apart(prepared, NUMBERS)) == len(prepared)
    drawing = [replace(each, learner=replace(each.learner, pruner=make("pruner", "reduced_error"))) for each in trees()]
    assert len(told_apart(drawing, NUMBERS)) == len(drawing)


def test_the_first_declared_stands_for_the_others() -> None:
    declared = bayes()
    assert told_apart(declared, NUMBERS)[0] is declared[0]
    assert counted_once(16, 2).startswith("14 of 16 candidates")
    assert counted_once(2, 2) == ""
