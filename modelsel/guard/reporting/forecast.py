"""Forecast the price of one more look at a test set, the width of its interval, and how many looks are left."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from modelsel.guard.checks.independence import GROUPS, bound_for
from modelsel.guard.checks.look_context import CLOSED, LADDER, ladder_steps, left_by_quota, strictest_of
from modelsel.guard.entries import TIME, Statement
from modelsel.guard.facts import RecordedSelection, Seal
from modelsel.guard.history import History, PastLook
from modelsel.guard.release import LabelSummary, LookTerms, Released, UnitBound, count_channel, count_limits, counts_rows
from modelsel.guard.reporting.report import LooksLeft, NextLook
from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, hoeffding

MANY = 1000
WIDTHS = (0.05, 0.1)
TYPICAL = 1.1  # nats of a rounded answer that cross-validation foresaw


@dataclass(frozen=True)
class LookForecast:
    """The expected state at the next look: number of rows, index, nats spent, and an error rate to forecast for."""

    n: int
    index: int
    spent: float
    rate: float
    delta: float
    space: int | None
    units: UnitBound | None = None  # of the last look, where rows are not independent

    def interval(self, more: int = 0, price: float = 0.0) -> tuple[float, float]:
        """The interval of the same error rate after `more` further answers of this price."""
        errors = round(self.n * self.rate)
        return count_limits((errors, errors), self.n, self.nats(more, price), self.units)

    def nats(self, more: int = 0, price: float = 0.0) -> float:
        """The nats that an interval has to hold against after so many further answers."""
        return SpendingState(self.index + more, self.spent + more * price, self.space).nats(self.delta)


def next_look(history: History, testset: str) -> NextLook | None:
    """Price of an answer that agrees with the last cross-validation; None where nobody chose yet.

    `interval` is what would be shown for the same error rate; None where none is (pass or fail says no rate), or where the last
    look, or the choice before the first, was by another measure. Where the quota is used up `release` is `ladder`, and the
    price that of a board that stays; or `closed`, and nothing would be shown.
    """
    chosen = [one for one in map(RecordedSelection.of, history.selections) if one.testset == testset and not one.outside]
    outlook = _outlook(history, testset, _rate(chosen[-1]) if chosen else None)
    if outlook is None:
        return None
    looks, charged = history.looks_at([testset]), _charged_sets(history, testset)
    past, terms = history.looks_at(charged), _terms(history, testset, charged)
    metric = looks[-1].facts.metric if looks else history.policies(testset)[-1].metric
    release = left_by_quota(terms, len(past), _half(outlook.interval()))
    said = NextLook(look=outlook.index, interval=None, release=release, price=0.0)
    if release == CLOSED:
        return said
    if release == LADDER:
        return said.but(price=_stays(terms, outlook.n, past), steps=ladder_steps(terms, outlook.n))
    answer = _as_foreseen(outlook, terms, chosen[-1].cv_rows)
    limits = (
        answer.interval(outlook.n, outlook.nats(), outlook.units) if counts_rows(metric) and answer.score is not None else None
    )
    return said.but(price=answer.price, interval=limits)


def _as_foreseen(outlook: LookForecast, terms: LookTerms, rows: int) -> Released:
    """Return the answer, as the terms release it, where the test says what is foreseen from so many rows."""
    channel = count_channel(terms, outlook.n, (outlook.rate, rows), [], outlook.index)
    return channel.release(LabelSummary(outlook.n, round(outlook.n * outlook.rate), outlook.rate, (), float(outlook.n)))


def _terms(history: History, testset: str, charged: Sequence[str]) -> LookTerms:
    """Return the terms of the next look: the strictest of all sets whose answers are charged."""
    return strictest_of(history, testset, charged)


def _half(limits: tuple[float, float]) -> float:
    return (limits[1] - limits[0]) / 2


def _stays(terms: LookTerms, n: int, past: Sequence[PastLook]) -> float:
    """Compute the nats of a ladder's answer that moves nothing."""
    board = [str(look.answer.symbol) for look in past if str(look.answer.symbol).startswith("board")]
    moved = sum(not symbol.endswith("stays") for symbol in board)
    return prices.coin(1 + len(board), 1 + moved, improved=False) if past else prices.grid(ladder_steps(terms, n))


