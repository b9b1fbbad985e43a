"""The cells of the experiment as one array per kind of tree: 100 AUC over trees × softenings × leaf scores × training sets."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import kind_of, spec_of
from modelsel.core.types import Booleans, Candidate, Floats, Integers
from modelsel.runner.results import Results
from modelsel.statistics.auc import areas

SEARCHED = ("diff", "square", "exptr", "auc")
READ_OFF = ("DR(0)", "DR(1)", "DR(2)", "DR(3)", "DR(4)", "C4.5")
METHODS = ("hard", *READ_OFF, *SEARCHED)
LEAVES = ("frequency", "laplace")
EVEN = 1e-9  # of 100 AUC: sums in another order


@dataclass(frozen=True, eq=False)
class SofteningGrid:
    """`area` on the assessment rows and `held_back` on the rows that judge; NaN where a combination was not asked for."""

    area: Floats  # trees × methods × leaf scores × sets
    held_back: Floats
    splits: Integers  # trees × sets
    candidate: Integers  # trees × methods × leaf scores: position, or −1

    def of(self, method: str, leaf: str = "frequency") -> Floats:
        """Trees × sets."""
        found: Floats = self.area[:, METHODS.index(method), LEAVES.index(leaf)]
        return found

    @property
    def sets(self) -> int:
        return int(self.splits.shape[1])

    @cached_property
    def distinct(self) -> Booleans:
        """Mask, trees × sets, of the first tree of its size and hard area on each training set."""
        found, hard = np.ones(self.splits.shape, bool), self.of("hard")
        for k in range(self.sets):
            seen: set[tuple[int, float]] = set()
            for tree, key in enumerate(zip(self.splits[:, k].tolist(), hard[:, k].round(9).tolist(), strict=True)):
                found[tree, k] = key not in seen
                seen.add(key)
        return found

    def pooled(self, method: str, leaf: str = "frequency") -> Floats:
        """A number for each distinct tree of all sets."""
        found: Floats = self.of(method, leaf)[self.distinct]
        return found

    def best(self, method: str) -> Integers:
        """Per set, the tree of largest area; the smaller of equals."""
        area = self.of(method)
        even = area >= area.max(axis=0) - EVEN
        found: Integers = np.where(even, self.splits, np.iinfo(np.int64).max).argmin(axis=0)
        return found

    def best_area(self, method: str) -> Floats:
        found: Floats = self.of(method).max(axis=0)
        return found

    def smallest_not_worse(self, method: str = "auc") -> Integers:
        """Per set, splits of the smallest tree whose softened area is at least that of the best hard one; −1: none."""
        good = self.of(method) >= self.best_area("hard") - EVEN
        least = np.where(good, self.splits, np.iinfo(np.int64).max).min(axis=0)
        return np.where(good.any(axis=0), least, -1)

    def asked(self, *methods: str, leaves: tuple[str, ...] = LEAVES[:1]) -> bool:
        """Say whether there is a number for each tree with each of the methods and leaf scores."""
        return all(bool(np.isfinite(self.of(method, leaf)).all()) for method in methods for leaf in leaves)


def grids(results: Results) -> dict[str, SofteningGrid]:
    """A grid per kind of tree: cart for those of the pruning sequence, c45 for those pruned by errors."""
    found: dict[str, dict[object, dict[tuple[int, int], int]]] = {}
    for position, candidate in enumerate(results.candidates):
        place = _place(candidate)
        if place is not None and results.board.eligible[position]:
            tree = tuple(sorted(spec_of(candidate.learner.pruner).items()))
            found.setdefault(place[0], {}).setdefault(tree, {})[place[1:]] = position
    return {name: _grid(results, list(trees.values())) for name, trees in found.items()}


def _place(candidate: Candidate) -> tuple[str, int, int] | None:
    """Kind of tree, method and leaf score; None for a candidate that is none of the experiment's."""
    learner = candidate.learner
    kind = {"deviance_sequence": "cart", "error_based": "c45"}.get(kind_of(getattr(learner, "pruner", None)))
    if kind is None or (method := method_of(learner.softener)) not in METHODS or learner.leaf.score not in LEAVES:
        return None
    return kind, METHODS.index(method), LEAVES.index(learner.leaf.score)


