"""Scores near the floor: within two standard errors of what guessing costs, so that little or nothing was learnt."""

from collections.abc import Iterable

REACH = 2.0  # standard errors


def is_near(value: float, se: float | None, floor: Iterable[float]) -> bool:
    """Say whether a value lies within two standard errors of any score of the floor.

    >>> is_near(0.46, 0.03, [0.5]), is_near(0.30, 0.03, [0.5])
    (True, False)
    """
    return any(abs(guess - value) <= REACH * (se or 0.0) for guess in floor)
