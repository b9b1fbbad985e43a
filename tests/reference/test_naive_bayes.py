"""Naive Bayes against e1071, scikit-learn, Weka's NaiveBayesSimple and plain formulas.

Named differences: a class of equal numeric values has a hundredth of the column's deviation here, where e1071 and Weka have 0
and no answer; a row that every class makes impossible gets the prior; ties within 1e-10 go to the first class, as there.
"""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.types import positions
from modelsel.learner.naive_bayes import NaiveBayes

NOTHING = np.random.default_rng(0)


def learner_of(variant: str) -> NaiveBayes:
    """`laplace0.5_prior_freq`, `m2_marginal_prior_freq`; `..._prior_laplace`."""
    kind, _, rest = variant.partition("_")
    prior = "laplace" if variant.endswith("prior_laplace") else "empirical"
    if kind.startswith("laplace"):
        return NaiveBayes(smoothing=float(kind.removeprefix("laplace")), prior=prior)
    return NaiveBayes(m=float(kind.removeprefix("m")), m_prior=rest.partition("_")[0], prior=prior)


def has_narrow_classes(task) -> bool:
    """Is some class constant (or has fewer than two known values) in a numeric column?"""
    for column, feature in enumerate(task.features):
        for cls in range(len(task.classes)):
            own = task.values[task.target == cls, column]
            if feature.kind == "numeric" and len(np.unique(own[~np.isnan(own)])) < 2:
                return True
    return False


def test_posteriors_and_folds_are_those_of_the_formulas(enough, answers, reference_task, reference_folds):
    compared = 0
    for answer in answers("nb/formula_*").values():
        task, fold = reference_task(answer["dataset"]), reference_folds(answer["dataset"])
        if has_narrow_classes(task):
            continue
        variants = answer["variants"]
        learners = [learner_of(name) for name in variants]
        outputs = learners[0].fit_path(task, positions(task), NOTHING).outputs(learners, task, positions(task), scores=True)
        crossed = np.empty_like(outputs.predicted)
        for number in np.unique(fold):
            inside = [learner_of(name) for name in variants]
            path = inside[0].fit_path(task, np.flatnonzero(fold != number), NOTHING)
            crossed[:, fold == number] = path.outputs(inside, task, np.flatnonzero(fold == number), scores=False).predicted
        for position, (name, expected) in enumerate(variants.items()):
            where = f"{answer['dataset']} {name}"
            for row, posterior in enumerate(expected["posterior_first20"]):
                if posterior is not None and None not in posterior:
                    assert outputs.scores[position, row] == pytest.approx(posterior, abs=1e-9), where
                    compared += 1
            loose = expected["cv_ties_or_undefined"] + expected["rows_with_all_zero_or_undefined_posterior"]
            hits = np.bincount(fold, crossed[position] == task.target)
            different = np.abs(hits - expected["cv_correct_per_fold"]).sum()
            if "cv_predicted_class_index" in expected:
                different = (crossed[position] != np.array(expected["cv_predicted_class_index"])).sum()
            assert different <= loose, where
    assert enough(compared, 1000)


def test_posteriors_are_those_of_e1071(answers, reference_task):
    for answer in answers("nb/e1071_*").values():
        task = reference_task(answer["dataset"])
        if has_narrow_classes(task):
            continue
        for name, run in answer["runs"].items():
            model = learner_of(f"{name}_prior_freq").fit(task, positions(task), NOTHING)
            expected = run["posterior_first_rows"]
            found = model.scores(task)[: len(expected)]
            whole = [i for i, row in enumerate(expected) if row is not None and None not in row]
            assert found[whole] == pytest.approx(np.array([expected[i] for i in whole], float), abs=1e-9), answer["dataset"]


def test_the_whole_table_is_right_where_scikit_learn_is_asked(reference_task):
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    task = reference_task("tic_tac_toe")
    known = np.flatnonzero(~np.isnan(task.values).any(axis=1))
    levels = [len(f.levels) for f in task.features]
    for alpha in (0.1, 1.0, 7.0):
        theirs = CategoricalNB(alpha=alpha, min_categories=levels).fit(task.values[known], task.target[known])
        ours = NaiveBayes(smoothing=alpha).fit(task, known, NOTHING)
        assert ours.scores(task)[known] == pytest.approx(theirs.predict_proba(task.values[known]), abs=1e-10)
    iris = reference_task("sk_iris")
    theirs = GaussianNB(var_smoothing=0).fit(iris.values, iris.target)
    theirs.var_ *= 50 / 49  # scikit-learn divides by n, this by n - 1
    assert NaiveBayes().fit(iris, positions(iris), NOTHING).scores(iris) == pytest.approx(
        theirs.predict_proba(iris.values), abs=1e-10
    )


def of_population_form(task, rows) -> np.ndarray:
    """Class scores with variances over n, as scikit-learn's, in place of n − 1."""
    path = NaiveBayes().fit_path(task, rows, NOTHING)
    n = path.counted.class_weight[:, None]
    counts = replace(path.counted, deviation=path.counted.deviation * np.sqrt((n - 1) / n))
    return replace(path, counted=counts).model(NaiveBayes()).scores(task)


def test_scores_and_folds_are_those_of_scikit_learns_gaussian(enough, answers, reference_task, reference_folds):
    compared = 0
    for name, answer in answers("sklearn/*").items():
        expected = answer["nb"]["GaussianNB_var_smoothing0"]
        if isinstance(expected, str):  # a class of equal values: scikit-learn has no answer
            assert has_narrow_classes(reference_task(name)), name
            continue
        task, fold = reference_task(name), reference_folds(name)
        first = np.array(expected["train_proba_first20"])
        assert of_population_form(task, positions(task))[: len(first)] == pytest.approx(first, abs=1e-9), name
        hits = np.zeros(len(np.unique(fold)), int)
        for number in np.unique(fold):
            rows = np.flatnonzero(fold == number)
            said = np.argmax(of_population_form(task, np.flatnonzero(fold != number))[rows], axis=1)
            hits[number] = (said == task.target[rows]).sum()
        assert hits.tolist() == expected["cv_correct_per_fold"], name
        compared += len(task)
    assert enough(compared, 6000)
