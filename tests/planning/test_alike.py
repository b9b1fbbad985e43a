"""Candidates that cannot differ on a table are counted once; those that can are not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from modelsel.config.build import build as learner
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task, positions
from modelsel.planning.make import distinct_candidates, say_identical

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
    assert len(distinct_candidates(candidates(), features)) == count


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
    kept = {one.learner.mattering(kinds): one for one in distinct_candidates(declared, features)}
    for each in declared:
        scores = [one.learner.fit(known, positions(known), np.random.default_rng(0)).scores(new)
                  for one in (each, kept[each.learner.mattering(kinds)])]  # fmt: skip
        assert np.array_equal(*scores)


def neighbours() -> list[Candidate]:
    sweep = product(("heom", "euclidean"), ("range", "deviation"), (None, 0.0, 1.0))
    return [Candidate(learner("knn", {"distance": d, "normalise": n, "smoothing": s})[0]) for d, n, s in sweep]


def leaves() -> list[Candidate]:
    sweep = product(("cart", "c45", "forest"), ("frequency", "laplace"))
    return [Candidate(learner(name, {"leaf.score": score})[0]) for name, score in sweep]


@pytest.mark.parametrize(("candidates", "read", "unread"), [(neighbours, 6, 3), (leaves, 6, 4)])
def test_scores_that_nothing_reads_tell_no_candidates_apart(candidates, read, unread) -> None:
    """But where they decide classes: a forest's trees vote with them."""
    assert len(distinct_candidates(candidates(), MIXED)) == read
    assert len(distinct_candidates(candidates(), MIXED, scores=False)) == unread


@pytest.mark.parametrize("candidates", [neighbours, leaves])
def test_what_is_left_out_where_no_score_is_read_predicts_as_the_one_that_stands_for_it(candidates) -> None:
    known, new = task(MIXED, 1), task(MIXED, 2)
    kinds = frozenset(feature.kind for feature in MIXED)
    for each in candidates():
        if not hasattr(each.learner, "mattering"):
            continue
        stands = each.learner.mattering(kinds, False)
        classes = [one.fit(known, positions(known), np.random.default_rng(0)).predict(new) for one in (each.learner, stands)]
        assert np.array_equal(*classes)


def test_prepared_features_and_learners_that_draw_are_left_as_they_are() -> None:
    step = make("preparer", "discretise_width")
    prepared = [replace(each, preparers=(step,)) for each in bayes()]
    assert len(distinct_candidates(prepared, NUMBERS)) == len(prepared)
    drawing = [replace(each, learner=replace(each.learner, pruner=make("pruner", "reduced_error"))) for each in trees()]
    assert len(distinct_candidates(drawing, NUMBERS)) == len(drawing)


def test_the_first_declared_stands_for_the_others() -> None:
    declared = bayes()
    assert distinct_candidates(declared, NUMBERS)[0] is declared[0]
    assert say_identical(16, 2).startswith("14 of 16 candidates")
    assert say_identical(2, 2) == ""
