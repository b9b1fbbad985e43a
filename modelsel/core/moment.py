"""A moment as people read it: `2021-03-04`, and `2021-03-04T12:30` where it is no midnight."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(seconds: float) -> str:
    """A moment by its seconds since 1970 (UTC), to the second; beyond the calendar's years the number itself.

    >>> moment(0.0), moment(45000.0), moment(-1.0), moment(1e18)
    ('1970-01-01', '1970-01-01T12:30', '1969-12-31T23:59:59', '1e+18')
    """
    try:
        when = EPOCH + timedelta(seconds=round(seconds))
    except (OverflowError, ValueError):
        return f"{seconds:.12g}"
    if not (when.hour or when.minute or when.second):
        return when.strftime("%Y-%m-%d")
    return when.strftime("%Y-%m-%dT%H:%M:%S" if when.second else "%Y-%m-%dT%H:%M")
