"""Weak slices of a candidate: rows with more out-of-fold errors than the rest, found on one half, tested on the other.

A small tree is grown on the errors (wrong or right) of one half of the rows. Its leaves with more errors than that half has on
average are the slices; the other half, which had no part in finding them, says how many rows and errors they have there. p is
Fisher's exact test of the slice against the rest of that half, one-sided; over slices Holm's correction:

    p = P(X ≥ k),  X hypergeometric: errors among the slice's n rows when all K errors of N rows are anywhere

Groups that were declared are not searched for: they are shown on all rows, with Fisher's two-sided test against the rest and a
correction of their own. Of numbers an answer is wrong when it is off by more than a tolerance; the mean absolute error of
slices stands beside, without an interval. Intervals are Clopper and Pearson's. Rows count once each, whatever their weight;
where rows stand in groups, whole groups go to a half, and there are no tests and intervals, which would take rows for
independent.
Source: Athey & Imbens (2016) on honest trees; Fisher (1935); Holm (1979).
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import generator
from modelsel.core.types import Booleans, ClassTask, Feature, Floats, Integers, Task, positions
from modelsel.criterion.gini import Gini
from modelsel.kernels.compiler import compile_nothing
from modelsel.learner.tree import Splits, Tree
from modelsel.learner.trees.model import TreeModel, TreeRule
from modelsel.record.documents import ErrorsFacts, NamedErrorsFacts, SliceFacts, SlicesFacts
from modelsel.statistics.bounds import clopper_pearson
from modelsel.statistics.paired import holm

SMALL = 100_000  # cells up to which NumPy has grown the tree long before the kernels would be compiled
DEPTH = 3
LEAST = 20  # rows of a leaf, in the half that finds
SHARE = 0.05  # or this share of that half, where it is more
MOST = 5  # slices that are tested
OFF, FEWEST = 0.25, 0.05  # shares of the rows: what is off by more where nothing else is said; what at least has to be
QUARTERS = 4  # a declared column of numbers is cut into so many parts of equal size


@dataclass(frozen=True, eq=False)
class RowErrors:
    """Errors of the out-of-fold answers: which are wrong (numbers: off by more than a tolerance), and how far off each is."""

    wrong: Booleans
    away: Floats | None = None
    tolerance: float | None = None

    def take(self, rows: Integers) -> "RowErrors":
        """The errors of some rows."""
        return RowErrors(self.wrong[rows], None if self.away is None else self.away[rows], self.tolerance)

    def errors_of(self, inside: Booleans) -> ErrorsFacts:
        """Rows, errors and rate of some rows, and their mean absolute error where there is one."""
        n, k = int(inside.sum()), int(self.wrong[inside].sum())
        away = UNSTATED if self.away is None else float(self.away[inside].mean()) if n else None
        return ErrorsFacts(rows=n, wrong=k, rate=k / n if n else None, mae=away)

    def summary(self, lines: list[NamedErrorsFacts]) -> SlicesFacts:
        """The errors on all rows and on each slice."""
        whole = self.errors_of(np.ones(len(self.wrong), bool))
        off = self.away is not None and self.tolerance is not None
        return SlicesFacts(
            rows=whole.rows, wrong=whole.wrong, tolerance=self.tolerance if off else UNSTATED,
            mae=whole.mae if off else UNSTATED, slices=_adjust_p_values(lines),
        )  # fmt: skip


def off_by(away: Floats, tolerance: float | None) -> RowErrors:
    """Rows off by more than the tolerance; by more than three quarters are, where it would leave too few or too many of them.

    Which rows are off does not depend on where in the table they stand, so that tests of slices hold for either.

    >>> off_by(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2.5).tolerance, off_by(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 9.0).tolerance
    (2.5, 4.0)
    """
    share = float(np.mean(away > tolerance)) if tolerance is not None and len(away) else 0.0
    if tolerance is None or not FEWEST <= share <= 1 - FEWEST:
        tolerance = float(f"{np.quantile(away, 1 - OFF, method='higher'):.2e}") if len(away) else 0.0
    return RowErrors(np.asarray(away > tolerance), away, tolerance)


def weak_slices(task: Task, errors: RowErrors, seed: int) -> SlicesFacts:
    """Slices found by one half of the rows and tested by the other."""
    finding = half(task, generator(seed, task.draw_fingerprint, "slices"))
    testing = np.flatnonzero(~finding)
    with compile_nothing() if task.values.size <= SMALL else nullcontext():
        model, rules = find(task, errors.wrong, finding)
        leaf, own = model.leaf_of(task, testing), errors.take(testing)
    return own.summary([_count_slice(own, leaf == rule.leaf, task, _words(task, rule)) for rule in rules])


def declared_slices(task: Task, errors: RowErrors, columns: Sequence[str]) -> SlicesFacts:
    """Every level of some columns (numbers: quarters), with the errors there, on all rows."""
    lines: list[NamedErrorsFacts] = []
    for name in columns:
        for words, inside in _levels(task, name):
            lines.append(_count_slice(errors, inside, task, words, name))
    return errors.summary(lines)


def half(task: Task, rng: np.random.Generator) -> Booleans:
    """Draw the half of the rows, or of the groups, on which slices are found."""
    unit = positions(task) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    chosen = rng.permutation(int(unit.max()) + 1) % 2 == 0
    return np.asarray(chosen[unit])


def find(task: Task, wrong: Booleans, finding: Booleans) -> tuple[TreeModel, list[TreeRule]]:
    """The tree of errors, and its leaves with more of them than the finding half has on average, the worst first."""
    rows = np.flatnonzero(finding)
    errors = ClassTask(
        name=task.name, features=task.features, values=task.values, rows=task.rows, groups=task.groups, units=task.units,
        target=wrong.astype(np.int32), classes=("right", "wrong"),
    )  # fmt: skip
    grower = Tree(criterion=Gini(), splits=Splits(nominal="equality"), max_depth=DEPTH, min_leaf=max(LEAST, SHARE * len(rows)))
    model = grower.fit_path(errors, rows, np.random.default_rng(0)).model(grower)
    assert isinstance(model, TreeModel)
    share = model.cut.counts[:, 1] / np.maximum(model.cut.counts.sum(axis=1), 1)
    rules = [rule for rule in model.leaf_rules() if rule.conditions and share[rule.leaf] > wrong[rows].mean()]
    return model, sorted(rules, key=lambda rule: -share[rule.leaf])[:MOST]


def _words(task: Task, rule: TreeRule) -> str:
    return " and ".join(condition.words(task.features[condition.feature]) for condition in rule.conditions)


def _count_slice(errors: RowErrors, inside: Booleans, task: Task, words: str, column: str = "") -> NamedErrorsFacts:
    """Rows, errors, rate, interval and p of a slice among some rows; of a declared column p is for more errors or fewer."""
    found = errors.errors_of(inside)
    line = NamedErrorsFacts(column=column or UNSTATED, slice=words, **found.stated, low=None, high=None, p=None)
    if not found.rows or task.groups is not None:
        return line
    low, high = clopper_pearson(found.wrong, found.rows)
    return line.but(low=low, high=high, p=_p(errors.wrong, inside, both=bool(column)))


def _p(wrong: Booleans, inside: Booleans, both: bool) -> float:
    """Fisher's exact p of the slice against the other rows."""
    n, k, total, errors = int(inside.sum()), int(wrong[inside].sum()), len(wrong), int(wrong.sum())
    if both:
        from scipy.stats import fisher_exact

        return float(fisher_exact(np.array([[k, n - k], [errors - k, total - n - errors + k]])).pvalue)
    found = np.arange(k, min(errors, n) + 1)
    likely = _choices(errors, found) + _choices(total - errors, n - found) - _choices(total, n)
    return min(1.0, float(np.exp(likely[n - found <= total - errors]).sum()))


