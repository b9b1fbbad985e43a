"""Collapse the weakest links of a tree one after the other, and note the strength at which each node becomes a leaf.

The link of a node is gap / price: what its leaves save in risk, per price of the tests under it. The node of the least link
becomes a leaf, and what stands above it loses its gap and its price (Breiman, Friedman, Olshen and Stone 1984, chapter 3).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(_nrt=False)
def _weigh(parent, first, child, leaf, risk, price, gap, prices, link, stands):
    """Gap and price of each node and, at tests that stand, their ratio: bottom up, then top down."""
    for node in range(len(parent) - 1, -1, -1):
        gap[node], prices[node] = risk[node], 0.0
        if not leaf[node]:
            under, prices[node] = 0.0, price[node]
            for k in range(first[node], first[node + 1]):
                under += gap[child[k]]
                prices[node] += prices[child[k]]
            gap[node] = under
    for node in range(len(parent)):
        gap[node] = risk[node] - gap[node]
        above = parent[node]
        stands[node] = above < 0 or (stands[above] and not leaf[above])
        link[node] = gap[node] / prices[node] if stands[node] and not leaf[node] else np.inf


@kernel(_nrt=False)
def _least(node, first, child, link, least):
    """Find the least link at or under a node, the first where they are equal."""
    found = np.int64(node)
    for k in range(first[node], first[node + 1]):
        other = least[child[k]]
        if link[other] < link[found]:
            found = other
    return found


@kernel(
    types.reals(
        types.fixed_codes, types.fixed_codes, types.fixed_codes, types.fixed_booleans, types.fixed_reals, types.fixed_reals,
        types.real,
    )
)  # fmt: skip
def collapse(parent, first, child, leaf, risk, price, tie):
    """Critical strength per node, infinite where it never collapses by itself.

    Every node knows the least link under it, so that a collapse costs the depth.
    """
    n, strength = len(parent), 0.0
    gap, prices, link, critical, stands = np.empty(n), np.empty(n), np.empty(n), np.full(n, np.inf), np.empty(n, np.bool_)
    _weigh(parent, first, child, leaf, risk, price, gap, prices, link, stands)
    least = np.empty(n, np.int64)
    for node in range(n - 1, -1, -1):
        least[node] = _least(node, first, child, link, least)
    while link[least[0]] < np.inf:
        node = least[0]
        if link[node] > strength + tie:
            strength = link[node]
        critical[node], link[node], least[node] = strength, np.inf, node
        above = parent[node]
        while above >= 0:
            gap[above] -= gap[node]
            prices[above] -= prices[node]
            link[above] = gap[above] / prices[above]
            least[above] = _least(above, first, child, link, least)
            above = parent[above]
    return critical