def method_of(softener: Any) -> str:
    """Return the paper's name of a softener.

    >>> from modelsel.core.spec import make
    >>> [method_of(make("softener", kind)) for kind in ("hard", "range_fraction", "c45", "nelder_mead")]
    ['hard', 'DR(1)', 'C4.5', 'auc']
    """
    kind = kind_of(softener)
    if kind == "range_fraction":
        return f"DR({softener.q:g})"
    return str(softener.objective) if kind == "nelder_mead" else {"c45": "C4.5"}.get(kind, kind)


def _grid(results: Results, trees: list[dict[tuple[int, int], int]]) -> SofteningGrid:
    """Fill the arrays from the cells' columns."""
    scores, sets = results.book.scores.columns, len(results.book.work.resampling.folds)
    shape = (len(trees), len(METHODS), len(LEAVES))
    area, held_back = np.full((*shape, sets), np.nan), np.full((*shape, sets), np.nan)
    candidate, splits = np.full(shape, -1), np.zeros((len(trees), sets), np.int64)
    for at, position in _entries(trees):
        area[at], held_back[at] = 100 * scores["score"][position], 100 * scores["held_back"][position]
        candidate[at] = position
        splits[at[0]] = np.rint(scores["complexity"][position]).astype(np.int64) - 1
    return SofteningGrid(area, held_back, splits, candidate)


def _entries(trees: list[dict[tuple[int, int], int]]) -> Iterator[tuple[tuple[int, int, int], int]]:
    for number, tree in enumerate(trees):
        for (method, leaf), position in tree.items():
            yield (number, method, leaf), position


# Two ways of choosing a tree and its softening per training set: by the assessment rows, as the paper does, and without them.
#
# The honest choice takes the largest AUC on the third of the training set that neither grew nor softened the tree. It is made
# before the assessment rows are asked, so that one look at them gives DeLong's interval its meaning; the best of many scores
# on these rows has none.


class ChosenTree(TypedDict):
    """A tree of the grid, softened in a way: its splits, the softening and the leaf score, and its area."""

    splits: int
    method: str
    leaf: str
    area: float


class HonestChoice(ChosenTree):
    """A tree chosen on rows that were held back, with its area there and DeLong's interval."""

    held_back: float
    interval: list[float]


class SetChoices(TypedDict):
    """Both choices of a training set."""

    set: int
    paper: ChosenTree
    honest: HonestChoice


def choices(results: Results, grid: SofteningGrid) -> list[SetChoices]:
    """Per training set the paper's choice and the honest one; none where no rows were held back to choose by."""
    if not np.isfinite(grid.held_back).any(axis=(0, 1, 2)).all():
        return []
    honest = [_largest(grid.held_back[..., k], grid.splits[:, k]) for k in range(grid.sets)]
    intervals = _intervals(results, grid, honest)
    return [_set(grid, k, honest[k], intervals[k]) for k in range(grid.sets)]


def _set(grid: SofteningGrid, k: int, honest: tuple[int, int, int], interval: tuple[float, float]) -> SetChoices:
    """Describe both choices of one training set."""
    paper = _largest(grid.area[..., k], grid.splits[:, k])
    return {
        "set": k,
        "paper": _chosen(grid, k, paper),
        "honest": {
            **_chosen(grid, k, honest),
            "held_back": float(grid.held_back[(*honest, k)]),
            "interval": list(interval),
        },
    }


def _chosen(grid: SofteningGrid, k: int, place: tuple[int, int, int]) -> ChosenTree:
    tree, method, leaf = place
    area = float(grid.area[(*place, k)])
    return {"splits": int(grid.splits[tree, k]), "method": METHODS[method], "leaf": LEAVES[leaf], "area": area}


def _largest(area: Floats, splits: NDArray[np.generic]) -> tuple[int, int, int]:
    """Tree, method and leaf score of the largest area; of equals the smallest tree, then the first method and leaf score."""
    even = np.argwhere(area >= np.nanmax(area) - 1e-9)
    first = min(even.tolist(), key=lambda place: (splits[place[0]], place))
    return first[0], first[1], first[2]


