"""What all good trees share: which columns trees of two levels can test that have hardly more training errors than the best.

    good:     training errors ≤ least training errors + ε, every leaf of at least `min_leaf` weight
    skeleton: the columns that the root and both sides test, whatever the thresholds

Neighbouring thresholds make millions of good trees out of one finding, so that skeletons are listed and trees not counted. A
column is needed where the best tree without it is not good, and of no use where the best tree with it is not good. Both are
known only where the search came to its end. Source: Xin et al. (2022) on sets of good trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import ClassTask, positions, readable
from modelsel.learner.optimal_tree import OptimalTree, Skeleton
from modelsel.tree.export.rules import to_text

LEAF = "a leaf"
TOLD = 10  # skeletons and columns that the text names


@dataclass(frozen=True)
class GoodSkeleton:
    """The columns of root, left and right side ("a leaf" where nothing is tested), and the share of wrong training weight."""

    columns: tuple[str, str, str]
    errors: float

    def __str__(self) -> str:
        root, left, right = self.columns
        return f"{root} (then {left}; {right})"


@dataclass(frozen=True)
class Alternatives:
    """The good trees of two levels, by their columns.

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
        Those that have a good tree, best first; where the search did not end, those that were found.
    needed : tuple of str
        Columns that every good tree tests.
    unused : tuple of str
        Columns that no good tree tests.
    different : tuple of str
        Good trees whose columns differ most, as text: the best first.
    ended : bool
        Whether all were looked through; if not, nothing is said of what is needed or unused.

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

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def alternatives(task: ClassTask, within: float = 0.01, min_leaf: float = 5, limit: int | None = 20_000) -> Alternatives:
    """Look through the trees of two levels on all rows of a task.

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

    Returns
    -------
    Alternatives
        What they share, and three that differ most.
    """
    learner = OptimalTree(max_depth=2, missing="branch", min_leaf=min_leaf, limit=limit)
    path = learner.fit_path(task, positions(task), np.random.default_rng(0))
    found, ended = path.skeletons(within)
    names = [one.name for one in readable(task).features]
    one_leaf, best = float(path.front(2)[0][0]), float(path.front(2)[0][-1])
    used = [one.used for one in found] + ([frozenset[int]()] if one_leaf <= best + within + 1e-12 else [])
    every = frozenset.intersection(*used) if used else frozenset()
    some = frozenset[int]().union(*used)
    chosen = _different(found)
    return Alternatives(
        rows=len(task), best=best, within=within, min_leaf=min_leaf,
        skeletons=tuple(GoodSkeleton(_named(one, names), one.errors) for one in found),
        needed=tuple(names[at] for at in sorted(every)) if ended else (),
        unused=tuple(name for at, name in enumerate(names) if at not in some) if ended else (),
        different=tuple(to_text(path.tree_of(one)) for one in chosen), ended=ended,
    )  # fmt: skip


def check_within(within: float) -> None:
    """Raise ConfigurationError for an ε that is no share of rows."""
    if not 0 <= within < 1:
        fix = "write a share such as 0.01"
        raise ConfigurationError(Problem("MSEL-292", f"{within:g} is no share of rows", "--within", fix))


def without(task: ClassTask, column: int) -> ClassTask:
    """The task without one of its columns."""
    kept = [at for at in range(len(task.features)) if at != column]
    features = tuple(task.features[at] for at in kept)
    return replace(task, features=features, values=np.asfortranarray(task.values[:, kept]))


def _named(one: Skeleton, names: Sequence[str]) -> tuple[str, str, str]:
    root, left, right = (LEAF if side is None else names[side] for side in one.features)
    return root, left, right


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
    """What the command prints."""
    rows = f"{found.rows:,} development rows"
    said = [
        f"trees of two levels on {rows}, leaves of at least {found.min_leaf:g}: the best has {found.best:.4f} wrong in",
        f"training; good are those with at most {found.best + found.within:.4f}. Training errors flatter all of them.",
        "",
    ]
    if not found.ended:
        said += ["the search met its limit: there may be others, and what all need is not known (--limit)", ""]
    else:
        said += [
            f"every good tree tests    {_few(found.needed) or 'no column in common: each can be done without'}",
            f"no good tree tests       {_few(found.unused) or 'none: every column has a good tree'}",
        ]
    if found.skeletons:
        said += ["columns, with a good tree each (root, then its left and its right side):"]
        said += [f"  {one.errors:.4f}  {one}" for one in found.skeletons[:TOLD]]
        said += [f"  ... and {len(found.skeletons) - TOLD:,} more"] if len(found.skeletons) > TOLD else []
    if len(found.different) > 1:
        said += ["", "good trees whose columns differ most:"]
        said += [line for text in found.different for line in ("", *(f"  {line}" for line in text.splitlines()))]
    return said


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return f"{', '.join(names[:TOLD])}{more}"
