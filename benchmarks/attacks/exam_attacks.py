"""An automatic asker against the statistics of an exam: does any interval miss the truth, however the answers are used?

Labels are coin tosses, so every predictor's true error rate is one half. The asker hands in adaptively chosen predictions and
sees what each policy shows: *boosting* (Blum & Hardt 2015) keeps random predictions that came out well, turns those that did
not and hands in their vote; *climbing* changes a few rows of the best so far and keeps what is said to be better. A run misses
when any interval, shown while the exam is open or at its close, leaves one half out. A true 95 % method may show up to 41 of
500.

    nice -n 15 python -m benchmarks.attacks.exam_attacks --repeats 500 --release full
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from modelsel.guard.release import Better, LabelSummary, LookTerms, ShownAnswer, count_channel
from modelsel.statistics.certificate import SpendingState, interval

RELEASES = ("full", "grid", "predicted", "ladder", "passfail", "better", "closed")
ATTACKS = ("boosting", "climbing")
ROWS, ANSWERS, DELTA, VOTE = 200, 300, 0.04, 10
TERMS = {"grid": {"steps": 100}, "ladder": {"steps": 100}, "passfail": {"target": 0.45}, "better": {"steps": 100}}


@dataclass
class Asker:
    """What an automatic asker remembers: random predictions with what was said of them, and the best so far."""

    attack: str
    rng: np.random.Generator
    rows: int

    def __post_init__(self) -> None:
        self.votes = np.zeros(self.rows)
        self.best = self.rng.integers(0, 2, self.rows)
        self.score = 1.0
        self.count = 0

    def next(self) -> "np.ndarray":
        self.count += 1
        if self.attack == "climbing":
            self.asked = self.best.copy()
            turned = self.rng.choice(self.rows, 1 + self.count % 8, replace=False)
            self.asked[turned] ^= 1
        elif self.count % VOTE == 0:
            self.asked = (self.votes + self.rng.normal(0, 1e-3, self.rows) > 0).astype(np.int64)
        else:
            self.asked = self.rng.integers(0, 2, self.rows)
        return self.asked

    def told(self, score: float | None, good: bool) -> None:
        """A score, or whether it was said to be good."""
        if self.attack == "boosting":
            well = good if score is None else score < 0.5
            self.votes += (1 if well else -1) * (2 * self.asked - 1)
        elif good if score is None else score < self.score:
            self.best, self.score = self.asked, self.score if score is None else score


def missed(release: str, attack: str, seed: int, answers: int = ANSWERS, rows: int = ROWS) -> bool:
    """One run: does any interval leave out one half?"""
    rng = np.random.default_rng([seed, RELEASES.index(release), ATTACKS.index(attack)])
    labels, asker = rng.integers(0, 2, rows), Asker(attack, rng, rows)
    past: list[ShownAnswer] = []
    spent, best = 0.0, rows
    if release == "closed":
        wrong = [int((asker.next() != labels).sum()) for _ in range(answers)]
        return any(_out(e, e, rows, SpendingState(1, 0.0).nats(DELTA) + np.log(answers)) for e in wrong)
    for look in range(1, answers + 1):
        errors, nats = int((asker.next() != labels).sum()), SpendingState(look, spent).nats(DELTA)
        if _out(errors, errors, rows, nats):  # what the close shows
            return True
        channel = count_channel(LookTerms(release, **TERMS.get(release, {})), rows, (0.5, 1000), past, look)
        if isinstance(channel, Better):
            channel = replace(channel, errors=best)
        released = channel.release(LabelSummary(rows, errors, errors / rows, (), float(rows)))
        limits = released.interval(rows, nats)
        if limits and not limits[0] <= 0.5 <= limits[1]:
            return True
        past.append(ShownAnswer(look, rows, released.symbol, released.score, limits, str(look)))
        good = released.symbol in ("pass", "better", "the first") or (
            released.symbol.startswith("board") and not released.stays
        )
        best = errors if released.symbol in ("better", "the first") else best
        asker.told(None if released.stays else released.score, good)
        spent += released.price
    return False


def _out(low: int, high: int, rows: int, nats: float) -> bool:
    first, last = interval(low, high, rows, nats)
    return not first <= 0.5 <= last


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--release", choices=RELEASES, nargs="*", default=RELEASES)
    args = parser.parse_args(words)
    print(f"{args.answers} answers, {ROWS} rows, intervals at δ = {DELTA}; runs of {args.repeats} in which any interval misses")
    for release in args.release:
        for attack in ATTACKS:
            began = time.process_time()
            count = sum(missed(release, attack, seed, args.answers) for seed in range(args.repeats))
            print(f"{release:<12} {attack:<10} {count:>4}   {time.process_time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