def _intervals(results: Results, grid: SofteningGrid, chosen: list[tuple[int, int, int]]) -> Mapping[int, tuple[float, float]]:
    """DeLong's 95 % interval of each set's choice, 100 AUC."""
    wanted = {k: int(grid.candidate[place]) for k, place in enumerate(chosen)}
    task, found = results.book.work.task, {}
    for fold, members, answers in results.book.records(sorted(set(wanted.values()))):
        at = np.flatnonzero(members == wanted[fold.index])
        if len(at) and answers.scores is not None:
            low, high = areas(task.target[fold.assessment] == 1, answers.scores[at[0], :, 1]).interval()
            found[fold.index] = 100 * low, 100 * high
    return found


# The fourteen published findings, judged from the cells of a study: what is compared, and what came out.
#
# Areas are 100 AUC on the assessment rows, means over distinct trees or over training sets as the sentence says. What "mostly",
# "about half", "nothing" and "notably" mean is fixed here.


YES, PARTLY, NO, CANNOT, ELSEWHERE = "reproduced", "in part", "not reproduced", "not testable", "not tested"
HALF = (0.3, 0.7)  # what "about half" is
NOTHING = 0.05  # points of 100 AUC that are nothing on average
NOTABLY = 0.5  # points of 100 AUC by which one tree is notably worse
FAR = 1 / 3  # of the splits that is far smaller; three times as many are far larger
UNSOFTENED = ("hard", *READ_OFF)  # what needs no search

Verdict = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """The data of a finding: the cells per kind of tree, and the name of the data."""

    found: Mapping[str, SofteningGrid]
    data: str

    @property
    def cart(self) -> SofteningGrid:
        return self.found["cart"]

    @property
    def c45(self) -> SofteningGrid:
        return self.found["c45"]


Judge = Callable[[Case], Verdict]


class JudgedFinding(TypedDict):
    """A published sentence, the verdict on it, and the figures that it rests on."""

    number: int
    sentence: str
    verdict: str
    figures: str


def judge_findings(found: Mapping[str, SofteningGrid], data: str) -> Iterator[JudgedFinding]:
    """Number, the published sentence, verdict and the figures it rests on."""
    case = Case(found, data)
    for number, (sentence, judge) in enumerate(zip(FINDINGS, JUDGES, strict=True), 1):
        verdict, figures = judge(case)
        yield {"number": number, "sentence": sentence, "verdict": verdict, "figures": figures}


def _larger_and_worse(case: Case) -> Verdict:
    """Judge: C4.5's trees are larger than CART's, and worse."""
    cart, c45 = case.cart, case.c45
    sizes = [float(np.median(grid.splits[grid.distinct])) for grid in (c45, cart)]
    areas = [float(grid.best_area("hard").mean()) for grid in (c45, cart)]
    verdict = _both(sizes[0] > sizes[1] / FAR, areas[0] < areas[1])
    return verdict, f"median splits {sizes[0]:g} against {sizes[1]:g}; best hard tree {areas[0]:.2f} against {areas[1]:.2f}"


def _widest_hurts(case: Case) -> Verdict:
    """Judge: on MAGIC the widest softening, DR(0), makes most trees worse."""
    cart = case.cart
    change = cart.pooled("DR(0)") - cart.pooled("hard")
    best = float((cart.best_area("DR(0)") - cart.best_area("hard")).mean())
    figures = (
        f"DR(0) less hard {change.mean():+.2f} on average over trees, below 0 on {_share(change < 0)}; "
        f"best tree of each set {best:+.2f}"
    )
    if case.data != "magic":
        return ELSEWHERE, f"it is about MAGIC; here {figures}"
    return _both(float((change < 0).mean()) > 0.5, best < 0), figures


def _own_softening(_: Case) -> Verdict:
    return CANNOT, "how C5.0 softens is not published"


def _gains(grid: SofteningGrid) -> float:
    return float((_best_softened(grid) - grid.best_area("hard")).mean())


