"""Release mechanisms: each fixes, before labels are opened, how much of the truth is shown and at which price.

Every channel spreads a probability of one over all that it may say, "the look failed" included, so that the price of an
answer, −ln p, is what the certificate may charge. The interval is made from what was released, never from more.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import floor, inf, isfinite, log, log1p, sqrt
from typing import Any, NotRequired, Protocol, TypedDict

import numpy as np
from scipy.special import ndtr

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of
from modelsel.core.types import Floats
from modelsel.statistics import prices
from modelsel.statistics.certificate import interval
from modelsel.statistics.quantiles import QuantilePlan, place_probabilities, places_of, price_of
from modelsel.statistics.unit_intervals import Limits, Method, ReleasedSymbols, ReleasePlan, UnitLosses, released_interval

FIRST, BETTER = "the first", "better"
WORSE, NOT_WORSE = "worse", "not worse"  # what a veto of a gate says
QUANTILES = "error_quantiles"  # quantiles of the errors of numbers, beside the share of rows that are off
COUNTED = ("error", "within", QUANTILES)  # measures that are a share of rows: those that are wrong, or off by more than so much
CAPPED = "capped"  # an error of numbers that counts at most so much, beside the share of rows that are off
FAILED = 1e-6  # probability set aside for "the look failed", in every channel


def counts_rows(metric: str) -> bool:
    """Say whether a measure, as an entry names it, is a plain share of rows.

    >>> counts_rows("error"), counts_rows("within:5d2c81"), counts_rows("brier")
    (True, True, False)
    """
    return metric.partition(":")[0] in COUNTED


@dataclass(frozen=True)
class LabelSummary:
    """A summary of the labels of a look's rows. It does not leave the gate: a mechanism reduces it first."""

    n: int
    errors: int
    score: float
    classes: tuple[int, ...]  # rows per class
    effective: float  # (Σ w)² / Σ w²: rows, where weights are equal
    losses: UnitLosses | None = None  # by the plan of a bounded loss, over rows or units,
    above: int | None = None  # and the rows whose log loss is above its cap
    within: tuple[int, ...] = ()  # the rows whose error is at most each value of a grid


class UnitBound(TypedDict):
    """The facts of an intent about units: their number, the largest, and the bound that is narrower at the foreseen rate."""

    count: int
    largest: int
    method: str
    effective: float
    of: NotRequired[str]


class QuantileGrid(TypedDict):
    """The grid in which quantiles of errors are shown, and which are asked for."""

    grid: Sequence[float]
    asked: Sequence[Mapping[str, Any]]  # each with its share `q`, and its plan
    shares: Sequence[float] | None
    rows: int


@dataclass(frozen=True)
class LossPlan(ReleasePlan):
    """The plan of a bounded loss as an intent states it: that of a loss in [0, 1], and the scale of the measure (`of`).

    A score is origin + width · loss; `cap` is that of a log loss, or of errors of numbers. `score_only` is the method that
    needs the score alone, and its units.
    """

    of: str = ""
    origin: float = 0.0
    width: float = 1.0
    cap: float | None = None
    score_only: tuple[Method, float] | None = None

    @classmethod
    def read(cls, stated: "Mapping[str, Any] | LossPlan") -> "LossPlan":
        """Read a plan from an intent; TypeError where it is none."""
        if isinstance(stated, cls):
            return stated
        assert isinstance(stated, Mapping)
        facts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in stated.items()}
        return cls(**facts)

    def limits(self, cell: int, k: int | None, nats: float) -> Limits | None:
        """The interval of symbols on the measure's own scale, at a level that is the plan's or another one.

        Wealth is computed from losses of units at the plan's level. At a lower level it holds as well; at a higher one (after
        looks that nobody knew of are merged in) the score alone is left, and nothing where labels decide the sizes of units.
        """
        plan: ReleasePlan = self
        if self.bets is None:
            plan = replace(self, nats=nats)
        elif nats > self.nats * (1 + 1e-12):
            if self.score_only is None:
                return None
            method, units = self.score_only
            plan, k = replace(self, method=method, units=float(units), nats=nats, bets=None, reach=None), None
        return self.on_scale(released_interval(plan, ReleasedSymbols(cell, k)))

    def on_scale(self, limits: Limits) -> Limits:
        """Limits of a loss in [0, 1] as limits of the measure."""
        ends = sorted(self.origin + self.width * end for end in limits)
        return ends[0], ends[1]