def _choices(many: int, some: Integers | int) -> Floats:
    """ln of how many ways there are to take some of many."""
    return np.asarray(gammaln(many + 1.0) - gammaln(np.asarray(some) + 1.0) - gammaln(np.maximum(many - some, 0) + 1.0))


def _adjust_p_values(lines: list[NamedErrorsFacts]) -> list[SliceFacts]:
    """Add Holm's adjusted p-value to each tested slice."""
    adjusted = iter(holm([line.p for line in lines if line.p is not None]))
    return [SliceFacts(adjusted=None if line.p is None else float(next(adjusted)), **line.stated) for line in lines]


def _levels(task: Task, name: str) -> list[tuple[str, Booleans]]:
    """Each level, or quarter, of a column in words, and which rows are in it; the last are those where it is missing."""
    feature: Feature = next(one for one in task.features if one.name == name)
    values = task.column(name)
    if feature.levels:
        found = [(f"{name} = {level}", values == code) for code, level in enumerate(feature.levels)]
    else:
        found = _quarters(feature, values)
    missing = np.isnan(values)
    return [one for one in (*found, (f"{name} is missing", missing)) if one[1].any()]


def _quarters(feature: Feature, values: Floats) -> list[tuple[str, Booleans]]:
    """Divide a column at its quartiles, or at each value where there are few."""
    known = values[~np.isnan(values)]
    if len(np.unique(known)) <= QUARTERS:
        return [(f"{feature.name} = {feature.number(value)}", values == value) for value in np.unique(known)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, QUARTERS + 1)[1:-1]))
    low, high = [-np.inf, *edges], [*edges, np.inf]
    return [(_between(feature, a, b), (values > a) & (values <= b)) for a, b in zip(low, high)]


def _between(feature: Feature, low: float, high: float) -> str:
    """Write a range of values as a condition."""
    name, least, most = feature.name, feature.number(low, 6), feature.number(high, 6)
    if np.isinf(low):
        return f"{name} <= {most}"
    return f"{name} > {least}" if np.isinf(high) else f"{least} < {name} <= {most}"
