"""CV+ sets are those of the definition and, with its threshold, MAPIE's; they cover; rows that are not alike are refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB

from modelsel.core.spec import make
from modelsel.core.types import Candidate, Scoreboard
from modelsel.explanation.explain import fold_models
from modelsel.explanation.prediction_sets import (
    fold_model,
    guaranteed_coverage,
    less_strange,
    prediction_sets,
    unit_weights,
)
from modelsel.rule.best import Best
from modelsel.runner.study_data import refusal
from modelsel.scheme.group_kfold import GroupKfold
from modelsel.scheme.repeated_kfold import RepeatedKfold
from tests.extras import needs

SMOOTH = {"var_smoothing": 0.1}  # so that no score is 1 but for 1e-8, which MAPIE takes for equal
NAIVE = Candidate(make("learner", "sklearn", estimator="GaussianNB", params=SMOOTH))


def fitted(task, folds):
    made = [fold_model(NAIVE, task, fold, 0) for fold in folds.folds]
    return [model for model, _ in made], [unseen.strangeness for _, unseen in made]


def halves(task, seed):
    order = np.random.default_rng(seed).permutation(len(task))
    return task.take(np.sort(order[: len(order) // 2])), task.take(np.sort(order[len(order) // 2 :]))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_they_are_the_definition_written_out(tables, folded, coverage):
    task, new = halves(tables["wine"], 0)
    folds = folded(task, 4)
    models, strange = fitted(task, folds)
    found = prediction_sets([model.scores(new) for model in models], strange, coverage)
    n = len(task)
    for row in range(len(new)):
        for k in range(3):
            less = 0
            for fold in folds.folds:
                own = GaussianNB(**SMOOTH).fit(task.values[fold.analysis], task.target[fold.analysis])
                seen = own.predict_proba(task.values[fold.assessment])
                e = 1 - seen[np.arange(len(seen)), task.target[fold.assessment]]
                x = 1 - own.predict_proba(new.values[row : row + 1])[0, k]
                less += int((e < x - 1e-12).sum())
            assert found[row, k] == (less < coverage * (n + 1)), (row, k)
        if row > 12:
            break


@pytest.mark.parametrize("table", ["cancer", "wine", "iris"])
def test_counts_are_mapies_and_so_are_the_sets_with_its_threshold(tables, folded, table):
    mapie = needs("mapie.classification")
    task, new = halves(tables[table], 1)
    folds = folded(task, 5)
    number = np.empty(len(task), int)
    for fold in folds.folds:
        number[fold.assessment] = fold.index
    levels = [0.6, 0.8, 0.9, 0.95]
    theirs = mapie.CrossConformalClassifier(GaussianNB(**SMOOTH), confidence_level=levels, cv=PredefinedSplit(number))
    theirs.fit_conformalize(task.values, task.target)
    expected = theirs.predict_set(new.values, agg_scores="crossval")[1]
    models, strange = fitted(task, folds)
    scores = [model.scores(new) for model in models]
    counts, n = len(task) - less_strange(scores, strange, [np.ones(len(own)) for own in strange]), len(task)
    for at, level in enumerate(levels):
        same = counts >= (1 - level) * (n - 1) - 1e-8  # MAPIE's; the theorem's is > (1 − level)(n + 1) − 1
        assert np.array_equal(same, expected[:, :, at])
        ours = prediction_sets(scores, strange, level)
        assert (ours >= same).all()
        assert (ours != same).mean() < 0.05


def test_a_class_that_nobody_doubts_stands_alone_and_all_are_in_where_the_level_is_high(tables, folded):
    task, new = halves(tables["iris"], 2)
    models, strange = fitted(task, folded(task, 5))
    scores = [model.scores(new) for model in models]
    sizes = [prediction_sets(scores, strange, level).sum(axis=1).mean() for level in (0.5, 0.9, 0.99, 0.999)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3
    with pytest.raises(ValueError, match="between 0 and 1"):
        prediction_sets(scores, strange, 1.5)


def test_rows_that_are_not_alike_and_folds_that_overlap_are_refused(tables, folded):
    task = tables["iris"]
    folds = folded(task, 5)
    assert list(refusal(task, folds)) == []
    for name in ("times", "weights"):
        assert name in " ".join(refusal(replace(task, **{name: np.ones(150)}), folds))
    grouped = replace(task, groups=np.arange(150) // 5)
    assert "divide none of them" in " ".join(refusal(grouped, folds))
    assert list(refusal(grouped, GroupKfold(folds=5).instantiate(grouped, 0))) == []
    assert "every row once" in " ".join(refusal(task, RepeatedKfold(folds=3, repeats=2).instantiate(task, 0)))


def test_rows_of_a_unit_count_one_together(tables):
    task = replace(tables["iris"], groups=np.r_[np.zeros(50, int), np.repeat([1, 2], 25), np.arange(3, 53)])
    weights = unit_weights(task)
    assert np.bincount(task.groups, weights).tolist() == pytest.approx([1.0] * 53)
    rng = np.random.default_rng(0)
    strange, sizes = [rng.random(6).round(2), rng.random(4).round(2)], [np.array([3, 3, 3, 2, 2, 1]), np.array([2, 2, 4, 4])]
    scores = [rng.random((8, 3)).round(2) for _ in strange]
    for coverage in (0.5, 0.7, 0.9):
        found = prediction_sets(scores, strange, coverage, [1 / size for size in sizes])
        total = sum((1 / size).sum() for size in sizes)
        for row in range(8):
            for k in range(3):
                less = sum(
                    1 / size
                    for said, own, of in zip(scores, strange, sizes, strict=True)
                    for e, size in zip(own, of, strict=True)
                    if e < round(1 - said[row, k], 12)
                )
                assert found[row, k] == (less < coverage * (total + 1) - 1e-9)


def test_the_model_of_a_fold_is_that_of_the_choice_without_it(tables, folded):
    """The rule is asked anew by the scores of the other folds, of classes as of numbers."""
    task = tables["wine"]
    folds, two = folded(task, 3), (NAIVE, Candidate(make("learner", "majority")))
    scores = np.array([[0.1, 0.1, 0.9], [0.2, 0.2, 0.2]])
    board = Scoreboard(
        ids=("a", "b"), folds=scores, mean=scores.mean(axis=1), se=np.zeros(2), complexity=np.zeros(2), unit=("", ""),
        eligible=np.ones(2, bool),
    )  # fmt: skip
    of = SimpleNamespace(
        task=task, resampling=folds, seed=0, rule=Best(), apart=lambda function, *arguments: function(*arguments),
        selection=SimpleNamespace(candidates=two, winner=1, board=board),
    )  # fmt: skip
    for fold, place, (_, unseen) in zip(folds.folds, (1, 1, 0), fold_models(of), strict=True):
        expected = fold_model(two[place], task, fold, 0)[1].strangeness
        assert unseen.strangeness.tolist() == expected.tolist()
        assert unseen.strangeness.tolist() != fold_model(two[1 - place], task, fold, 0)[1].strangeness.tolist()


def test_what_is_promised_loses_the_smaller_of_two_terms():
    """1 − 2 α − (1 − 20/30) / 21: with many folds the other term, 2 · 0.95 / 2.5, is the larger."""
    assert guaranteed_coverage(0.9, 30, 20) == pytest.approx(0.8 - (1 / 3) / 21)
