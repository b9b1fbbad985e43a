"""Parameters of other people's estimators: known names, plain values, and what every fit is told beside them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from modelsel.foreign.parameters import named_parameters, settle_parameters, unknown_parameters, unwritable_parameters
from tests.extras import needs


def test_forests_are_kept_to_one_thread_and_seeded():
    told = settle_parameters(RandomForestClassifier, {"n_jobs": 8, "max_depth": 3}, 7)
    assert told == {"max_depth": 3, "random_state": 7}  # without n_jobs: one thread


def test_a_seed_that_is_given_stays():
    assert settle_parameters(HistGradientBoostingClassifier, {"random_state": 3}, 7) == {"random_state": 3}


def test_lightgbm_is_told_one_thread_under_each_of_its_names():
    kind = needs("lightgbm").LGBMClassifier
    told = settle_parameters(kind, {"num_threads": 4, "verbose": 1}, 7)
    assert told == {"n_jobs": 1, "verbose": 1, "random_state": 7, "deterministic": True, "force_col_wise": True}


def test_xgboost_and_catboost_are_told_one_thread_a_seed_and_to_be_quiet():
    xgboost, catboost = needs("xgboost"), needs("catboost")
    assert settle_parameters(xgboost.XGBClassifier, {"nthread": 4}, 7) == {"n_jobs": 1, "verbosity": 0, "random_state": 7}
    told = settle_parameters(catboost.CatBoostClassifier, {"allow_writing_files": True}, 7)
    assert told == {"thread_count": 1, "allow_writing_files": False, "verbose": False, "random_seed": 7}


@pytest.mark.parametrize("name", ["verbose", "path_smooth", "num_iterations", "num_leaves", "linear_tree"])
def test_names_behind_keyword_arguments_are_known(name):
    assert list(unknown_parameters(needs("lightgbm").LGBMClassifier, {name: 1})) == []


def test_a_misspelt_name_is_found_also_behind_keyword_arguments():
    lightgbm, xgboost = needs("lightgbm"), needs("xgboost")
    assert "did you mean 'num_leaves'?" in " ".join(unknown_parameters(lightgbm.LGBMClassifier, {"num_leafs": 3}))
    assert "did you mean 'max_depth'?" in " ".join(unknown_parameters(xgboost.XGBClassifier, {"max_deph": 3}))
    assert list(unknown_parameters(xgboost.XGBClassifier, {"updater": "prune"})) == []
    assert "has no parameter 'gama'" in " ".join(unknown_parameters(RandomForestClassifier, {"gama": 3}))


def test_values_that_are_not_plain_are_named():
    plain = {"a": 1, "b": [1.5, None], "c": {"d": "e"}}
    assert list(unwritable_parameters(plain)) == []
    for value in (np.float64(float("nan")), float("inf"), object(), print, {1: 2}):
        assert "parameter 'x'" in " ".join(unwritable_parameters({**plain, "x": value}))


def test_a_class_that_leaves_parameters_of_its_base_out_is_not_given_them():
    class Fixed(RandomForestClassifier):
        def __init__(self, max_depth=None):
            super().__init__(max_depth=max_depth)

    assert "max_depth" in named_parameters(Fixed)
    assert not {"random_state", "n_jobs"} & named_parameters(Fixed)