def _more_gain(case: Case) -> Verdict:
    gains = [_gains(grid) for grid in (case.c45, case.cart)]
    return _yes(gains[0] > gains[1]), f"best softened less best hard tree {gains[0]:+.2f} against {gains[1]:+.2f}"


def _counts(case: Case) -> tuple[dict[str, int], int, str]:
    """Count how often each method without a search is best on a tree (ties count for all).

    Beside it, the number of trees and their kind.
    """
    kinds = {name: grid for name, grid in case.found.items() if grid.asked(*UNSOFTENED)}
    table = np.array([np.concatenate([grid.pooled(method) for grid in kinds.values()]) for method in UNSOFTENED])
    best = table >= table.max(axis=0) - 1e-9
    of = " and ".join(f"{int(grid.distinct.sum())} of {name}" for name, grid in kinds.items())
    return dict(zip(UNSOFTENED, best.sum(axis=1).tolist(), strict=True)), table.shape[1], of


def _half_range(case: Case) -> Verdict:
    """Judge: DR(1) is best on the most trees, DR(2) next."""
    counts, trees, of = _counts(case)
    order = sorted(counts, key=lambda method: -counts[method])
    words = ", ".join(f"{method} {counts[method]}" for method in order if counts[method])
    verdict = _both(order[0] == "DR(1)", set(order[:2]) == {"DR(1)", "DR(2)"})
    return verdict, f"best on so many of {trees} trees ({of}): {words}"


def _nowhere_best(case: Case) -> Verdict:
    counts, trees, _ = _counts(case)
    most = max(counts, key=lambda method: counts[method])
    return _yes(counts[most] < trees), f"the most frequent, {most}, is best on {counts[most]} of {trees} trees"


def _laplace(grid: SofteningGrid, method: str) -> Floats:
    """Compute the gain in area by Laplace's leaf scores, per tree."""
    return grid.pooled(method, "laplace") - grid.pooled(method)


def _laplace_on_hard(case: Case) -> Verdict:
    """Judge: Laplace scores raise the areas of hard trees, mostly of C4.5's."""
    cart = _laplace(case.cart, "hard")
    figures = f"raised on {_share(cart > 0)} of the trees, {cart.mean():+.2f} on average"
    if "c45" not in case.found:
        return PARTLY if (cart > 0).any() else NO, f"{figures}; C4.5-grown trees were not asked for"
    c45 = _laplace(case.c45, "hard")
    mostly = float(c45.mean()) > float(cart.mean())
    return _both(bool((cart > 0).any()), mostly), f"{figures}; on C4.5’s {_share(c45 > 0)}, {c45.mean():+.2f}"


def _laplace_on_soft(case: Case) -> Verdict:
    """Judge: Laplace scores add nothing to softened trees."""
    gains = {method: float(_laplace(case.cart, method).mean()) for method in ("hard", "C4.5", "DR(1)", "DR(2)")}
    nothing = max(gains["DR(1)"], gains["DR(2)"]) <= NOTHING
    words = ", ".join(f"{gain:+.3f} on {method}" for method, gain in gains.items())
    return _both(nothing, gains["C4.5"] <= gains["hard"] + NOTHING), f"it adds {words}"


def _laplace_never_worse(case: Case) -> Verdict:
    """Judge: Laplace scores never make an area notably worse."""
    grid = case.cart
    change = np.array([_laplace(grid, method) for method in (*UNSOFTENED, *_searched(grid))])
    worse = f"at worst {change.min():+.2f}; worse by more than {NOTABLY:g} in {_share(change < -NOTABLY)} of the cases"
    return _yes(bool(change.min() >= -NOTABLY)), worse


def _against_start(case: Case) -> Verdict:
    """Judge: which searched softenings are better than their start, DR(1)."""
    grid = case.cart
    share = {method: float((grid.pooled(method) > grid.pooled("DR(1)")).mean()) for method in SEARCHED}
    holds = (share["diff"] < 0.5, HALF[0] <= share["square"] <= HALF[1], share["exptr"] > 0.5, share["auc"] > 0.5)
    words = ", ".join(f"{method} on {100 * part:.0f} %" for method, part in share.items())
    return _all(holds), f"better than DR(1): {words} of the trees"


