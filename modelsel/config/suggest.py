"""Suggestions for a misspelt name: the nearest of the names that would have been right."""

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 12


def near(name: str, vocabulary: Iterable[str]) -> str:
    """Suggest a correction of a name: the nearest right one, or all of them when there are few.

    >>> near("ginni", ["gini", "entropy"])
    "did you mean 'gini'?"
    >>> near("xyz", ["gini", "entropy"])
    'one of: entropy, gini'
    >>> near("regression_forest", ["svm_regression", "forest_regression"])
    "did you mean 'forest_regression'?"
    """
    words = sorted(set(vocabulary))
    if found := [word for word in words if "_" in name and sorted(word.split("_")) == sorted(name.lower().split("_"))]:
        return f"did you mean {found[0]!r}?"
    if found := get_close_matches(name, words, 1, cutoff=0.6) or get_close_matches(name.lower(), words, 1, cutoff=0.6):
        return f"did you mean {found[0]!r}?"
    if found := [word for word in words if name and (word.startswith(name) or word.endswith(f".{name}"))]:
        return f"did you mean {found[0]!r}?"
    if not words:
        return "nothing can be set here"
    more = f", … ({len(words)} in all)" if len(words) > SHOWN else ""
    return f"one of: {', '.join(words[:SHOWN])}{more}"
