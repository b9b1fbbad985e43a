"""Collapse the weakest links of a tree one after the other, and note the strength at which each node becomes a leaf.

The link of a node is gap / price: what its leaves save in risk, per price of the tests under it. The node of the least link
becomes a leaf, and what stands above it loses its gap and its price (Breiman, Friedman, Olshen and Stone 1984, chapter 3).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(types.reals(types.fixed_codes, types.fixed_codes, types.reals, types.reals, types.reals, types.real))
def collapse(parent, size, gap, price, link, tie):
    """Critical strength per node, infinite where it never collapses by itself; gap, price and link are used up."""
    critical, strength = np.full(len(link), np.inf), 0.0
    while True:
        node = 0
        for other in range(1, len(link)):
            if link[other] < link[node]:
                node = other
        if link[node] == np.inf:
            return critical
        if link[node] > strength + tie:
            strength = link[node]
        critical[node] = strength
        for below in range(node, node + size[node]):
            link[below] = np.inf
        above = parent[node]
        while above >= 0:
            gap[above] -= gap[node]
            price[above] -= price[node]
            link[above] = gap[above] / price[above]
            above = parent[above]
