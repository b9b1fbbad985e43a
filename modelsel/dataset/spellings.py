"""The code of a level by how a source spells it: truth values are written `true`, `True`, `TRUE` or `1`, and mean the same."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOOLEAN = ("false", "true")  # levels of a column whose source says that it holds truth values
TRUTH = {"false": ("false", "False", "FALSE", "0"), "true": ("true", "True", "TRUE", "1")}


def codes(levels: Sequence[str]) -> Mapping[str, int]:
    """The code of each level by its text. Where the levels are truth values, by all spellings of them.

    Parameters
    ----------
    levels : sequence of str
        The levels of a feature, in the order of their codes.

    Returns
    -------
    mapping of str to int
        Texts that mean a level, each with its code.

    Examples
    --------
    >>> codes(("a", "b"))
    {'a': 0, 'b': 1}
    >>> codes(("False", "True"))["true"], codes(("false", "true"))["FALSE"], codes(("False", "false", "x"))
    (1, 0, {'False': 0, 'false': 1, 'x': 2})
    """
    place = {level: code for code, level in enumerate(levels)}
    words = [level.strip().lower() for level in levels]
    if not set(words) <= set(TRUTH) or len(set(words)) < len(words):
        return place
    return {**{text: code for code, word in enumerate(words) for text in TRUTH[word]}, **place}


# Labels as the target's column held them.

LABELS: Mapping[str, Any] = {"bool": lambda name: {"true": True, "false": False}[name.lower()], "int": int, "float": float}


def labels(classes: Sequence[str], kind: str) -> NDArray[np.generic]:
    """Classes as what the target's column held: bool, int, float, or text.

    >>> labels(("false", "true"), "bool").tolist(), labels(("1", "2"), "int").tolist()
    ([False, True], [1, 2])
    """
    read = LABELS.get(kind, str)
    try:
        return np.array([read(name) for name in classes], None if kind in LABELS else object)
    except (KeyError, ValueError):  # a class that was made of rare ones
        return np.array(classes, object)
