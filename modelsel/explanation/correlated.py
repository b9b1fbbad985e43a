"""Columns that go together: ordered ones by Spearman's rank correlation, nominal ones by Cramér's V.

    V = sqrt(χ² / (n (min(r, c) − 1)))

Groups are what links above a threshold join (single linkage). A missing value takes the mean rank in the first, and leaves the
row out in the second. Source: Spearman (1904); Cramér (1946).
"""

import numpy as np

from modelsel.core.types import Booleans, Floats, Table

MOST = 1_000  # columns above which nothing is looked for


def together(table: Table, least: float) -> tuple[tuple[int, ...], ...]:
    """Groups of two and more columns, each in ascending order; none in tables of more than a thousand columns."""
    from scipy.cluster.hierarchy import DisjointSet

    many = len(table.features)
    if not 1 < many <= MOST:
        return ()
    linked = DisjointSet(range(many))
    for one, other in np.argwhere(np.triu(association(table) > least, 1)):
        linked.merge(int(one), int(other))
    return tuple(sorted(tuple(sorted(group)) for group in linked.subsets() if len(group) > 1))


def association(table: Table) -> Floats:
    """Columns × columns, 0 to 1: |Spearman's ρ|, Cramér's V, and 0 between an ordered and a nominal column."""
    nominal = np.array([feature.kind == "nominal" and not feature.text for feature in table.features])
    found = np.zeros((len(nominal), len(nominal)))
    ordered = np.array([place for place, feature in enumerate(table.features) if feature.kind != "nominal"], np.int64)
    found[np.ix_(ordered, ordered)] = _spearman(table.values[:, ordered])
    names = np.flatnonzero(nominal)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            found[one, other] = found[other, one] = cramers_v(table.values[:, one], table.values[:, other])
    np.fill_diagonal(found, 1.0)
    return found


def cramers_v(one: Floats, other: Floats) -> float:
    """Compute Cramér's V of two columns of codes; 0 where one of them has a single value.

    >>> cramers_v(np.array([0., 0, 1, 1]), np.array([1., 1, 0, 0]))
    1.0
    """
    known: Booleans = ~(np.isnan(one) | np.isnan(other))
    rows, columns = (np.unique(codes[known], return_inverse=True)[1] for codes in (one, other))
    if not known.any() or min(rows.max(), columns.max()) == 0:
        return 0.0
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    from scipy.stats import chi2_contingency

    chi2 = chi2_contingency(table, correction=False).statistic
    return float(np.sqrt(chi2 / (table.sum() * (min(table.shape) - 1))))


def _spearman(values: Floats) -> Floats:
    """Compute absolute rank correlations of columns; missing values take the middle."""

    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0, nan_policy="omit")
    centred = ranks - np.nanmean(ranks, axis=0) if values.size else ranks
    centred = np.nan_to_num(centred)
    size = np.sqrt((centred**2).sum(axis=0))
    scaled = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    return np.asarray(np.abs(scaled.T @ scaled))
