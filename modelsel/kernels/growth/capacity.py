"""Arrays that are replaced by longer ones (loops copy them: the assignment of a slice takes seconds to compile)."""

import numpy as np

from modelsel.kernels.compiler import kernel


@kernel()
def wider(array, size):
    """The same array with room for `size` columns."""
    if size <= array.shape[1]:
        return array
    longer = np.empty((array.shape[0], max(size, 2 * array.shape[1])), array.dtype)
    for i in range(array.shape[0]):
        for k in range(array.shape[1]):
            longer[i, k] = array[i, k]
    return longer


@kernel()
def roomier(array, size):
    """An array with room for `size`; what it held is lost."""
    return array if size <= len(array) else np.empty(2 * size, array.dtype)


@kernel()
def extended(array, more, start, end):
    """The array with `more` in its places from `start` to `end`, and room for them."""
    longer = array
    if end > len(array):
        longer = np.empty(2 * end, array.dtype)
        for i in range(start):
            longer[i] = array[i]
    for i in range(end - start):
        longer[start + i] = more[i]
    return longer
