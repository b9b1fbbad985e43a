"""What is wrong with a target in memory that no fit takes: the problems that a study would name, in words for `y`.

scikit-learn refuses such targets by what its own code meets first. Here the target is read once more as a study reads it, and
the refusal says what is wrong, in which rows, and how to mend it; what scikit-learn said stands behind.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.core.errors import ModelselError, Problem
from modelsel.core.reading import MISSING
from modelsel.dataset.base import TableSettings
from modelsel.dataset.column import examples
from modelsel.dataset.in_memory import columns, is_sparse
from modelsel.dataset.targets import CLASSIFY, REGRESS, make, read_as, settle_target

FIX = {  # by code, where a study would name a setting
    "MSEL-320": "give them their value, or leave these rows out of X and y",
    "MSEL-321": "there is nothing to choose",
    "MSEL-323": "take a regressor, or SelectionCV(task='regression'), or cut the quantity into classes",
    "MSEL-324": "choose another target, or folds without strata (cv=KFold(5))",
    "MSEL-326": "leave these rows out, put the class together with another, or take folds without strata (cv=KFold(5))",
    "MSEL-327": "give plain numbers, or take a classifier (SelectionCV: task='classification')",
    "MSEL-365": "make it numbers or texts",
    "MSEL-383": "make them one type: np.array(y, str), or float for numbers",
}


@contextmanager
def explain_refusals(y: object, rows: int, numbers: bool) -> Iterator[None]:
    """Let what is refused within the block for its target be refused in the words of a study: ValueError."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if str(error).startswith("MSEL-"):
            raise
        said = " ".join(str(error).split())
        if not (found := list(problems(y, rows, numbers)) or list(_unread(y, said, numbers))):
            raise
        raise ValueError("\n".join([*map(str, found), f"scikit-learn says: {said[:300]}"])) from None


def problems(y: Any, rows: int, numbers: bool) -> Iterator[Problem]:
    """Yield what a study would refuse of a target, for `y`.

    >>> [str(one) for one in problems([1.5, np.inf, 2.5], 3, numbers=True)]
    ['MSEL-322: infinite target in 1 rows (row 1; the first row is 0), y; correct these numbers']
    """
    what, fix = "number" if numbers else "class", f"give one {'number' if numbers else 'class'} per row, in one dimension"
    if y is None:
        yield Problem("MSEL-382", "y is missing", "y", f"give a {what} per row")
        return
    if is_sparse(y):
        yield Problem("MSEL-382", "y is a sparse matrix", "y", "give y.toarray().ravel()")
        return
    is_column = isinstance(y, list | tuple | range) or hasattr(y, "shape") or hasattr(y, "__array__")
    shape: tuple[int, ...] = np.shape(y) if is_column else ()
    if len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1):
        found = f"has {shape[1]} columns" if len(shape) == 2 else f"is a {type(y).__name__}"
        yield Problem("MSEL-382", f"y {found}", "y", fix)
        return
    if rows and shape[0] != rows:
        yield Problem("MSEL-382", f"y has {shape[0]} entries, and X has {rows} rows", "y", fix)
        return
    y = np.asarray(y).ravel() if len(shape) == 2 else y
    try:
        column = columns({"y": y})["y"]
        with read_as(REGRESS if numbers else CLASSIFY):
            settings = TableSettings(target="y")
            found_problems = settle_target(column, make(column, settings), settings, ".").problems
    except ModelselError as error:
        found_problems = error.problems
    yield from (replace(one, where="y", fix=FIX.get(one.code, one.fix), proposes=()) for one in found_problems)


def _unread(y: Any, said: str, numbers: bool) -> Iterator[Problem]:
    """Yield the problem of values that a study may take for labels, and scikit-learn does not."""
    found = np.asarray(y).ravel()
    kind = type(found[0]).__name__ if len(found) else ""
    if said.startswith("Unknown label type"):
        fractions = "fractional numbers" if "continuous" in said else f"labels of type {kind}"
        yield Problem("MSEL-365", f"{fractions} are not classes", "y", "make them texts, np.array(y, str), or take a regressor")
    elif numbers and found.dtype.kind not in "biuf" and said.startswith(("could not convert", "float()")):
        yield Problem("MSEL-365", f"{kind} is not a number", "y", "make them numbers")


def demand_labels(classes: Any) -> None:
    """Raise ValueError where one of the distinct labels is a word that says that there is none, as in a study."""
    if absent := [label for label in classes if isinstance(label, str) and label.strip() in MISSING]:
        raise ValueError(f"MSEL-320: missing label ({examples(absent)}), y; {FIX['MSEL-320']}")
