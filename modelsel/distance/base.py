"""A distance, fitted: per feature how two values differ, and how the differences are put together.

    d(x, y) = (Σ_f t_f(x_f, y_f)^p)^(1/p), the largest t_f for p = ∞, or the mean of t_f over the features known in both

t_f is |x − y| · scale for a number, 0 or 1 for a name that is or is not the same, or an entry of a table of levels; a
missing value on either side counts `missing_f`. A new distance fills in this form and gets every search engine with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Feature, Floats, Integers, Table, Task

NUMBER, NAME, LEVELS = range(3)
DECIMALS = 9  # of scaled values, when a row's digest is taken: shifted and rescaled data keep their ties


@dataclass(frozen=True, eq=False)
class FittedDistance:
    """A distance fitted to the analysis rows; arrays have an entry per feature.

    Parameters
    ----------
    kinds : array of int
        NUMBER, NAME or LEVELS.
    center, scale : Floats
        A number x counts as (x − center) · scale; a scale of 0 leaves the feature out.
    missing : Floats
        The difference that a missing value counts.
    sizes : Integers
        Levels (unseen included) of a table, 0 elsewhere.
    tables : Floats
        The tables of differences between levels, one after the other, row by row.
    power : float
        Power p of the sum, at least 1; infinite for the largest difference.
    known_only : bool
        Take the mean over the features known in both rows.
    rounded : bool
        True where values were scaled, so that equal ones may differ in their last digits.

    Examples
    --------
    >>> one = np.ones(1)
    >>> fitted = FittedDistance(np.zeros(1, np.int8), 0 * one, one, one, np.zeros(1, np.int64))
    >>> fitted.encode(np.array([[3.0]]), (Feature("x", "numeric"),)).tolist()
    [[3.0]]
    """

    kinds: NDArray[np.int8]  # NUMBER, NAME or LEVELS
    center: Floats
    scale: Floats  # 0 where the analysis rows have no spread: the feature then says nothing
    missing: Floats
    sizes: Integers  # levels (unseen included) of a table, 0 elsewhere
    tables: Floats = field(default_factory=lambda: np.empty(0))  # the tables one after the other, row by row
    power: float = 2.0
    known_only: bool = False
    rounded: bool = True  # values were scaled, so that equal ones may differ in their last digits

    def __post_init__(self) -> None:
        """Check that the entries fit one another."""
        if len({len(self.kinds), len(self.center), len(self.scale), len(self.missing), len(self.sizes)}) != 1:
            raise ValueError("a metric needs the same number of entries per feature")
        if not {*self.kinds.tolist()} <= {NUMBER, NAME, LEVELS} or np.any(self.sizes < 0):
            raise ValueError("a metric's kinds or sizes are out of range")
        if int((self.sizes**2).sum()) != len(self.tables) or np.any((self.sizes > 0) != (self.kinds == LEVELS)):
            raise ValueError("a metric's tables do not fit its features")
        if not self.power >= 1:
            raise ValueError(f"power {self.power} is below 1")

    @property
    def first(self) -> Integers:
        """The position of each feature's table."""
        return np.concatenate([[0], np.cumsum(self.sizes**2)[:-1]]).astype(np.int64)

    def encode(self, values: Floats, features: tuple[Feature, ...]) -> Floats:
        """Scale the values of rows.

        Parameters
        ----------
        values : Floats
            Rows × features.
        features : tuple of Feature
            The features.

        Returns
        -------
        Floats
            Features × rows, in C order; NaN where missing (a rank that was never declared is missing too).
        """
        codes = np.array(values.T, np.float64, order="C")
        for index, feature in enumerate(features):
            if feature.is_ranked:
                codes[index, codes[index] >= len(feature.levels)] = np.nan
            if self.kinds[index] == LEVELS:
                np.minimum(codes[index], self.sizes[index] - 1, out=codes[index])
        codes -= self.center[:, None]
        codes *= self.scale[:, None]
        codes += 0.0  # −0 becomes 0
        return codes

    def facts(self) -> dict[str, Any]:
        """Return the settings that are no arrays.

        Returns
        -------
        dict
            Plain data; an infinite power is written as 0.
        """
        power = 0.0 if np.isinf(self.power) else self.power
        return {"power": power, "known_only": self.known_only, "rounded": self.rounded}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name.

        Returns
        -------
        dict
            What `restore` reads back.
        """
        return {name: getattr(self, name) for name in ("kinds", "center", "scale", "missing", "sizes", "tables")}

    @classmethod
    def restore(cls, facts: Any, arrays: Any) -> "FittedDistance":
        """Read back what `facts` and `arrays` gave.

        Parameters
        ----------
        facts : dict
            Plain data.
        arrays : dict
            Arrays by name.

        Returns
        -------
        FittedDistance
            The distance.

        Raises
        ------
        ValueError
            Where they do not fit together.
        """
        power = float(facts["power"]) or np.inf
        parts = {name: np.asarray(arrays[name]) for name in ("kinds", "center", "scale", "missing", "sizes", "tables")}
        return cls(**parts, power=power, known_only=bool(facts["known_only"]), rounded=bool(facts["rounded"]))


class Distance(Protocol):
    """A part of the group `distance`.

    Examples
    --------
    >>> from modelsel.distance.euclidean import Euclidean
    >>> Euclidean().own_scale
    False
    """

    own_scale: ClassVar[bool]  # True where the definition says how values are scaled: `normalise` is then not asked

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why it cannot be used, by itself or on these features.

        Parameters
        ----------
        task : Table, optional
            The features; without it only the settings are judged.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        """Read scales (and tables of levels) from the analysis rows alone.

        Parameters
        ----------
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows.
        normalise : str
            `none`, `range` or `deviation`; not asked where the definition says how values are scaled (`own_scale`).

        Returns
        -------
        FittedDistance
            The distance between rows of these features.
        """
        ...


def row_digests(columns: Floats, decimals: int | None) -> NDArray[np.uint64]:
    """Digest each row to 64 bits that depend on its values alone; equal distances are resolved by them.

    Source of the mixing step: Steele, Lea & Flood (2014), SplitMix64.

    Parameters
    ----------
    columns : Floats
        Features × rows.
    decimals : int or None
        Digits to round to before; None: as they are.

    Returns
    -------
    array of uint64
        A digest per row.

    Examples
    --------
    >>> found = row_digests(np.array([[1.0, 2.0, 1.0]]), 9)
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    values = (columns if decimals is None else np.round(columns, decimals)) + 0.0
    np.copyto(values, np.nan, where=np.isnan(values))
    state = np.full(columns.shape[1], 0x9E3779B97F4A7C15, np.uint64)
    spare = np.empty_like(state)
    for words in values.view(np.uint64):
        np.bitwise_xor(state, words, out=state)
        _mix(state, spare)
    return state


def _mix(state: NDArray[np.uint64], spare: NDArray[np.uint64]) -> None:
    """Mix words in place; `spare` is as long."""
    _fold(state, 30, spare)
    np.multiply(state, np.uint64(0xBF58476D1CE4E5B9), out=state)
    np.add(state, np.uint64(0x9E3779B97F4A7C15), out=state)
    _fold(state, 27, spare)
    np.multiply(state, np.uint64(0x94D049BB133111EB), out=state)
    _fold(state, 31, spare)


def _fold(state: NDArray[np.uint64], places: int, spare: NDArray[np.uint64]) -> None:
    np.right_shift(state, np.uint64(places), out=spare)
    np.bitwise_xor(state, spare, out=state)
