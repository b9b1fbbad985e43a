"""Moments of numeric columns per class, and logarithms of normal densities, one pass over a block of rows at a time.

A missing value counts nowhere and says nothing. Sums are of blocks, so that their rounding does not grow with the rows.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

BLOCK, ROWS = 512, 128  # rows that are summed, and rows whose densities are computed, at a time
LOWEST = -np.finfo(np.float64).max  # the logarithm at an infinite value


@kernel(_nrt=False)
def _add(total, part):
    for c in range(len(total)):
        total[c] += part[c]
        part[c] = 0.0


@kernel(_nrt=False)
def _sums(column, rows, target, weight, sums, whole, part, parts):
    """Weight and weighted sum per class of the known values."""
    for low in range(0, len(rows), BLOCK):
        for i in range(low, min(low + BLOCK, len(rows))):
            value = column[np.uint64(rows[i])]
            if value == value:
                c = np.uint64(target[np.uint64(rows[i])])
                part[c] += weight[i] * value
                parts[c] += weight[i]
        _add(sums, part)
        _add(whole, parts)


@kernel(_nrt=False)
def _squares(column, rows, target, weight, mean, squares, part):
    """Weighted squared distances from the class's mean."""
    for low in range(0, len(rows), BLOCK):
        for i in range(low, min(low + BLOCK, len(rows))):
            value = column[np.uint64(rows[i])]
            if value == value:
                c = np.uint64(target[np.uint64(rows[i])])
                part[c] += weight[i] * (value - mean[c]) ** 2
        _add(squares, part)


@kernel(types.nothing(
    types.fixed_rows, types.fixed_wholes, types.fixed_wholes, types.fixed_codes, types.fixed_reals, types.matrix, types.matrix,
    types.matrix,
))  # fmt: skip
def moments(values, columns, rows, target, weight, whole, mean, squares):
    """Write weight, mean and squared distances from it, columns × classes, of some rows; weight: of each of these."""
    part, parts = np.zeros(whole.shape[1]), np.zeros(whole.shape[1])
    for k in range(len(columns)):
        column = values[columns[k]]
        _sums(column, rows, target, weight, mean[k], whole[k], part, parts)
        for c in range(len(part)):
            mean[k, c] = mean[k, c] / whole[k, c] if whole[k, c] > 0 else 0.0
        _squares(column, rows, target, weight, mean[k], squares[k], part)


@kernel(types.nothing(
    types.fixed_rows, types.fixed_rows, types.fixed_wholes, types.fixed_wholes, types.fixed_rows, types.fixed_rows,
    types.fixed_rows, types.matrix,
))  # fmt: skip
def densities(values, by_row, rows, columns, mean, deviation, log, out):
    """Add the logarithms of the normal densities of some columns, up to a constant, to `out` (classes × rows).

    values: features × rows, or, where it has rows, by_row: rows × features; mean, deviation, log (of it): classes × columns.
    """
    block = np.empty((len(columns), ROWS))
    for low in range(0, len(rows), ROWS):
        many = min(ROWS, len(rows) - low)
        for k in range(len(columns)):
            for i in range(many):
                row = rows[low + i]
                block[k, i] = by_row[row, columns[k]] if len(by_row) else values[columns[k], row]
        for c in range(len(out)):
            own = out[c, low : low + many]
            for k in range(len(columns)):
                centre, width, less, column = mean[c, k], deviation[c, k], log[c, k], block[k]
                for i in range(many):
                    z = (column[i] - centre) / width
                    found = -0.5 * (z * z) - less
                    own[i] += 0.0 if found != found else max(found, LOWEST)
