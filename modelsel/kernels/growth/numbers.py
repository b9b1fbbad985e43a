"""Sums of whole numbers at a node and its children, for a target that is a number.

A row counts u = v − m·w: v its weighted whole number, m the node's mean, w its weight. With weights that are whole numbers all
of them are (`steps` = 0); else v and m·w are rounded once per row, and weights are multiples of 1 / `steps`.
"""

import math

import numpy as np

from modelsel.kernels.compiler import kernel

PART = 42  # binary digits of a square among the squares of a node


@kernel(_nrt=False)
def weighted(q, weight, steps, parts):
    """v of a row."""
    if steps == 0.0:
        return q * np.int64(weight)
    return np.int64(np.rint(q * weight * parts))


@kernel(_nrt=False)
def rounded(weight, steps):
    """A weight as a multiple of a step."""
    return weight if steps == 0.0 else np.rint(weight * steps) / steps


@kernel(_nrt=False)
def shift_of(total, size, weight, steps):
    """m·w, where Σ v = total and Σ w = size."""
    if steps == 0.0:
        return (total // np.int64(size)) * np.int64(weight)
    return np.int64(np.rint((float(total) / size) * weight))


@kernel(_nrt=False)
def mean_of(total, size, steps):
    """The mean m that sums are taken about."""
    return float(total // np.int64(size)) if steps == 0.0 else float(total) / size


@kernel(_nrt=False)
def centre(rows, weight, whole, steps, parts, u):
    """u of the rows of a node; returns Σ u, Σ w and the mean that u is about."""
    total, size, rest = np.int64(0), 0.0, np.int64(0)
    for i in range(len(rows)):
        u[i] = weighted(whole[np.uint64(rows[i])], weight[i], steps, parts)
        total += u[i]
        size += weight[i]
    for i in range(len(rows)):
        u[i] -= shift_of(total, size, weight[i], steps)
        rest += u[i]
    return rest, size, mean_of(total, size, steps)


@kernel(_nrt=False)
def shares_of(branch, weight, branches, shares):
    """Shares of the known weight that the branches have; returns how many rows are in none."""
    divided, total = 0, 0.0
    for b in range(branches):
        shares[b] = 0.0
    for i in range(len(branch)):
        if branch[i] >= 0:
            shares[branch[i]] += weight[i]
            total += weight[i]
        else:
            divided += 1
    for b in range(branches):
        shares[b] /= total
    return divided


@kernel(_nrt=False)
def child_moments(branch, rows, weight, whole, shares, child, steps, parts, divided):
    """Weight, mean and Σ w (q − mean)² of the rows of a child (mean: NaN where there are none)."""
    total, size, low, high = np.int64(0), 0.0, np.int64(2**62), np.int64(-(2**62))
    for i in range(len(branch)):
        if branch[i] == child or branch[i] < 0:
            own = weight[i] if branch[i] == child else rounded(weight[i] * shares[child], steps)
            if own > 0.0:
                q = whole[np.uint64(rows[i])]
                total += weighted(q, own, steps, parts)
                size += own
                low, high = min(low, q), max(high, q)
    if size == 0.0:
        return 0.0, np.nan, 0.0
    if low == high:
        return size, float(low), 0.0
    mean = float(total) / size / parts
    return size, mean, _squares(branch, rows, weight, whole, shares, child, steps, mean, divided)


@kernel(_nrt=False)
def _squares(branch, rows, weight, whole, shares, child, steps, mean, divided):
    """Σ w (q − mean)², each part rounded to 2^-42 of the largest."""
    largest, exponent, sums = 0.0, 0, np.int64(0)
    for again in range(2):
        for i in range(len(branch)):
            if branch[i] == child or (divided > 0 and branch[i] < 0):
                own = weight[i] if branch[i] == child else rounded(weight[i] * shares[child], steps)
                off = float(whole[np.uint64(rows[i])]) - mean
                part = own * (off * off)
                if again:
                    sums += np.int64(np.rint(math.ldexp(part, PART - exponent)))
                else:
                    largest = max(largest, part)
        exponent = math.frexp(largest)[1]
    return math.ldexp(float(sums), exponent - PART)
