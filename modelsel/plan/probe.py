"""What a plan will cost, measured instead of guessed: some cells are tried on rows like these for half a second.

    seconds ≈ Σ over batches of (folds · seconds of one trial cell) / workers

A trial cell is what the runner would do (fit on a fold's analysis rows, answer for the batch on its assessment rows), on
generated rows of the same shape, so that nothing is opened. Batches that are not tried cost what tried ones of their kind
cost per candidate and per fit.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """Wall-clock seconds with so many workers, and bytes beyond the data."""

    seconds: float
    memory: float
    workers: int
