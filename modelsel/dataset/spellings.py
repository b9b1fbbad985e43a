"""The code of a level by how a source spells it: truth values are written `true`, `True`, `TRUE` or `1`, and mean the same."""

from collections.abc import Mapping, Sequence

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
