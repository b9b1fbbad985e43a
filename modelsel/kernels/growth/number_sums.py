"""Nodes whose rows weigh one each, and their sums: of q = u·2^21 + v and of products of its parts, which add upwards."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import DEPTH, PARENT, RECORD

HALF = 21
TOTAL, U, UU, UV, VV, LEAST, LARGEST, ROWS = range(8)  # of a node: Σq, Σu, Σu², Σuv, Σv², least and largest q, rows
SUMS = 8


@kernel(_nrt=False)
def add(numbers, sums):
    """The sums of some rows."""
    total, u_total, uu, uv, vv = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    least, largest, low = numbers[0], numbers[0], np.int64((1 << HALF) - 1)
    for i in range(len(numbers)):
        q = numbers[np.uint64(i)]
        u, v = q >> HALF, q & low
        total += q
        u_total += u
        uu += u * u
        uv += u * v
        vv += v * v
        least = q if q < least else least
        largest = q if q > largest else largest
    sums[TOTAL], sums[U], sums[UU], sums[UV], sums[VV] = total, u_total, uu, uv, vv
    sums[LEAST], sums[LARGEST], sums[ROWS] = least, largest, len(numbers)


@kernel(_nrt=False)
def squares(sums):
    """Σ (q − M)² about the mean M, from whole sums about a whole number near it; 0 where all are equal."""
    if sums[LEAST] == sums[LARGEST]:
        return 0.0
    n, total, u = sums[ROWS], sums[TOTAL], sums[U]
    m, v = total // n, total - (u << HALF)
    mu, mv = m >> HALF, m & ((1 << HALF) - 1)
    uu = sums[UU] - 2 * mu * u + n * mu * mu
    uv = sums[UV] - mu * v - mv * u + n * mu * mv
    vv = sums[VV] - 2 * mv * v + n * mv * mv
    rest = float(total - m * n)
    about = float(uu) * 2.0 ** (2 * HALF) + float(uv) * 2.0 ** (HALF + 1) + float(vv)
    return max(about - rest * rest / float(n), 0.0)


@kernel(_nrt=False)
def splittable(sums, depth, least, enough, most):
    """A node is worth a search: two numbers, rows for two branches, and within the limits."""
    return sums[LEAST] < sums[LARGEST] and sums[ROWS] >= max(enough, 2 * least) and depth < most


@kernel(_nrt=False)
def begin(nodes, value, node, parent, depth):
    """An empty record of a new node."""
    record = nodes[node]
    for k in range(RECORD):
        record[k] = 0
    record[PARENT], record[DEPTH], value[node] = parent, depth, 0.0
