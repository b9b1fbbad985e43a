"""An estimator's own statements: NaN and weights follow scikit-learn's tags and signatures."""

from typing import Any


def takes_nan(made: Any) -> bool:
    """Do an estimator's tags say that it takes NaN?"""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.allow_nan)


def takes_weights(made: Any) -> bool:
    """Does its `fit` take weights of rows?"""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(made, "sample_weight"))


def is_classifier(made: Any) -> bool:
    """Is it one by scikit-learn's conventions?"""
    from sklearn.base import is_classifier

    return bool(is_classifier(made))
