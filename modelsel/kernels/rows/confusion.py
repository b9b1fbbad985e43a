"""Confusion matrices of many candidates in one pass over what they predicted."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(types.cube(types.fixed_codes, types.fixed_columns, types.fixed_reals, types.whole))
def count(truth, predicted, weights, classes):
    """Candidates × true class × predicted class; unit weights where `weights` is empty, nothing where a class is none."""
    counts, unit = np.zeros((len(predicted), classes, classes)), len(weights) == 0
    for i in range(len(predicted)):
        own, said = counts[i], predicted[i]
        for row in range(len(truth)):
            c = said[row]
            if c < 0 or c >= classes:
                return counts[:0]
            own[truth[row], c] += 1.0 if unit else weights[row]
    return counts
