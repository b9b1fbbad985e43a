"""The rows of a forest's tree: how often each position is drawn, and which of them only fill the leaves."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import HONEST, ROWS, below, of_tree, share, word

ALL, BOOTSTRAP, SUBSAMPLE = range(3)


@kernel(types.wholes(types.word, types.whole, types.whole, types.whole, types.whole))
def draw(seed, tree, n, how, size):
    """Draw the number of times that each of n positions is used.

    Each once, n times with repetition, or `size` of them without.
    """
    times, key = np.zeros(n, np.int64), of_tree(seed, tree) ^ ROWS
    if how == BOOTSTRAP:
        for i in range(n):
            times[below(word(key, i), n)] += 1
    elif how == ALL:
        times[:] = 1
    else:
        places = np.arange(n)
        for i in range(size):
            other = i + below(word(key, i), n - i)
            places[i], places[other] = places[other], places[i]
            times[places[i]] = 1
    return times


@kernel(types.flags(types.word, types.whole, types.whole, types.real))
def honest(seed, tree, n, part):
    """Draw the positions that fill the leaves and grow nothing: each with probability `part`."""
    key, chosen = of_tree(seed, tree) ^ HONEST, np.zeros(n, np.uint8)
    for i in range(n):
        chosen[i] = share(word(key, i)) < part
    return chosen


@kernel(types.word(types.word, types.whole))
def root(seed, tree):
    """The key of a tree's root."""
    return of_tree(seed, tree)