def budget(history: History, testset: str) -> LooksLeft | None:
    """Count how many more looks keep the half width within .05 and .10, by release mode; and what fresh rows would give."""
    outlook = _outlook(history, testset, 0.5)
    if outlook is None:
        return None
    costs = {"full": prices.full(outlook.n), "grid": prices.grid(100), "predicted": TYPICAL,
             "passfail": prices.PASS_OR_FAIL, "committed": 0.0}  # fmt: skip
    left = {mode: {f"{width:g}": _more(outlook, price, width) for width in WIDTHS} for mode, price in costs.items()}
    first = SpendingState(1, 0.0).nats(outlook.delta)
    fresh = {str(n): round(hoeffding(first, n), 4) for n in (500, 2000, 10_000)}
    return LooksLeft(left=left, at=outlook.rate, fresh=fresh)


def _outlook(history: History, testset: str, usual: float | None) -> LookForecast | None:
    """Describe the state after the last look at these rows and all that it was charged for."""
    seal, looks = history.seals.get(testset), history.looks_at([testset])
    if seal is None:
        return None
    last = looks[-1] if looks else None
    if last is not None and not last.facts.certified:
        return None
    if any(Statement.read(one).says == TIME for one in history.sealings([testset])):
        return None
    charged = _charged_sets(history, testset)
    past, rate = history.looks_at(charged), _last_error_rate(last, usual)
    if rate is None:
        return None
    adaptive = sum(1 for look in past if not look.facts.commit)
    outlook = LookForecast(
        n=int(last.facts.n if last else 0) or Seal.of(seal).n,
        index=1 + adaptive + len(history.commits_on(charged)), spent=sum(look.price for look in past),
        rate=rate, delta=history.terms(testset).delta, space=Seal.of(seal).space,
    )  # fmt: skip
    units = last.facts.units if last else _sealed_units(history, testset, outlook)
    return replace(outlook, units=units)


def _sealed_units(history: History, testset: str, outlook: LookForecast) -> UnitBound | None:
    """The facts of units that the first look at rows will state, from the sizes that their seal states."""
    stated = [seal for seal in map(Seal.of, history.sealings([testset])) if seal.sizes]
    return bound_for(stated[-1].sizes or {}, outlook.rate, outlook.nats(), stated[-1].unit or GROUPS) if stated else None


def _charged_sets(history: History, testset: str) -> list[str]:
    """The sets whose answers the last look was charged for."""
    looks = history.looks_at([testset])
    return [testset, *(looks[-1].facts.charged or () if looks else ())]


def _last_error_rate(last: PastLook | None, usual: float | None) -> float | None:
    """The last error rate that was shown."""
    if last is not None and counts_rows(last.facts.metric) and last.answer.score is not None:
        return float(last.answer.score)
    return usual


def _rate(chosen: RecordedSelection) -> float | None:
    """The error rate that cross-validation found."""
    error = chosen.cv_error if chosen.cv_error is not None else chosen.cv_mean
    return float(error) if isinstance(error, int | float) and 0 <= error <= 1 else None


def _more(outlook: LookForecast, price: float, width: float) -> int:
    """Count the further looks that keep the half width, which only grows: found by doubling, then by halving.

    Most sets have few looks left. Begun at the middle, each forecast would work out intervals far beyond any use, and import
    what finds their roots.
    """

    def wide(more: int) -> bool:
        low, high = outlook.interval(more, price)
        return (high - low) / 2 > width

    end = 1
    while end < MANY and not wide(end):
        end *= 2
    return bisect_left(range(min(end, MANY)), True, lo=end // 2, key=wide)
