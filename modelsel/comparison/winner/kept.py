"""Candidates whose rows were kept: in spaces above ten thousand the loss matrix has columns for the best of them only."""

from dataclasses import replace

import numpy as np

from modelsel.core.selection import Losses
from modelsel.core.types import Integers, Scoreboard


def part(board: Scoreboard, which: Integers) -> Scoreboard:
    """The scoreboard of some candidates, in their order on the whole one."""
    if len(which) == len(board.ids):
        return board
    return replace(
        board, ids=tuple(board.ids[i] for i in which), unit=tuple(board.unit[i] for i in which), folds=board.folds[which],
        mean=board.mean[which], se=board.se[which], complexity=board.complexity[which], eligible=board.eligible[which],
        beside={name: mean[which] for name, mean in board.beside.items()},
    )  # fmt: skip


def kept(board: Scoreboard, losses: Losses) -> Integers:
    """Positions on the board of the loss matrix's columns."""
    at = {name: position for position, name in enumerate(board.ids)}
    return np.array([at[name] for name in losses.ids], np.int64)


def place(which: Integers, position: int) -> int:
    """Return the index of a position of the whole board in an ascending subset of positions."""
    return int(np.searchsorted(which, position))
