"""Is there little or nothing that was learnt: does a score lie within two standard errors of what guessing costs?"""

from collections.abc import Iterable

REACH = 2.0  # standard errors


def is_near(value: float, se: float | None, floor: Iterable[float]) -> bool:
    """Does the value lie within two standard errors of any score of the floor?

    >>> is_near(0.46, 0.03, [0.5]), is_near(0.30, 0.03, [0.5])
    (True, False)
    """
    return any(abs(guess - value) <= REACH * (se or 0.0) for guess in floor)
