"""Release mechanisms: each fixes, before labels are opened, how much of the truth is shown and at which price.

Every channel spreads a probability of one over all that it may say, "the look failed" included, so that the price of an
answer, −ln p, is what the certificate may charge. The interval is made from what was released, never from more.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log, log1p, sqrt
from typing import Any, Protocol

from modelsel.core.fingerprint import generator
from modelsel.statistics.reuse import prices
from modelsel.statistics.reuse.certificate import interval

FIRST, BETTER = "the first", "better"
FAILED = 1e-6  # probability set aside for "the look failed", in every channel


@dataclass(frozen=True)
class LabelSummary:
    """A summary of the labels of a look's rows. It does not leave the gate: a mechanism reduces it first."""

    n: int
    errors: int
    score: float
    classes: tuple[int, ...]  # rows per class
    effective: float  # (Σ w)² / Σ w²: rows, where weights are equal


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

    def interval(self, n: int, nats: float) -> tuple[float, float] | None:
        """The rates or scores not excluded at level e^-nats a side."""
        if self.stays:
            return self.held
        if self.low is not None and self.high is not None:
            return interval(self.low, self.high, n, nats)
        if self.half is None or self.score is None:
            return None
        width = sqrt(self.half * nats) + self.rounding
        return max(self.bounds[0], self.score - width), min(self.bounds[1], self.score + width)


class ReleaseMechanism(Protocol):
    """One way of showing an answer."""

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
        price = prices.predicted(truth.errors, self.n, *self.foreseen) if self.foreseen else prices.full(self.n)
        return Released("count", truth.errors / self.n, truth.errors, charged(price), truth.errors, truth.errors)

    @property
    def worst(self) -> float:
        return worst_of(log(10 * (self.n + 1)) if self.foreseen else prices.full(self.n))


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
        return Released("cell", cell / self.steps, None, charged(price), low, high)

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
        price = charged(prices.PASS_OR_FAIL)
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
        price = charged(prices.ladder(self.rounds, self.updates, self.board, improved, self.steps))
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
            return Released(FIRST, None, None, charged(0.0))
        improved = truth.errors * self.steps + self.n < self.errors * self.steps
        price = charged(prices.coin(self.rounds, self.updates, improved))
        return Released(BETTER if improved else "no better", None, None, price)

    @property
    def worst(self) -> float:
        if not self.rounds:
            return worst_of(0.0)
        return worst_of(max(prices.coin(self.rounds, self.updates, improved) for improved in (True, False)))


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
            return Released("cross-validation", self.cv_error, None, charged(-log(0.9)))
        cell = round(self.n * min(1.0, max(0.0, truth.errors / self.n + float(noise[1]))))
        return Released("noisy", cell / self.n, None, charged(-log(0.1 / (self.n + 1))))

    @property
    def worst(self) -> float:
        return worst_of(-log(0.1 / (self.n + 1)))


def charged(price: float) -> float:
    """A price with the probability of failure set aside."""
    return price - log1p(-FAILED)


def worst_of(price: float) -> float:
    """Return the price that an answer is charged at most."""
    return max(charged(price), -log(FAILED))


def count_channel(
    terms: Mapping[str, Any], n: int, foreseen: tuple[float, int], past: Sequence[Mapping[str, Any]], look: int
) -> ReleaseMechanism:
    """The channel for an error count, from the terms of the seal and the answers so far (oldest first)."""
    steps, mode = terms.get("steps"), terms["release"]
    told = foreseen if mode == "predicted" else None
    if mode == "passfail":
        return PassFail(n, float(terms["target"]))
    if mode == "thresholdout":
        return NoisyThreshold(n, foreseen[0], int(terms["noise"]), look)
    if mode == "ladder":
        return _board(n, int(steps or n), past)
    if mode == "better":
        return _best(n, int(steps or n), past)
    return CountGrid(n, int(steps), told) if steps else Counts(n, told)


def _best(n: int, steps: int, past: Sequence[Mapping[str, Any]]) -> Better:
    """Follow the answers so far (better or not) to the one that is the best."""
    best = Better(n, steps)
    for answer in past:
        moved = answer.get("symbol") in (FIRST, BETTER)
        if moved or answer.get("symbol") == "no better":
            best = replace(best, rounds=best.rounds + 1, updates=best.updates + moved)
            best = replace(best, best=str(answer["handed"])) if moved else best
    return best


def _board(n: int, steps: int, past: Sequence[Mapping[str, Any]]) -> LadderRelease:
    """Follow the answers so far to the present board; a count that was shown exactly sets the board too, at no further cost."""
    board = LadderRelease(n, steps)
    for answer in past:
        shown, limits = answer.get("symbol"), answer.get("interval")
        held = (float(limits[0]), float(limits[1])) if limits else None
        if str(shown).startswith("board"):
            cell = prices.cell_of(round(float(answer["score"]) * answer["n"]), answer["n"], steps)
            moved = not board.rounds or not str(shown).endswith("stays")
            board = replace(board, rounds=board.rounds + 1, updates=board.updates + moved)
            board = replace(board, board=cell, held=held, set_by=answer["look"]) if moved else board
        elif answer.get("score") is not None and shown in ("count", "cell", "unguarded"):
            cell = prices.cell_of(round(float(answer["score"]) * answer["n"]), answer["n"], steps)
            if not board.rounds or cell < board.board:
                board = replace(board, rounds=max(1, board.rounds), updates=max(1, board.updates), board=cell)
                board = replace(board, held=held, set_by=answer["look"])
    return board
