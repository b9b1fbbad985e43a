"""An estimator's own statements: NaN and weights follow scikit-learn's tags and signatures."""

from typing import Any


def takes_nan(made: Any) -> bool:
    """Say whether an estimator's tags allow NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.allow_nan)


def takes_weights(made: Any) -> bool:
    """Say whether an estimator's `fit` takes weights of rows."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(made, "sample_weight"))


def is_classifier(made: Any) -> bool:
    """Say whether an estimator is a classifier by scikit-learn's conventions."""
    from sklearn.base import is_classifier

    return bool(is_classifier(made))