def _order(case: Case) -> Verdict:
    """Judge: the searched softenings stand in their published order."""
    grid = case.cart
    table = np.array([grid.pooled(method) for method in SEARCHED])
    mostly = (np.diff(table, axis=0) > 0).mean(axis=1)
    means, chain = table.mean(axis=1), float((np.diff(table, axis=0) > 0).all(axis=0).mean())
    words = ", ".join(f"{method} {mean:.2f}" for method, mean in zip(SEARCHED, means, strict=True))
    steps = ", ".join(f"{a} < {b} on {100 * part:.0f} %" for a, b, part in zip(SEARCHED, SEARCHED[1:], mostly))
    return _all((np.diff(means) > 0) & (mostly > 0.5)), f"means {words}; {steps}; all three on {100 * chain:.0f} %"


def _every_c50_tree(case: Case) -> Verdict:
    grid = case.c45
    better = (grid.of("auc") > grid.best_area("hard"))[grid.distinct]
    return _all((bool(better.all()), float(better.mean()) > 0.5)), f"{_share(better)} of the trees"


def _far_smaller(case: Case) -> Verdict:
    """Judge: a far smaller softened tree is as good as the best hard one."""
    grid = case.cart
    small, large = grid.smallest_not_worse(), grid.splits[grid.best("hard"), np.arange(grid.sets)]
    there = small >= 0
    if not there.any():
        return NO, "no softened tree is as good as the best hard one"
    ratio = float(np.median(small[there] / np.maximum(large[there], 1)))
    verdict = NO if ratio > FAR else YES if there.all() else PARTLY
    return verdict, f"median ratio of splits {ratio:.2f}; on {there.sum()} of {grid.sets} sets"


def _evened_out(case: Case) -> Verdict:
    gaps = [float((case.cart.best_area(method) - case.c45.best_area(method)).mean()) for method in ("hard", "auc")]
    return _yes(abs(gaps[1]) < abs(gaps[0])), f"CART less C4.5: {gaps[0]:+.2f} hard, {gaps[1]:+.2f} softened by AUC"


def _best_softened(grid: SofteningGrid) -> Floats:
    areas = [grid.best_area(method) for method in (*READ_OFF, *_searched(grid))]
    return np.asarray(np.max(areas, axis=0))


def _searched(grid: SofteningGrid) -> tuple[str, ...]:
    return tuple(method for method in SEARCHED if grid.asked(method, leaves=LEAVES))


def _with(kinds: tuple[str, ...], methods: tuple[str, ...], judge: Judge, leaves: tuple[str, ...] = LEAVES[:1]) -> Judge:
    """The judge, where the trees, methods and leaf scores that it compares were computed."""

    def asked(case: Case) -> Verdict:
        if missing := [name for name in kinds if name not in case.found]:
            how = {"c45": "C4.5-grown trees (space=[soft_trees,soft_trees_c45])", "cart": "trees of the pruning sequence"}
            return ELSEWHERE, f"{' and '.join(how[name] for name in missing)} were not asked for"
        grids = [case.found[name] for name in kinds]
        if absent := [method for method in methods if not all(grid.asked(method, leaves=leaves) for grid in grids)]:
            return ELSEWHERE, f"{', '.join(absent)} with {' and '.join(leaves)} was not asked for"
        return judge(case)

    return asked


def _yes(holds: bool) -> str:
    return YES if holds else NO


def _both(one: bool, other: bool) -> str:
    return _all((one, other))


def _all(holds: object) -> str:
    each = np.asarray(holds, bool)
    return YES if each.all() else PARTLY if each.any() else NO


def _share(holds: object) -> str:
    each = np.asarray(holds, bool)
    return f"{100 * each.mean():.0f} %"


