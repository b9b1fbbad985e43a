"""What explaining a choice adds to a plan: fits of candidates on folds, beside those of the selection."""

from collections.abc import Iterator

from modelsel.config.fields.explaining import ExplainSettings


def added(explain: ExplainSettings, folds: int) -> Iterator[tuple[str, int]]:
    """What is asked for that costs fits, and how many.

    >>> list(added(ExplainSettings(importance=True), 10))
    [('permutation importance of 1 candidate, with a noise column', 20)]
    """
    if explain.importance:
        many = len(explain.candidates)
        noise = ", with a noise column" if explain.noise else ""
        yield f"permutation importance of {many} candidate{'s' * (many > 1)}{noise}", many * folds * (1 + explain.noise)


def lines(explain: ExplainSettings, folds: int) -> list[str]:
    """As `modelsel plan` prints them; none where nothing costs a fit."""
    return [f"explain      {fits:,} fits more: {what}" for what, fits in added(explain, folds)]
