"""How far a ladder's board may lie from the best true error, before any answer is known; and what shards would give instead.

A board in steps of η = 1/steps takes M = steps + 1 values and only falls, so that k rounds have at most C(k + M, M + 1)
transcripts. With probability 1 − δ, for every round at once,

    |board − best true error so far| ≤ ε + η,   ε = √((ln C(k + M, M + 1) + ln 2/δ) / 2n)

The exponent of the original theorem counts more: (steps + 2) · ln(4 k · steps) + 1, one-sided. What a path of answers
really cost is less than either: `prices.ladder`. Sources: Blum & Hardt (2015), Theorem 3.1; the count of transcripts is ours.
"""

from math import lgamma, log, sqrt


def transcripts(rounds: int, steps: int) -> float:
    """ln of the number of histories of a board, of every length up to `rounds`.

    >>> round(transcripts(100, 100), 3), round(transcripts(1000, 20), 3)
    (136.422, 103.729)
    """
    values = steps + 1
    return lgamma(rounds + values + 1) - lgamma(values + 2) - lgamma(rounds)


def published(rounds: int, steps: int) -> float:
    """The exponent of Blum & Hardt's theorem.

    >>> round(published(100, 100), 3)
    1081.857
    """
    return (steps + 2) * log(4 * rounds * steps) + 1


def board_error(n: int, rounds: int, steps: int, delta: float = 0.05) -> float:
    """ε + η by the count of transcripts, for n test rows.

    >>> round(board_error(2000, 100, 100), 4)
    0.1972
    """
    return sqrt((transcripts(rounds, steps) + log(2 / delta)) / (2 * n)) + 1 / steps


def published_error(n: int, rounds: int, steps: int, delta: float = 0.05) -> float:
    """ε + η by the published exponent.

    >>> round(published_error(2000, 100, 100), 4)
    0.5308
    """
    return sqrt((published(rounds, steps) + log(1 / delta)) / (2 * n)) + 1 / steps


def shard(n: int, looks: int, delta: float = 0.05) -> float:
    """Half width of every look when each of k looks has n/k rows of its own: √(k ln(2k/δ) / 2n).

    >>> round(shard(2000, 10), 5)
    0.12239
    """
    return sqrt(looks * log(2 * looks / delta) / (2 * n))
