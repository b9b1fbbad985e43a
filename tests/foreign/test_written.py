"""Estimator objects with their grids become entries of a space, or it is said by name why not."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.config.build import Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError
from modelsel.foreign.objects import held_object
from modelsel.foreign.written import NotPlainError, space


def test_an_estimator_with_its_grid_is_an_entry_without_defaults():
    made = space({"svm": (SVC(C=2.0, kernel="rbf"), {"gamma": np.array([0.1, 1.0])}), "cart": "cart"})
    learner = {"kind": "estimator", "estimator": "sklearn.svm.SVC", "params": {"C": 2.0}}
    assert made == {"svm": {"learner": learner, "sweep": {"params.gamma": [0.1, 1.0]}}, "cart": "cart"}


def test_an_object_and_its_recipe_in_a_file_are_one_candidate_and_other_parameters_another():
    builder = Builder(Folders.of())
    learner = {"kind": "estimator", "estimator": "sklearn.svm.SVC", "params": {"C": 2.0}}
    spaces = (
        space({"a": (SVC(C=2.0), {"gamma": [0.1, 1.0]})}),
        {"a": {"learner": learner, "sweep": {"params.gamma": "choice(0.1, 1.0)"}}},
        space({"a": (SVC(C=3.0), {"gamma": [0.1, 1.0]})}),
    )
    made, written, other = ({one.id for one in expand(each, builder).candidates} for each in spaces)
    assert builder.problems == []
    assert made == written
    assert len(made) == 2
    assert not made & other


@pytest.mark.parametrize("entries", ["trees", ["cart", "knn"]])
def test_a_space_that_is_no_mapping_is_returned_as_it_is(entries: object) -> None:
    assert space(entries) is entries


def test_a_list_of_grids_is_their_union():
    made = space({"svm": (SVC(), [{"C": [1]}, {"gamma": [0.1]}])})
    assert made["svm"]["sweep"] == [{"params.C": [1]}, {"params.gamma": [0.1]}]


@pytest.mark.parametrize(
    "entry",
    [
        (AdaBoostClassifier(DecisionTreeClassifier()), {}), (SVC(kernel=np.dot), {}), (SVC(), {"kernel": [np.dot]}),
        (VotingClassifier([("a", SVC())]), {}),
    ],
)  # fmt: skip
def test_what_plain_values_cannot_say_is_held_and_named_by_its_identity(entry):
    made, again = space({"x": entry})["x"], space({"x": (clone(entry[0]), entry[1])})["x"]
    assert made == again
    assert made["learner"]["kind"] == "object"
    assert type(held_object(made["learner"]["identity"])) is type(entry[0])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (SVC, "SVC is a class: give an object"),
        ((SVC(), {"C": 3}), "a grid is a mapping"),
        ((SVC(kernel=np.dot), {"gama": [3]}), "SVC has no parameter 'gama'; did you mean 'gamma'"),
    ],
)
def test_what_is_no_candidate_is_refused_by_name(entry, said):
    with pytest.raises(NotPlainError, match=said):
        space({"x": entry})
    with pytest.raises(ConfigurationError, match="MSEL-217"):
        modelsel.SelectionCV({"x": entry}).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.slow
def test_selection_answers_as_grid_search_does_on_the_same_folds():
    X, y = load_iris(return_X_y=True)
    grid = {"n_estimators": [5, 10, 20], "max_depth": [1, 2]}
    estimator, folds = GradientBoostingClassifier(random_state=1), StratifiedKFold(3)
    ours = modelsel.SelectionCV({"gb": (estimator, grid)}, cv=folds).fit(X, y)
    theirs = GridSearchCV(estimator, grid, cv=folds).fit(X, y)
    said = {(one["max_depth"], one["n_estimators"]): score
            for one, score in zip(ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True)}  # fmt: skip
    for one, score in zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True):
        assert said[one["max_depth"], one["n_estimators"]] == pytest.approx(score, abs=1e-12)
    assert ours.best_estimator_.predict(X).tolist() == theirs.best_estimator_.predict(X).tolist()
