"""Draws that depend on what they are for and not on when they are made: a word is a hash of a key and a counter.

The key of a tree comes from the seed and the tree's number, the key of a node from its parent's and its side, so that a tree
stopped early is the deep tree cut there. Words are those of SplitMix64 (Steele, Lea & Flood, 2014): word i of a key is
mix(key + (i + 1)·γ). A number below m is the upper 32 bits of a word times m (its bias is below m/2³²).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ROWS, HONEST, CUT, SIDE, TREE = (
    np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB), np.uint64(0x8EBC6AF09C88C6E3), np.uint64(0x589965CC75374CC3),
    np.uint64(0x1D8E4E27C47D124F),
)  # fmt: skip
HALF, ONE = np.uint64(32), np.uint64(1)
UNIT = 1.0 / 2.0**53


@kernel(inline="always", _nrt=False)
def mix(x):
    """The finaliser of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@kernel(inline="always", _nrt=False)
def word(key, counter):
    """Word `counter` of a key."""
    return mix(key + (np.uint64(counter) + ONE) * GAMMA)


@kernel(inline="always", _nrt=False)
def below(bits, m):
    """A whole number from 0 to m − 1."""
    return np.int64(((bits >> HALF) * np.uint64(m)) >> HALF)


@kernel(inline="always", _nrt=False)
def share(bits):
    """A real number from 0 to 1, 1 not among them."""
    return np.float64(bits >> np.uint64(11)) * UNIT


@kernel(inline="always", _nrt=False)
def of_tree(seed, tree):
    """The key of a tree's root."""
    return word(seed ^ TREE, tree)


@kernel(inline="always", _nrt=False)
def of_child(key, side):
    """The key of the first (0) or second (1) child of a node."""
    return word(key ^ SIDE, side)


# The rows of a forest's tree: how often each position is drawn, and which of them only fill the leaves.


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
