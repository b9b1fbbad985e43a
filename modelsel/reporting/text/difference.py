"""Distance of a candidate from the winner: the difference of their means with its standard error, which is not that of a mean.

Scores of two candidates on the same folds rise and fall together, so that their difference is known better than either.
"""

from collections.abc import Sequence

from modelsel.core.outcome import StudySummary
from modelsel.record.content.candidates import Row
from modelsel.reporting.text.words import known, score, signed


def words(row: Row, winner: Row) -> str:
    """Mean less the winner's, with the standard error of the difference; empty for the winner and without a mean.

    >>> row = Row("b", "", "knn", "ok", 2, 0.3, 0.05, 1.0, "", 0.0, "", (), {}, difference_se=0.02)
    >>> winner = Row("a", "", "cart", "ok", 1, 0.25, 0.05, 1.0, "", 0.0, "", (), {})
    >>> words(row, winner), words(winner, winner)
    ('+0.0500 ± 0.0200', '')
    """
    if row.id == winner.id or not known(row.mean):
        return ""
    beside = f" ± {score(row.difference_se)}" if known(row.difference_se) else ""
    return f"{signed(row.mean - winner.mean)}{beside}"


def next_best(outcome: StudySummary, table: Sequence[Row]) -> str:
    """The best of the other entries of the space against the winner; of its own entry where there is no other."""
    won = next((row for row in table if row.id == outcome.winner["id"]), None)
    ranked = sorted((row for row in table if row.rank and won is not None and row.id != won.id), key=lambda row: row.rank)
    if won is None or not ranked:
        return ""
    near = next((row for row in ranked if row.label != won.label), ranked[0])
    which = "best of the others" if near.label == won.label else f"best of {near.label}"
    error = f", standard error of the difference {score(near.difference_se)}" if known(near.difference_se) else ""
    return f"{which}: {outcome.measure} {signed(near.mean - won.mean)} against it{error}"