@dataclass(frozen=True)
class Released:
    """A released answer. `low` … `high` are the error counts it leaves possible; `half` a half width for other measures.

    `half` holds c with half width = √(c · nats) + `rounding`; None: no interval can be certified.
    """

    symbol: str
    score: float | None
    errors: int | None
    price: float
    low: int | None = None
    high: int | None = None
    half: float | None = None
    rounding: float = 0.0
    bounds: tuple[float, float] = (0.0, 1.0)
    stays: bool = False  # the board stays: the interval is that of the model that set it,
    held: tuple[float, float] | None = None  # which is this one
    set_by: int | None = None  # in that look
    cell: int | None = None  # of a bounded loss, released by a plan: the cell of its score,
    k: int | None = None  # how much wider than forecast its interval is,
    above: int | None = None  # and the rows above the cap of a log loss
    places: Sequence[Sequence[int]] | None = None  # of quantiles of errors: where in the grid their ends and they are

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> "Released":
        """Read an answer as a reveal states it; TypeError or KeyError where it is none."""
        return cls(**{**stated, "bounds": tuple(stated["bounds"])})

    def interval(
        self, n: int, nats: float, units: UnitBound | None = None, plan: LossPlan | None = None
    ) -> tuple[float, float] | None:
        """The rates or scores not excluded at level e^-nats a side; of `units` where rows are not independent.

        `plan` is that of a bounded loss, as the intent states it.
        """
        if self.stays:
            return self.held
        if self.cell is not None:
            return None if plan is None else plan.limits(self.cell, self.k, nats)
        if self.low is not None and self.high is not None:
            return count_limits((self.low, self.high), n, nats, units)
        if units is not None or self.half is None or self.score is None:
            return None
        width = sqrt(self.half * nats) + self.rounding
        return max(self.bounds[0], self.score - width), min(self.bounds[1], self.score + width)


@dataclass(frozen=True)
class ShownPoint:
    """A released score as people may read it: `score` where it is a point, `step` where its interval does not hold it.

    `read_as` says what it is where it is not the exact value: a step, a grid point, noised.
    """

    score: float | None
    step: float | None = None
    read_as: str = ""


READ_AS = {
    "board": "a step of the ladder", "cell": "rounded to a grid", "value": "rounded to a grid", "loss": "rounded to a grid",
    "cross-validation": "cross-validation's, which the test does not contradict", "noisy": "noise added",
}  # fmt: skip
NEAR = 1e-9  # ends of intervals are sums of rounded numbers


def shown_point(symbol: str | None, score: float | None, ends: Sequence[float] | None) -> ShownPoint:
    """How a released score is to be read.

    A step of the ladder and a point of a grid stand for all values near them, and the interval of a model that set the board
    by an exact count may hold none of them.

    >>> shown_point("count", 0.02, (0.003, 0.06))
    ShownPoint(score=0.02, step=None, read_as='')
    >>> shown_point("board 0 stays", 0.0, (0.003, 0.06))
    ShownPoint(score=None, step=0.0, read_as='a step of the ladder')
    """
    kind = str(symbol).split(" ")[0]
    if score is None or kind not in READ_AS:
        return ShownPoint(score)
    held = ends is None or ends[0] - NEAR <= score <= ends[1] + NEAR
    return ShownPoint(score, None, READ_AS[kind]) if held else ShownPoint(None, score, READ_AS[kind])


def shown_quantiles(stated: QuantileGrid, places: Sequence[Sequence[int]]) -> list[dict[str, object]]:
    """The quantiles of errors that places in the grid of an intent stand for; None: beyond the end of the grid.

    >>> stated = {"grid": (1.0, 2.0, 4.0), "asked": [{"q": 0.5}, {"q": 0.9}]}
    >>> [(one["value"], one["interval"]) for one in shown_quantiles(stated, [(0, 1, 2), (1, 2, 3)])]
    [(2.0, (0.0, 4.0)), (4.0, (1.0, None))]
    """
    ends = (0.0, *stated["grid"], None)
    return [
        {"q": one["q"], "value": ends[middle + 1], "interval": (ends[low], ends[high + 1])}
        for one, (low, middle, high) in zip(stated["asked"], places, strict=True)
    ]


