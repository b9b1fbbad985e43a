"""The parts that general growers share: records of tests, routes of rows that surrogates send, and room for them."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import AGREED, CODE, FLIPPED, NEXT, SURROGATES, WHOLE
from modelsel.kernels.splits.split_competition import longer

# Arrays that are replaced by longer ones (loops copy them: the assignment of a slice takes seconds to compile).


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


# Records that `grow` makes of a test's surrogates and of a set of levels, and the routes of rows that surrogates send.


@kernel(_nrt=False)
def send_by_mimics(branch, rows, ranked, found, codes, nominal, level_side):
    """Rows of missing value go where the first surrogate that is known sends them, or to the larger side."""
    for i in range(len(branch)):
        if branch[i] >= 0:
            continue
        branch[i] = ranked[SURROGATES]
        for g in ranked[:SURROGATES]:
            code = codes[g, rows[i]] if g >= 0 else -1
            side = -1
            if code >= 0:
                side = level_side[g, code] if nominal[g] else int((code <= found[g, CODE]) == (found[g, FLIPPED] == 1.0))
            if side >= 0:
                branch[i] = side
                break


@kernel()
def write_mimics(node, ranked, found, nominal, levels, level_side, mimics, agreement, sides, mimicked, sided):
    """Surrogates of a node, best first; returns the records with room for them, and how many there are."""
    mimics, agreement = longer(mimics, mimicked + SURROGATES), longer(agreement, mimicked + SURROGATES)
    for g in ranked[:SURROGATES]:
        if g < 0:
            break
        mimics[mimicked, 0], mimics[mimicked, 1], mimics[mimicked, 5] = node, g, -1
        agreement[mimicked, 0] = found[g, AGREED] / found[g, WHOLE]
        if nominal[g]:
            sides = longer(sides, sided + levels[g])
            for level in range(levels[g]):
                sides[sided + level, 0] = level_side[g, level]
            mimics[mimicked, 5] = sided
            sided += levels[g]
        else:
            mimics[mimicked, 2], mimics[mimicked, 3] = int(found[g, CODE]), int(found[g, NEXT])
            mimics[mimicked, 4] = int(found[g, FLIPPED])
        mimicked += 1
    return mimics, agreement, sides, mimicked, sided


@kernel()
def write_marks(codes, rows, levels, inside, absent, marks, marked):
    """Write the levels that the first branch takes: those of `inside` that occur, and all others if `absent`."""
    marks = longer(marks, marked + levels)
    for level in range(levels):
        marks[marked + level, 0] = absent
    for i in range(len(rows)):
        if codes[rows[i]] >= 0:
            marks[marked + codes[rows[i]], 0] = inside[codes[rows[i]]]
    return marks


@kernel(_nrt=False)
def largest(counts, first, branches):
    """Return the branch with the most weight; ties: the first."""
    best, most = 0, -1.0
    for b in range(branches):
        own = 0.0
        for c in range(counts.shape[1]):
            own += counts[first + b, c]
        if own > most + 1e-9:
            best, most = b, own
    return best
