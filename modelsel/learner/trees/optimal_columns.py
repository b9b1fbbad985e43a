"""Tests that an optimal tree may make, as chains of nested sides: of a chain, rows of rank ≤ c go left, for any c.

Numbers are cut between any two values that are present, names by one level against the rest, or grouped: any levels against the
others, 2^(L−1) − 1 tests of L levels. The groups that leave out the last level fall into chains in which each stands once: a
level is a bracket, open where it is not in the group; those that have no partner join the group from left to right.
Source: Greene & Kleitman (1976), symmetric chains.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers
from modelsel.kernels.layout import EQUALITY, SUBSET, THRESHOLD

GROUPED = "subset"
MOST_LEVELS = 8  # that are grouped: 127 tests in 35 chains


class TestChain(NamedTuple):
    """A chain of nested tests. `missing`: the side of missing values, None: the heavier; `usual`: what they are taken for."""

    feature: int
    test: int
    ranks: Integers
    level: float = np.nan  # EQUALITY
    missing: int | None = None
    usual: float = np.nan
    groups: Integers | None = None  # SUBSET: the rank of each level, then of missing values; −1: no row has it


class ChainPolicy(NamedTuple):
    """How missing values are treated (impute, level, branch), and whether levels are grouped."""

    missing: str
    grouped: bool = False


def nested_groups(levels: int) -> list[list[int]]:
    """Chains of groups of levels in which every division in two stands once: the rank of each level per chain.

    >>> nested_groups(3)
    [[1, 2, 3], [1, 0, 1]]
    """
    chains: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for group in range(1 << (levels - 1)):
        opened: list[int] = []
        pairs: list[tuple[int, int]] = []
        for level in range(levels - 1):
            if not group >> level & 1:
                opened.append(level)
            elif opened:
                pairs.append((opened.pop(), level))
        taken = {level for pair in pairs for level in pair}
        free = [level for level in range(levels - 1) if level not in taken]
        ranks = [len(free) + 1] * levels
        for place, level in enumerate(free):
            ranks[level] = place + 1
        for _, level in pairs:
            ranks[level] = 0
        chains[tuple(sorted(pairs))] = ranks
    return list(chains.values())


def chains(at: int, feature: Feature, values: Floats, weights: Floats, policy: ChainPolicy) -> Iterator[TestChain]:
    """Yield the chains of a feature."""
    absent, some = np.isnan(values), bool(np.isnan(values).any())
    nominal = feature.kind == "nominal"
    usual = usual_value(values[~absent], weights[~absent], nominal) if policy.missing != "branch" else np.nan
    if nominal and policy.grouped:
        imputed = policy.missing == "impute"
        yield from _groups(at, feature, np.where(absent, usual, values) if imputed else values, usual if imputed else np.nan)
        return
    if policy.missing == "level" and some:
        groups = np.append(np.zeros(len(feature.levels), np.int64), 1) if nominal else None
        yield TestChain(at, SUBSET if nominal else THRESHOLD, absent.astype(np.int64), missing=1, groups=groups)
    if nominal:
        yield from _levels(at, values, absent, usual, policy.missing)
    elif policy.missing == "branch" and some:
        known, ranks = np.unique(values[~absent], return_inverse=True)
        for side, place, shift in ((0, 0, 1), (1, len(known), 0)):
            chain = np.full(len(values), place, np.int64)
            chain[~absent] = ranks + shift
            yield TestChain(at, THRESHOLD, chain, missing=side)
    else:
        filled = np.where(absent, usual, values)
        yield TestChain(at, THRESHOLD, np.unique(filled, return_inverse=True)[1].astype(np.int64), usual=usual)


def _levels(at: int, values: Floats, absent: Booleans, usual: float, missing: str) -> Iterator[TestChain]:
    """Each level against the rest."""
    some = bool(absent.any())
    filled = np.where(absent, usual, values) if missing == "impute" else values
    levels = np.unique(filled[~np.isnan(filled)])
    for level in levels[: 1 if len(levels) == 2 and (missing == "impute" or not some) else None]:
        others = (filled != level).astype(np.int64)
        if missing == "branch" and some:
            yield TestChain(at, EQUALITY, others * ~absent, level, 0)
        taken = usual if missing == "impute" else np.nan
        yield TestChain(at, EQUALITY, others, level, 1 if some else None, taken)


def _groups(at: int, feature: Feature, values: Floats, usual: float) -> Iterator[TestChain]:
    """Levels in groups, missing values as a level of their own where they are left."""
    places = np.where(np.isnan(values), len(feature.levels), values).astype(np.int64)
    there = np.unique(places)
    if len(there) < 2:
        return
    for chain in nested_groups(len(there)):
        groups = np.full(len(feature.levels) + 1, -1, np.int64)
        groups[there] = chain
        yield TestChain(at, SUBSET, groups[places], usual=usual, groups=groups)


def usual_value(known: Floats, weights: Floats, nominal: bool) -> float:
    """The lower weighted median of numbers, the heaviest level of names (ties: the first); NaN where nothing is known."""
    values, which = np.unique(known, return_inverse=True)
    if not len(values):
        return np.nan
    weight = np.bincount(which, weights)
    return float(values[weight.argmax()] if nominal else values[np.searchsorted(weight.cumsum(), weight.sum() / 2 - 1e-12)])