def count_limits(counts: tuple[int, int], n: int, nats: float, units: UnitBound | None = None) -> tuple[float, float]:
    """The error rates not excluded by a count within these two: exact for rows, from the score alone for units.

    >>> two = {"count": 60, "largest": 2, "method": "chernoff", "effective": 60.0}
    >>> [[round(end, 3) for end in count_limits((12, 12), 120, 3.9, units)] for units in (None, two)]
    [[0.051, 0.171], [0.026, 0.24]]
    """
    if units is None:
        return interval(*counts, n, nats)
    from modelsel.statistics.unit_intervals import chernoff_limits, hoeffding_limits

    limits = chernoff_limits if units["method"] == "chernoff" else hoeffding_limits
    low, high = (limits(count / n, float(units["effective"]), nats) for count in counts)
    return low[0], high[1]


class ReleaseMechanism(Protocol):
    """A way of showing an answer."""

    @abstractmethod
    def release(self, truth: LabelSummary) -> Released: ...

    @property
    @abstractmethod
    def worst(self) -> float:
        """The highest price it may ask: what an unresolved look costs."""
        ...

    @property
    def numbers(self) -> int:
        """The number of values shown at once: each has its share of δ."""
        return 1


@dataclass(frozen=True)
class Counts(ReleaseMechanism):
    """The exact error count; foreseen by cross-validation (error rate, rows) or all alike."""

    n: int
    foreseen: tuple[float, int] | None

    def release(self, truth: LabelSummary) -> Released:
        price = prices.price_of_count(truth.errors, self.n, *self.foreseen) if self.foreseen else prices.full(self.n)
        return Released("count", truth.errors / self.n, truth.errors, with_failure(price), truth.errors, truth.errors)

    @property
    def worst(self) -> float:
        return worst_of(log(10 * (self.n + 1)) if self.foreseen else prices.full(self.n))


@dataclass(frozen=True)
class QuantileRelease(ReleaseMechanism):
    """The exact count, and beside it quantiles of the errors as places in a grid (`statistics.quantiles`)."""

    count: Counts
    grid: tuple[float, ...]
    plans: tuple[QuantilePlan, ...]
    shares: tuple[float, ...] | None  # of development rows within each value of the grid,
    rows: int  # and their number

    def release(self, truth: LabelSummary) -> Released:
        """Release the count and three places for each quantile."""
        shown = self.count.release(truth)
        places = [places_of(plan, truth.within) for plan in self.plans]
        deciding = [count for plan in self.plans for count in plan.counts]
        likely = place_probabilities(self.count.n, deciding, self.shares, self.rows, len(self.grid))
        price = price_of([place for found in places for place in found], likely)
        return replace(shown, price=shown.price + price, places=places)

    @property
    def numbers(self) -> int:
        return 1 + len(self.plans)

    @property
    def worst(self) -> float:
        return self.count.worst + 3 * len(self.plans) * log(10 * (len(self.grid) + 1))

    @property
    def facts(self) -> QuantileGrid:
        """The grid and the plans, as an intent states them."""
        return {"grid": self.grid, "asked": [asdict(plan) for plan in self.plans], "shares": self.shares, "rows": self.rows}


@dataclass(frozen=True)
class CountGrid(ReleaseMechanism):
    """The error rate rounded to 1/steps."""

    n: int
    steps: int
    foreseen: tuple[float, int] | None

    def release(self, truth: LabelSummary) -> Released:
        """Release the error rate's cell at its price."""
        cell = prices.cell_of(truth.errors, self.n, self.steps)
        low, high = prices.counts_of(cell, self.n, self.steps)
        foreseen = self.foreseen
        price = prices.predicted_grid(cell, self.steps, self.n, *foreseen) if foreseen else prices.grid(self.steps)
        return Released("cell", cell / self.steps, None, with_failure(price), low, high)

    @property
    def worst(self) -> float:
        return worst_of(log(10 * (self.steps + 1)) if self.foreseen else prices.grid(self.steps))


@dataclass(frozen=True)
class PassFail(ReleaseMechanism):
    """Release only whether the error rate meets a target that was fixed before."""

    n: int
    target: float

    def release(self, truth: LabelSummary) -> Released:
        """Release whether the count of errors is within the target."""
        most = floor(self.target * self.n + 1e-9)
        price = with_failure(prices.PASS_OR_FAIL)
        if truth.errors <= most:
            return Released("pass", None, None, price, 0, most)
        return Released("fail", None, None, price, most + 1, self.n)

    @property
    def worst(self) -> float:
        return worst_of(prices.PASS_OR_FAIL)


