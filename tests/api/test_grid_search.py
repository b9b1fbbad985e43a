"""scikit-learn's own tests of GridSearchCV, of the installed version and by name, with SelectionCV in its place."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV as Theirs

from modelsel import SelectionCV

theirs = pytest.importorskip("sklearn.model_selection.tests.test_search")

APPLY = (
    "test_X_as_list", "test_y_as_list", "test_pandas_input", "test_grid_search_error", "test_grid_search_one_grid_point",
    "test_grid_search_when_param_grid_includes_range", "test_grid_search_correct_score_results",
    "test_grid_search_score_method",
    "test_grid_search_groups", "test_grid_search_sparse", "test_grid_search_sparse_scoring",
    "test_grid_search_precomputed_kernel", "test_grid_search_precomputed_kernel_error_nonsquare",
    "test_grid_search_cv_results", "test_grid_search_cv_results_multimetric", "test_trivial_cv_results_attr",
    "test_cv_results_multi_size_array", "test_search_cv_results_rank_tie_breaking", "test_search_train_scores_set_to_false",
    "test_grid_search_failing_classifier", "test_grid_search_failing_classifier_raise", "test_refit", "test_refit_callable",
    "test_refit_callable_invalid_type", "test_refit_callable_multi_metric",
    "test_callable_single_metric_same_as_single_string", "test_pickle", "test_predict_proba_disabled", "test_n_features_in",
    "test_stochastic_gradient_loss_param", "test_transform_inverse_transform_round_trip", "test_search_cv_timing",
    "test_search_default_iid", "test_search_cv_pairwise_property_delegated_to_base_estimator",
    # regressors
    "test_classes__property", "test_grid_search_pipeline_steps", "test_search_with_estimators_issue_29157",
    "test_search_cv_sample_weight_equivalence",
)  # fmt: skip
DO_NOT = {
    "several targets at once": ("test_grid_search_with_multioutput_data",),
    "a class of one's own over BaseSearchCV": ("test_custom_run_search",),
    "a score that is defined on no fold is an error": ("test_search_cv_results_none_param",),
    "no target: there is nothing to predict": (
        "test_unsupervised_grid_search", "test_gridsearch_no_predict", "test_grid_search_no_score",
        "test_cv_results_dtype_issue_29074",
    ),
    "two candidates that say the same are one": (
        "test_grid_search_cv_splits_consistency", "test_grid_search_classifier_all_fits_fail",
        "test_callable_multimetric_clf_all_fits_fail",
    ),
    "a callable gives one number; several scores have names beforehand": (
        "test_callable_multimetric_confusion_matrix", "test_callable_multimetric_same_as_list_of_strings",
        "test_callable_multimetric_error_on_invalid_key", "test_callable_multimetric_error_failing_clf",
    ),
    "a wrong setting is a ConfigurationError that names all problems": (
        "test_grid_search_bad_param_grid", "test_no_refit", "test_grid_search", "test_unsupported_sample_weight_scorer",
        "test_search_cv_using_minimal_compatible_estimator",
    ),
    "a prediction that is not a class is a failure": ("test_grid_search_allows_nans",),
    "fit passes on weights, groups, times and units, and nothing else": (
        "test_SearchCV_with_fit_params", "test_scalar_fit_param", "test_scalar_fit_param_compat",
        "test_multi_metric_search_forwards_metadata", "test_score_rejects_params_with_no_routing_enabled",
    ),
}  # fmt: skip


class GridSearchCV(SelectionCV):  # type: ignore[misc]
    """The signature of scikit-learn's."""

    scheme = measure = search = seconds = None
    rule, seed, record, task, weights_are = "best", 0, False, "auto", "auto"
    asked = 0

    def __init__(
        self, estimator: Any, param_grid: Any, *, scoring: Any = None, n_jobs: Any = None, refit: Any = True, cv: Any = None,
        verbose: int = 0, pre_dispatch: Any = "2*n_jobs", error_score: Any = np.nan, return_train_score: bool = False,
    ) -> None:  # fmt: skip
        self.estimator, self.param_grid, self.scoring, self.n_jobs, self.refit = estimator, param_grid, scoring, n_jobs, refit
        self.cv, self.verbose, self.pre_dispatch, self.error_score = cv, verbose, pre_dispatch, error_score
        self.return_train_score = return_train_score

    @property
    def space(self) -> Any:  # type: ignore[override]
        """The estimator with its grid."""
        GridSearchCV.asked += 1
        return self.estimator, self.param_grid


def cases(test: Any) -> Iterator[dict[str, Any]]:
    """The arguments of a test that is parametrised, but for those that are about random search."""
    sets = []
    for mark in (one for one in getattr(test, "pytestmark", []) if one.name == "parametrize"):
        names = [name.strip() for name in mark.args[0].split(",")] if isinstance(mark.args[0], str) else list(mark.args[0])
        values = [one.values if hasattr(one, "marks") else (one,) if len(names) == 1 else one for one in mark.args[1]]
        sets.append([dict(zip(names, each, strict=True)) for each in values])
    for each in itertools.product(*sets):
        whole = {name: replaced(value) for one in each for name, value in one.items()}
        if not any("Random" in str(value) or "Halving" in str(value) for value in whole.values()):
            yield whole


def replaced(value: Any) -> Any:
    if value is Theirs:
        return GridSearchCV
    return GridSearchCV(**value.get_params(deep=False)) if type(value) is Theirs else value


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", APPLY)
def test_it_passes_the_tests_of_grid_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    test = getattr(theirs, name, None)
    if test is None:
        pytest.skip("another version of scikit-learn has it")
    monkeypatch.setattr(theirs, "GridSearchCV", GridSearchCV)
    before = GridSearchCV.asked
    for arguments in cases(test):
        test(**arguments)
    assert GridSearchCV.asked > before, "a test that makes no search shows nothing"


def test_most_of_them_are_there_and_no_name_stands_twice() -> None:
    others = [name for names in DO_NOT.values() for name in names]
    assert len(APPLY) >= 25
    assert len({*APPLY, *others}) == len(APPLY) + len(others)
    assert sum(hasattr(theirs, name) for name in APPLY) >= 25
