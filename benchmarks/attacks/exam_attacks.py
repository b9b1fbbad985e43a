"""An automatic asker against the statistics of an exam: does any interval miss the truth, however the answers are used?

Labels are coin tosses, so every predictor's true error rate is one half. The asker hands in adaptively chosen predictions and
sees what each policy shows: *boosting* (Blum & Hardt 2015) keeps random predictions that came out well, turns those that did
not and hands in their vote; *climbing* changes a few rows of the best so far and keeps what is said to be better. A run misses
when any interval, shown while the exam is open or at its close, leaves the truth out. A true 95 % method may show up to 41 of
500.

With `--numbers` the target is a number near +1 or −1, by a fair coin, with noise of heavy tails, and rows are off when the
error exceeds 1. Whoever boosts predicts ±1; whoever climbs draws new numbers for a few rows. What an answer is worth is no
longer one half, but its mean over such targets is known: of each row, from the distribution of the noise.

    nice -n 15 python -m benchmarks.attacks.exam_attacks --repeats 500 --release full [--numbers]
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from modelsel.guard.release import Better, LabelSummary, LookTerms, ShownAnswer, count_channel
from modelsel.statistics.certificate import SpendingState, interval

RELEASES = ("full", "grid", "predicted", "ladder", "passfail", "better", "closed")
ATTACKS = ("boosting", "climbing")
ROWS, ANSWERS, DELTA, VOTE = 200, 300, 0.04, 10
TERMS = {"grid": {"steps": 100}, "ladder": {"steps": 100}, "passfail": {"target": 0.45}, "better": {"steps": 100}}


FREEDOM, SPREAD, TOLERANCE = 3, 0.3, 1.0


@dataclass(frozen=True)
class World:
    """The labels of an exam: coins, or numbers near +1 and −1; and what an answer is worth, on these and on average."""

    labels: np.ndarray
    tolerance: float | None = None

    @classmethod
    def drawn(cls, rng: np.random.Generator, rows: int, numbers: bool) -> "World":
        coins = rng.integers(0, 2, rows)
        if not numbers:
            return cls(coins)
        return cls(2 * coins - 1 + SPREAD * rng.standard_t(FREEDOM, rows), TOLERANCE)

    def errors(self, said: np.ndarray) -> int:
        """Count the rows that are wrong, or off by more than the tolerance."""
        if self.tolerance is None:
            return int((said != self.labels).sum())
        return int((np.abs(said - self.labels) > self.tolerance).sum())

    def truth(self, said: np.ndarray) -> float:
        """The share of rows that would be wrong on average."""
        if self.tolerance is None:
            return 0.5
        below, above = said - self.tolerance, said + self.tolerance
        ends = [end for side in (-1, 1) for end in ((below - side) / SPREAD, (side - above) / SPREAD)]
        return 2 * float(stdtr(FREEDOM, ends).mean())


@dataclass
class Asker:
    """What an automatic asker remembers: random predictions with what was said of them, and the best so far.

    Of numbers he boosts by ±1, and climbs by any.
    """

    attack: str
    rng: np.random.Generator
    rows: int
    numbers: bool = False

    def __post_init__(self) -> None:
        self.votes = np.zeros(self.rows)
        self.best = self.rng.integers(0, 2, self.rows)
        if self.numbers:
            self.best = 2.0 * self.best - 1
        self.score = 1.0
        self.count = 0

    def next(self) -> "np.ndarray":
        self.count += 1
        if self.attack == "climbing":
            self.asked = self.best.copy()
            turned = self.rng.choice(self.rows, 1 + self.count % 8, replace=False)
            self.asked[turned] = self.rng.normal(0, 1.2, len(turned)) if self.numbers else 1 - self.asked[turned]
            return self.asked
        if self.count % VOTE == 0:
            self.coins = (self.votes + self.rng.normal(0, 1e-3, self.rows) > 0).astype(np.int64)
        else:
            self.coins = self.rng.integers(0, 2, self.rows)
        self.asked = 2.0 * self.coins - 1 if self.numbers else self.coins
        return self.asked

    def told(self, score: float | None, good: bool) -> None:
        """A score, or whether it was said to be good."""
        if self.attack == "boosting":
            well = good if score is None else score < 0.5
            self.votes += (1 if well else -1) * (2 * self.coins - 1)
        elif good if score is None else score < self.score:
            self.best, self.score = self.asked, self.score if score is None else score


def missed(
    release: str, attack: str, seed: int, answers: int = ANSWERS, rows: int = ROWS, numbers: bool = False
) -> bool:  # fmt: skip
    """One run: does any interval leave out the truth?"""
    rng = np.random.default_rng([seed, RELEASES.index(release), ATTACKS.index(attack)])
    world, asker = World.drawn(rng, rows, numbers), Asker(attack, rng, rows, numbers)
    past: list[ShownAnswer] = []
    spent, best, board = 0.0, rows, 0.5  # the truth of the answer that set the board
    if release == "closed":
        level = SpendingState(1, 0.0).nats(DELTA) + np.log(answers)
        said = [asker.next() for _ in range(answers)]
        return any(_out(world.errors(one), rows, level, world.truth(one)) for one in said)
    for look in range(1, answers + 1):
        said = asker.next()
        errors, right, nats = world.errors(said), world.truth(said), SpendingState(look, spent).nats(DELTA)
        if _out(errors, rows, nats, right):  # what the close shows
            return True
        channel = count_channel(LookTerms(release, **TERMS.get(release, {})), rows, (0.5, 1000), past, look)
        if isinstance(channel, Better):
            channel = replace(channel, errors=best)
        released = channel.release(LabelSummary(rows, errors, errors / rows, (), float(rows)))
        limits = released.interval(rows, nats)
        board = board if released.stays else right
        if limits and not limits[0] <= board <= limits[1]:
            return True
        past.append(ShownAnswer(look, rows, released.symbol, released.score, limits, str(look)))
        good = released.symbol in ("pass", "better", "the first") or (
            released.symbol.startswith("board") and not released.stays
        )
        best = errors if released.symbol in ("better", "the first") else best
        asker.told(None if released.stays else released.score, good)
        spent += released.price
    return False


def _out(errors: int, rows: int, nats: float, truth: float) -> bool:
    first, last = interval(errors, errors, rows, nats)
    return not first <= truth <= last


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--release", choices=RELEASES, nargs="*", default=RELEASES)
    parser.add_argument("--numbers", action="store_true", help="rows off by more than a tolerance, in the place of classes")
    args = parser.parse_args(words)
    print(f"{args.answers} answers, {ROWS} rows, intervals at δ = {DELTA}; runs of {args.repeats} in which any interval misses")
    for release in args.release:
        for attack in ATTACKS:
            began = time.process_time()
            count = sum(missed(release, attack, seed, args.answers, numbers=args.numbers) for seed in range(args.repeats))
            print(f"{release:<12} {attack:<10} {count:>4}   {time.process_time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
