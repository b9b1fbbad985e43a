"""What all good trees share: which columns small trees can test that err hardly more in training than the best of their depth.

    good:     training errors ≤ least training errors + ε, every leaf of at least `min_leaf` weight
    skeleton: the columns that the root and its sides test, whatever the thresholds

Neighbouring thresholds make millions of good trees out of one finding, so that skeletons are listed and trees not counted. A
column is needed where the best tree without it is not good, and of no use where the best tree with it is not good. A search
that came to its end knows both; after one that met its limit the columns of all trees found are left out in turn, and what is
not known is said. Source: Xin et al. (2022) on sets of good trees.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import ClassTask, positions, readable
from modelsel.explanation.skeletons import Side, Skeleton, SkeletonSearch
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.tree.rules import to_text

LEAF = "a leaf"
DEPTHS = {2: "two", 3: "three"}
TOLD = 10  # skeletons and columns that the text names


@dataclass(frozen=True)
class GoodSkeleton:
    """The columns of root, left and right side ("a leaf" where nothing is tested), and the share of wrong training weight.

    A side of a tree of three levels reads as a skeleton of its own.
    """

    columns: tuple[str, str, str]
    errors: float

    def __str__(self) -> str:
        root, left, right = self.columns
        return f"{root} (then {left}; {right})"


@dataclass(frozen=True)
class Alternatives:
    """The good trees of two or three levels, by their columns.

    Parameters
    ----------
    rows : int
        Development rows.
    best : float
        Least share of wrong training weight.
    within : float
        Share by which good trees may be worse.
    min_leaf : float
        Weight of every leaf, at least.
    skeletons : tuple of GoodSkeleton
        Those that have a good tree, best first, 10,000 at most; where the search did not end, of those that were found.
    needed : tuple of str
        Columns that every good tree tests.
    unused : tuple of str
        Columns that no good tree tests.
    different : tuple of str
        Good trees whose columns differ most, as text: the best first.
    ended : bool
        Whether all were looked through; if not, nothing is said of what is unused.
    depth : int
        Levels of tests.
    found : int
        Skeletons that were found, at least.
    unknown : tuple of str
        Columns of which it is not known whether all good trees test them, or none.

    Examples
    --------
    >>> outcome.alternatives(within=0.1).needed  # doctest: +SKIP
    ('Outlook',)
    """

    rows: int
    best: float
    within: float
    min_leaf: float
    skeletons: tuple[GoodSkeleton, ...]
    needed: tuple[str, ...]
    unused: tuple[str, ...]
    different: tuple[str, ...]
    ended: bool
    depth: int = 2
    found: int = 0
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def alternatives(
    task: ClassTask, within: float = 0.01, min_leaf: float = 5, limit: int | None = 20_000, depth: int = 2
) -> Alternatives:
    """Look through the trees of two or three levels on all rows of a task.

    Parameters
    ----------
    task : ClassTask
        Rows and classes.
    within : float
        Share of the weight by which a good tree may have more errors than the best.
    min_leaf : float
        Weight of every leaf, at least.
    limit : int, optional
        Millions of steps; None: to the end.
    depth : int
        Levels of tests, 2 or 3.

    Returns
    -------
    Alternatives
        What they share, and three that differ most.
    """
    learner = OptimalTree(max_depth=depth, missing="branch", min_leaf=min_leaf, limit=limit)
    path = learner.fit_path(task, positions(task), np.random.default_rng(0))
    search = SkeletonSearch(path, depth, within)
    good, names = search.good(), [one.name for one in readable(task).features]
    errors = path.front(depth)[0]
    most, best = search.most / float(path.costs.weights.sum()), float(errors[-1])
    every = frozenset[int]() if float(errors[0]) <= most + 1e-12 else good.every
    spared = {} if good.ended else {at: _is_needed(learner, task, at, most) for at in every}
    needed = [at for at in sorted(every) if good.ended or spared[at]]
    absent = [at for at in range(len(names)) if at not in good.some]
    open_ones = [] if good.ended else sorted({*absent, *(at for at in every if spared[at] is None)})
    return Alternatives(
        rows=len(task), best=best, within=within, min_leaf=min_leaf,
        skeletons=tuple(GoodSkeleton(_named(one, names), one.errors) for one in good.skeletons),
        needed=tuple(names[at] for at in needed), unused=tuple(names[at] for at in absent) if good.ended else (),
        different=tuple(to_text(search.tree_of(one)) for one in _different(good.skeletons)), ended=good.ended, depth=depth,
        found=good.found, unknown=tuple(names[at] for at in open_ones),
    )  # fmt: skip


def _is_needed(learner: OptimalTree, task: ClassTask, column: int, most: float) -> bool | None:
    """Whether no tree without a column is good; None where its search met the limit before that was known."""
    rest = without(task, column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a search that met its limit: None says it
        errors, bound = learner.fit_path(rest, positions(rest), np.random.default_rng(0)).front(learner.max_depth)
    if errors[-1] <= most + 1e-12:
        return False
    return True if bound[-1] > most + 1e-12 else None


def check_search(within: float, depth: int) -> None:
    """Raise ConfigurationError for an ε that is no share of rows, or for other levels than two and three."""
    if depth not in DEPTHS:
        fix = "take 2 or 3"
        raise ConfigurationError(Problem("MSEL-292", f"good trees of {depth} levels are not searched", "--depth", fix))
    if not 0 <= within < 1:
        fix = "write a share such as 0.01"
        raise ConfigurationError(Problem("MSEL-292", f"{within:g} is no share of rows", "--within", fix))


def without(task: ClassTask, column: int) -> ClassTask:
    """The task without one of its columns."""
    kept = [at for at in range(len(task.features)) if at != column]
    features = tuple(task.features[at] for at in kept)
    return replace(task, features=features, values=np.asfortranarray(task.values[:, kept]))


def _named(one: Skeleton, names: Sequence[str]) -> tuple[str, str, str]:
    root, left, right = (_side(side, names) for side in one.features)
    return root, left, right


def _side(side: Side, names: Sequence[str]) -> str:
    """A column, a leaf, or a column and what its sides test."""
    if isinstance(side, tuple):
        root, left, right = side
        below = "" if left is right is None else f" [{_side(left, names)}; {_side(right, names)}]"
        return f"{names[root]}{below}"
    return LEAF if side is None else names[side]


def _different(found: Sequence[Skeleton]) -> list[Skeleton]:
    """The best skeleton, then that with the fewest columns of those taken before (Jaccard), of equals the better."""
    taken, left = list(found[:1]), list(found[1:])
    while left and len(taken) < 3:
        far = max(left, key=lambda one: min(_distance(one, other) for other in taken))
        if min(_distance(far, other) for other in taken) == 0:
            break
        taken.append(far)
        left.remove(far)
    return taken


def _distance(one: Skeleton, other: Skeleton) -> float:
    return 1 - len(one.used & other.used) / len(one.used | other.used)


def _lines(found: Alternatives) -> list[str]:
    """Yield the lines that `modelsel explain RUN --alternatives` prints."""
    rows = f"{found.rows:,} development rows"
    said = [
        f"trees of {DEPTHS[found.depth]} levels on {rows}, leaves of at least {found.min_leaf:g}: the best has",
        f"{found.best:.4f} wrong in training; good are those with at most {found.best + found.within:.4f}.",
        "Training errors flatter all of them.",
        "",
    ]
    if not found.ended:
        said += ["the search met its limit (--limit): there may be others, and what none tests is not known"]
        said += [f"every good tree tests    {_few(found.needed)}, as searches without it say"] if found.needed else []
        said += [f"not known of             {_few(found.unknown)}"] if found.unknown else []
    else:
        said += [
            f"every good tree tests    {_few(found.needed) or 'no column in common: each can be done without'}",
            f"no good tree tests       {_few(found.unused) or 'none: every column has a good tree'}",
        ]
    if found.skeletons:
        said += ["columns, with a good tree each (root, then its left and its right side):"]
        said += [f"  {one.errors:.4f}  {one}" for one in found.skeletons[:TOLD]]
        said += [f"  ... and {found.found - TOLD:,} more"] if found.found > TOLD else []
    if len(found.different) > 1:
        said += ["", "good trees whose columns differ most:"]
        said += [line for text in found.different for line in ("", *(f"  {line}" for line in text.splitlines()))]
    return said


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return f"{', '.join(names[:TOLD])}{more}"
