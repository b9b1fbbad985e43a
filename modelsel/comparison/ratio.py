"""The ratio of assessed to analysed rows of a scheme, for the corrected resampled variance."""

import numpy as np

from modelsel.core.types import Resampling


def assessed_per_analysed(resampling: Resampling) -> float:
    """Mean over folds of n_test / n_train; a row drawn twice (bootstrap) is one row.

    1/9 for ten folds of equal size.
    """
    return float(np.mean([len(fold.assessment) / len(np.unique(fold.analysis)) for fold in resampling.folds]))