@dataclass(frozen=True)
class LadderRelease(ReleaseMechanism):
    """The ladder: the board moves only for a model that beats it by more than a step. Counts are compared in integers."""

    n: int
    steps: int
    rounds: int = 0
    updates: int = 0
    board: int = 0  # in steps; meaningless before the first round
    held: tuple[float, float] | None = None  # the interval of the model that set the board,
    set_by: int | None = None  # in this look

    def release(self, truth: LabelSummary) -> Released:
        """Release a new board where it is beaten by more than a step, else that it stays."""
        improved = self.rounds == 0 or truth.errors * self.steps < (self.board - 1) * self.n
        price = with_failure(prices.ladder(self.rounds, self.updates, self.board, improved, self.steps))
        if not improved:
            beaten = -(-(self.board - 1) * self.n // self.steps)  # the smallest count that does not move the board
            shown = Released(f"board {self.board} stays", self.board / self.steps, None, price, max(0, beaten), self.n)
            return replace(shown, stays=True, held=self.held, set_by=self.set_by)
        cell = prices.cell_of(truth.errors, self.n, self.steps)
        return Released(f"board {cell}", cell / self.steps, None, price, *prices.counts_of(cell, self.n, self.steps))

    @property
    def worst(self) -> float:
        if self.rounds == 0:
            return worst_of(prices.grid(self.steps))
        moves = [prices.ladder(self.rounds, self.updates, max(1, self.board), up, self.steps) for up in (True, False)]
        return worst_of(max(moves))


@dataclass(frozen=True)
class Better(ReleaseMechanism):
    """Release only whether an answer is better than the best so far by more than a step; the first is the best so far.

    `best` names the predictions that are the best so far; `errors` is their count, known only where labels are open.
    """

    n: int
    steps: int
    rounds: int = 0
    updates: int = 0
    best: str = ""
    errors: int | None = None

    def release(self, truth: LabelSummary) -> Released:
        """Release whether the count is better than the best so far by more than a step."""
        if not self.rounds or self.errors is None:
            return Released(FIRST, None, None, with_failure(0.0))
        improved = truth.errors * self.steps + self.n < self.errors * self.steps
        price = with_failure(prices.coin(self.rounds, self.updates, improved))
        return Released(BETTER if improved else "no better", None, None, price)

    @property
    def worst(self) -> float:
        if not self.rounds:
            return worst_of(0.0)
        return worst_of(max(prices.coin(self.rounds, self.updates, improved) for improved in (True, False)))


@dataclass(frozen=True)
class Veto(Better):
    """Release only whether an answer is worse than `best` by more than a margin of rows that was fixed before.

    The margin is in rows; a veto is one bit, at ln 2.
    """

    margin: int = 0

    def release(self, truth: LabelSummary) -> Released:
        """Release whether there are more errors than those of the best and the margin."""
        price = with_failure(prices.PASS_OR_FAIL)
        worse = self.errors is not None and truth.errors > self.errors + self.margin
        return Released(WORSE if worse else NOT_WORSE, None, None, price)

    @property
    def worst(self) -> float:
        return worst_of(prices.PASS_OR_FAIL)


@dataclass(frozen=True)
class NoisyThreshold(ReleaseMechanism):
    """Cross-validation's error unless the test's differs by more than a noisy threshold; then a noisy value.

    Threshold 4/√n, noise of standard deviation 1/√n (Dwork et al. 2015, Science 349), drawn from a seed that the seal
    fixed, so that asking again does not average it away. A heuristic: no interval.
    """

    n: int
    cv_error: float
    seed: int
    look: int

    def release(self, truth: LabelSummary) -> Released:
        """Release cross-validation's error where the test's is near it, else the test's with noise."""
        noise = generator(self.seed, f"thresholdout {self.look}").normal(0, 1 / sqrt(self.n), 2)
        if abs(truth.errors / self.n - self.cv_error) <= 4 / sqrt(self.n) + noise[0]:
            return Released("cross-validation", self.cv_error, None, with_failure(-log(0.9)))
        cell = round(self.n * min(1.0, max(0.0, truth.errors / self.n + float(noise[1]))))
        return Released("noisy", cell / self.n, None, with_failure(-log(0.1 / (self.n + 1))))

    @property
    def worst(self) -> float:
        return worst_of(-log(0.1 / (self.n + 1)))


def with_failure(price: float) -> float:
    """A price with the probability of failure set aside."""
    return price - log1p(-FAILED)


def worst_of(price: float) -> float:
    """Return the price that an answer is charged at most."""
    return max(with_failure(price), -log(FAILED))


@dataclass(frozen=True)
class LookTerms:
    """The terms of one look: how its answer is shown and at which level; `closed` says why nothing may be shown."""

    release: str
    delta: float = 0.05
    steps: int | None = None
    target: float | None = None
    noise: int | None = None
    budget: int = 0
    quota: tuple[float, ...] = ()
    closed: str = ""


@dataclass(frozen=True)
class ShownAnswer:
    """An answer that was shown, in which look and of how many rows; `handed` is an exam's name for its predictions."""

    look: int
    n: int
    symbol: str | None = None
    score: float | None = None
    interval: Sequence[float] | None = None
    handed: str | None = None


def count_channel(
    terms: LookTerms, n: int, foreseen: tuple[float, int], past: Sequence[ShownAnswer], look: int
) -> ReleaseMechanism:
    """The channel for an error count, from the terms of the look and the answers so far (oldest first)."""
    steps, mode = terms.steps, terms.release
    told = foreseen if mode == "predicted" else None
    if mode == "passfail":
        return PassFail(n, float(terms.target))  # type: ignore[arg-type]  # who has none is told so, or not believed
    if mode == "thresholdout":
        return NoisyThreshold(n, foreseen[0], int(terms.noise), look)  # type: ignore[arg-type]  # as above
    if mode == "ladder":
        return _board(n, int(steps or n), past)
    if mode == "better":
        return _best(n, int(steps or n), past)
    return CountGrid(n, int(steps), told) if steps else Counts(n, told)


def _best(n: int, steps: int, past: Sequence[ShownAnswer]) -> Better:
    """Follow the answers so far (better or not) to the one that is the best."""
    best = Better(n, steps)
    for answer in past:
        moved = answer.symbol in (FIRST, BETTER)
        if moved or answer.symbol == "no better":
            best = replace(best, rounds=best.rounds + 1, updates=best.updates + moved)
            best = replace(best, best=str(answer.handed)) if moved else best
    return best


def _board(n: int, steps: int, past: Sequence[ShownAnswer]) -> LadderRelease:
    """Follow the answers so far to the present board; a count that was shown exactly sets the board too, at no further cost."""
    board = LadderRelease(n, steps)
    for answer in past:
        symbol, limits = str(answer.symbol), answer.interval
        held = (float(limits[0]), float(limits[1])) if limits else None
        if answer.score is None:
            continue
        cell = prices.cell_of(round(float(answer.score) * answer.n), answer.n, steps)
        if symbol.startswith("board"):
            moved = not board.rounds or not symbol.endswith("stays")
            board = replace(board, rounds=board.rounds + 1, updates=board.updates + moved)
            board = replace(board, board=cell, held=held, set_by=answer.look) if moved else board
        elif symbol in ("count", "cell", "unguarded") and (not board.rounds or cell < board.board):
            board = replace(board, rounds=max(1, board.rounds), updates=max(1, board.updates), board=cell)
            board = replace(board, held=held, set_by=answer.look)
    return board


# Showing a measure that is no error count: its value on a grid, whose cells are what can be said.
#
# Half widths at L nats a side, for values in a range r: mean over n rows r √(L / 2n), with weights n = (Σw)²/Σw² (given the
# weights); AUC √(L / 2 min(n+, n−)) (Hoeffding for two-sample U-statistics); balanced error, a union over C classes,
# mean_c √((L + ln C) / 2n_c). Where none is known (F1, kappa, MCC, log loss, recall, ...) no interval is certified.

RANGES = {"error": (0.0, 1.0), "within": (0.0, 1.0), QUANTILES: (0.0, 1.0), "balanced_error": (0.0, 1.0),
          "auc": (0.0, 1.0), "f1": (0.0, 1.0), "brier": (0.0, 2.0),
          "kappa": (-1.0, 1.0), "mcc": (-1.0, 1.0), "precision": (0.0, 1.0), "recall": (0.0, 1.0), "f_beta": (0.0, 1.0),
          "specificity": (0.0, 1.0), "average_precision": (0.0, 1.0), "top_k_error": (0.0, 1.0),
          "expected_calibration_error": (0.0, 1.0)}  # fmt: skip
MEANS = ("error", "within", "brier", "cost_matrix", CAPPED)
CLASSWISE = ("auc", "balanced_error")  # their width shows how many rows each class has, which is priced
WITH_COUNT = (*COUNTED, "cost_matrix", CAPPED)  # weighted or costed: the unweighted count is shown beside, and priced


@dataclass(frozen=True)
class ScoreGridRelease(ReleaseMechanism):
    """A value of a measure in steps of (high − low)/steps, or of 1/steps where it has no bounds."""

    kind: str
    n: int
    steps: int
    bounds: tuple[float, float]
    expected: tuple[float, int] | None  # cross-validated score and its rows
    foreseen: tuple[float, int] | None  # of the error count, where it is shown beside
    rounded: bool = False  # by the seal: then no count is shown beside

    def release(self, truth: LabelSummary) -> Released:
        """Release the value's cell with what an interval around it needs; class counts and errors are priced too."""
        if not isfinite(truth.score):
            return Released("undefined", None, None, -log(FAILED))
        cell = self._cell(truth.score)
        score = self._origin + cell * self._step
        price = self._price(cell) + self._class_price(len(truth.classes))
        errors = truth.errors if self._counts else None
        if errors is not None:
            price += prices.price_of_count(errors, self.n, *self.foreseen) if self.foreseen else prices.full(self.n)
        half, rounding = self._half(truth), self._step / 2
        return Released(
            "value", round(score, 12), errors, with_failure(price), half=half, rounding=rounding, bounds=self._limits
        )

    @property
    def worst(self) -> float:
        count = log(10 * (self.n + 1)) if self._counts else 0.0
        return worst_of(log(10 * (self.steps + 1)) + count + self._class_price(20))

    @property
    def numbers(self) -> int:
        return 2 if self._counts else 1

    @property
    def _counts(self) -> bool:
        return self.kind in WITH_COUNT and not self.rounded

    @property
    def _bounded(self) -> bool:
        return isfinite(self.bounds[1])

    @property
    def _limits(self) -> tuple[float, float]:
        return self.bounds if self._bounded else (0.0, 0.0)  # without bounds there is no interval to be kept within

    @property
    def _origin(self) -> float:
        return self.bounds[0] if self._bounded else 0.0

    @property
    def _step(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / self.steps if self._bounded else 1 / self.steps

    def _cell(self, score: float) -> int:
        cell = int(np.floor((score - self._origin) / self._step + 0.5))
        return min(self.steps, max(0, cell)) if self._bounded else max(0, cell)

    def _price(self, cell: int) -> float:
        """Price a cell by the probability that was given to it beforehand."""
        if not self._bounded:
            return log((cell + 1) * (cell + 2))  # 1/((k+1)(k+2)) sums to one over all k ≥ 0
        if self.expected is None:
            return prices.grid(self.steps)
        return -log(prices.PRIOR / (self.steps + 1) + (1 - prices.PRIOR) * float(self._masses(*self.expected)[cell]))

    def _masses(self, mean: float, rows: int) -> Floats:
        """A normal distribution about the cross-validated score, cut into cells."""
        spread = (self.bounds[1] - self.bounds[0]) / 2 * np.sqrt(1 / self.n + 1 / max(1, rows))
        edges = np.r_[-inf, self._origin + (np.arange(self.steps) + 0.5) * self._step, inf]
        return np.asarray(np.diff(ndtr((edges - mean) / spread)))

    def _class_price(self, classes: int) -> float:
        return (classes - 1) * prices.full(self.n) if self.kind in CLASSWISE else 0.0

    def _half(self, truth: LabelSummary) -> float | None:
        """Compute c, where the half width is √(c · nats), rounded up for the union over classes."""
        present = [count for count in truth.classes if count]
        if self.kind in MEANS and self._bounded:
            return (self.bounds[1] - self.bounds[0]) ** 2 / (2 * truth.effective)
        if self.kind == "auc" and len(truth.classes) == 2 and len(present) == 2:
            return 1 / (2 * min(present))
        if self.kind == "balanced_error":
            # ln C ≤ ln C · nats / ln 2 since every side pays more than ln 2: keeps the form √(c · nats)
            union = 1 + log(len(present)) / log(2)
            return float(np.mean([np.sqrt(union / (2 * count)) for count in present])) ** 2
        return None


def bounds_of(measure: object) -> tuple[float, float]:
    """The range of a measure; (0, ∞) where it has none."""
    costs, ends = getattr(measure, "costs", None), getattr(measure, "bounds", None)
    if costs:
        return float(np.min(costs)), float(np.max(costs))
    if ends is not None:
        return float(ends[0]), float(ends[1])
    return RANGES.get(kind_of(measure), (0.0, inf))