CART, C45, BOTH = ("cart",), ("c45",), ("cart", "c45")
JUDGES = (
    _with(BOTH, ("hard",), _larger_and_worse),
    _with(CART, ("hard", "DR(0)"), _widest_hurts),
    _own_softening,
    _with(BOTH, UNSOFTENED, _more_gain),
    _with(CART, UNSOFTENED, _half_range),
    _with(CART, UNSOFTENED, _nowhere_best),
    _with(CART, ("hard",), _laplace_on_hard, LEAVES),
    _with(CART, ("hard", "C4.5", "DR(1)", "DR(2)"), _laplace_on_soft, LEAVES),
    _with(CART, UNSOFTENED, _laplace_never_worse, LEAVES),
    _with(CART, ("DR(1)", *SEARCHED), _against_start),
    _with(CART, SEARCHED, _order),
    _with(C45, ("hard", "auc"), _every_c50_tree),
    _with(CART, ("hard", "auc"), _far_smaller),
    _with(BOTH, ("hard", "auc"), _evened_out),
)


# Published results on softened trees (Dvořák 2019): sizes and areas per data set, and fourteen findings.


@dataclass(frozen=True)
class HardTreeFigures:
    """Splits and 100 AUC of the hard trees: least, median, largest."""

    splits: tuple[float, float, float]
    area: tuple[float, float, float]
    trees: int = 100


@dataclass(frozen=True)
class Published:
    """A row of the paper's tables.

    `best` and `smallest` are splits per training set: of the best hard tree, and of the smallest tree that is not worse after
    its splits were softened by AUC.
    """

    name: str
    rows: int  # of a training set
    cart: HardTreeFigures
    c50: HardTreeFigures
    best: tuple[int, ...]
    smallest: tuple[int, ...]


PUBLISHED = {
    "magic": Published(
        "MAGIC", 12_680,
        HardTreeFigures((3, 27.5, 75), (79.59, 87.62, 89.45)), HardTreeFigures((13, 71.5, 209), (82.59, 86.70, 88.88), 122),
        (45, 49, 61, 64, 43, 63, 38, 52, 75, 44), (11, 17, 10, 14, 13, 10, 10, 8, 18, 10),
    ),
    "waveform_a": Published(
        "Waveform A", 12_000,
        HardTreeFigures((3, 17.5, 42), (82.85, 89.91, 91.21)), HardTreeFigures((19, 103, 294), (85.85, 88.73, 89.88), 136),
        (35, 28, 42, 42, 27, 25, 32, 28, 42, 28), (7, 9, 7, 8, 5, 6, 7, 8, 7, 5),
    ),
    "waveform_b": Published(
        "Waveform B", 12_000,
        HardTreeFigures((3, 19, 45), (85.52, 92.20, 93.29)), HardTreeFigures((25, 107, 290), (86.81, 90.70, 92.18), 144),
        (32, 26, 32, 31, 45, 37, 38, 44, 31, 39), (6, 5, 7, 6, 7, 7, 6, 7, 8, 6),
    ),
    "miniboone": Published(
        "MiniBooNE", 12_000,
        HardTreeFigures((3, 17, 46), (84.22, 93.42, 94.25)), HardTreeFigures((19, 90.5, 217), (86.82, 90.09, 91.93), 134),
        (31, 33, 23, 27, 27, 34, 25, 29, 39, 46), (13, 5, 6, 5, 6, 6, 5, 5, 7, 7),
    ),
}  # fmt: skip

FINDINGS = (
    "C5.0’s trees are far larger than CART’s and of lower area while they are hard",
    "DR(0) rather hurts on MAGIC",
    "DR(2) and C4.5’s limits beat C5.0’s own softening",
    "softening gains more on C5.0’s trees than on CART’s",
    "of what needs no search DR(1) is most often best, DR(2) very often",
    "none of them is best everywhere",
    "Laplace’s leaf scores sometimes raise hard trees, mostly C5.0’s",
    "they do less with softening, and nothing on DR(1) and DR(2)",
    "they are never notably worse",
    "searched from DR(1), diff mostly ends worse, square in about half, exptr and AUC mostly better",
    "on single trees diff < square < exptr < AUC",
    "every tree of C5.0 softened by AUC beats the best hard one",
    "the smallest tree of CART that is not worse once it is softened is far smaller than the best hard one",
    "softening by AUC evens out C5.0 and CART",
)
