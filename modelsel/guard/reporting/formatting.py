"""The words of an audit: the sentence that can be quoted, intervals, numbers, days."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelsel.statistics.reuse.certificate import NO_INFORMATION

WITHOUT_A_MODEL = {"closing": "every answer to an exam at its close", "class_counts": "how many rows each class has"}


def quoted(looks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The look to quote: the last that answered about a model; where there is none, the last of all.

    >>> quoted([{"look": 1, "metric": "error"}, {"look": 2, "metric": "closing"}])["look"]
    1
    """
    return next((look for look in reversed(looks) if look["metric"] not in WITHOUT_A_MODEL), looks[-1])


def sentence(look: Mapping[str, Any], rows: int, level: float = 0.95) -> str:
    """One look in words that can be quoted.

    >>> sentence({"status": "revealed", "score": 0.1, "errors": 200, "n": 2000, "look": 1, "spent": 0.0, "price": 4.0,
    ...           "metric": "error", "interval": [0.0866, 0.1147], "as_first": None, "changes": [], "replay": False}, 2000)
    'Test error 0.100 (200/2000), look 1 of this test set. 95% interval valid whatever is done with the answer: [0.087, 0.115].'
    """
    look = {**look, **(look.get("superseded") or {})}
    if look["status"] not in ("revealed", "replay"):
        return f"Look {look['look']} has no answer ({look['status']}); it is charged {look['price']:.2f} nats."
    n = look.get("n") or rows
    if look.get("metric") in WITHOUT_A_MODEL:
        return f"Look {look['look']} told {WITHOUT_A_MODEL[look['metric']]}, for {look['price']:.2f} nats."
    errors = f" ({look['errors']}/{n})" if look["errors"] is not None else ""
    shown = "pass or fail" if look["score"] is None else f"{look['score']:.3f}"
    head = f"Test {str(look.get('metric', 'score')).split(':')[0]} {shown}{errors}, look {look['look']} of this test set"
    spent = f"; earlier answers cost {look['spent']:.2f} nats" if look["spent"] else ""
    first = (
        f" As a first look it would have been {limits_of(look['as_first'])}." if look["spent"] and look.get("as_first") else ""
    )
    return f"{head}{spent}. {_certified(look, level)}{first}{_changed(look['changes'])}"


def _certified(look: Mapping[str, Any], level: float) -> str:
    """Say which interval holds for the last look, or why there is none."""
    limits = look["interval"]
    if limits is None:
        return "No interval is certified."
    if limits[1] - limits[0] >= 2 * NO_INFORMATION:
        return "No information is left in this test set."
    whatever = "was done with those answers" if look["spent"] else "is done with the answer"
    return f"{level:.0%} interval valid whatever {whatever}: {limits_of(limits)}."


def _changed(keys: Sequence[str], most: int = 3) -> str:
    more = f" and {len(keys) - most} more" if len(keys) > most else ""
    return f" Since the look before, {', '.join(keys[:most])}{more} changed (G012)." if keys else ""


def limits_of(limits: Sequence[float]) -> str:
    """Write an interval to three decimals."""
    return f"[{limits[0]:.3f}, {limits[1]:.3f}]"


def number(value: float | None) -> str:
    """Write a number to four decimals; a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


def day(at: str | None) -> str:
    """Write a recorded time to the minute."""
    return (at or "unknown")[:16].replace("T", " ")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
