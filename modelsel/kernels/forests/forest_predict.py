"""Predict many rows by a whole forest: nodes of eight bytes, rows in blocks, eight of them down a tree side by side.

A node is code | column | step to the second child (24, 16 and 24 bits); the first child is the next node. A leaf steps nowhere,
and its code names the class that has its whole vote (0: see its list, else the class and 1). A missing value is above all codes
in a row's first half, and below all in its second one (there only if some value of the block is missing).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

LANES = 8
BLIND = 3  # steps down before it is asked whether all have arrived
COLUMN, CODE = np.uint64(24), np.uint64(40)
STEP, PLACE = np.uint64((1 << 24) - 1), np.uint64((1 << 16) - 1)


@kernel(inline="always", _nrt=False)
def _cell(value, low, high, scale, cells):
    """The cell of a grid that holds a value: it never falls as the value rises."""
    return min(np.int64((min(max(value, low), high) - low) * scale), cells - 1)


@kernel(types.nothing(types.fixed_reals, types.real, types.real, types.real, types.codes))
def grid(cuts, low, high, scale, starts):
    """Count the cuts in cells before each, for one cell more than there are."""
    cells = len(starts) - 1
    for cut in cuts:
        starts[_cell(cut, low, high, scale, cells) + 1] += 1
    for cell in range(cells):
        starts[cell + 1] += starts[cell]


@kernel(types.nothing(
    types.fixed_rows, types.fixed_reals, types.fixed_wholes, types.fixed_rows, types.fixed_codes, types.fixed_wholes,
    types.columns,
))  # fmt: skip
def code(values, cuts, first, ranges, starts, first_start, codes):
    """Count the cuts below each value of a block of rows; `grid` narrows the search.

    `first`, `first_start`: where each feature's cuts and cells begin, and the end; `ranges`: low, high and scale of its grid.
    """
    p = values.shape[1]
    twice = codes.shape[1] > p
    for f in range(p):
        own, cells = cuts[first[f] : first[f + 1]], starts[first_start[f] : first_start[f + 1]]
        low, high, scale = ranges[f, 0], ranges[f, 1], ranges[f, 2]
        for i in range(len(values)):
            value = values[i, f]
            if np.isnan(value):
                codes[i, f] = -1
                if twice:
                    codes[i, p + f] = 0
                continue
            cell = np.uint64(_cell(value, low, high, scale, len(cells) - 1))
            start, end = cells[cell], cells[cell + np.uint64(1)]
            while start < end:
                middle = (start + end) >> 1
                if own[np.uint64(middle)] < value:
                    start = middle + 1
                else:
                    end = middle
            codes[i, f] = start
            if twice:
                codes[i, p + f] = start


@kernel(inline="always", _nrt=False)
def _below(words, codes, row, at):
    """The child that takes a row; a leaf is its own child."""
    word = words[at]
    step = word & STEP
    second = np.uint64(codes[row + ((word >> COLUMN) & PLACE)]) > (word >> CODE)
    return at + (step if second else min(step, np.uint64(1)))


@kernel(_nrt=False)
def _walk(words, root, codes, width, i, at):
    """LANES rows from i on down a tree."""
    start, wide, moved = np.uint64(i * width), np.uint64(width), np.uint64(1)
    for k in range(LANES):
        at[k] = np.uint64(root)
    while moved != 0:
        for _ in range(BLIND):
            for k in range(LANES):
                at[k] = _below(words, codes, start + np.uint64(k) * wide, at[k])
        moved = np.uint64(0)
        for k in range(LANES):
            to = _below(words, codes, start + np.uint64(k) * wide, at[k])
            moved |= to ^ at[k]
            at[k] = to


@kernel(
    types.nothing(
        types.fixed_columns, types.fixed_bits, types.fixed_wholes, types.fixed_codes, types.fixed_codes, types.fixed_wholes,
        types.whole, types.entries,
    )
)  # fmt: skip
def poll(codes, words, trees, first, classes, shares, one, votes):
    """Votes of all trees for a block of rows; `one`: the vote of a leaf that holds one class."""
    n, width, at = len(votes), codes.shape[1], np.zeros(LANES, np.uint64)
    flat = codes.reshape(codes.size)
    for t in range(len(trees) - 1):
        for i in range(0, n, LANES):
            _walk(words, trees[t], flat, width, i, at)
            for k in range(min(LANES, n - i)):
                node = at[k]
                own = words[node] >> CODE
                if own > 0:
                    votes[np.uint64(i + k), own - np.uint64(1)] += one
                else:
                    for j in range(first[node], first[node + np.uint64(1)]):
                        votes[i + k, classes[j]] += shares[j]
