"""What a profile of a table notices, one bound at a time."""

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.dataset.profile import _id_like


@pytest.mark.parametrize(
    ("kind", "known", "rows", "like"),
    [("numeric", np.arange(20.0), 20, True), ("numeric", np.arange(19.0), 19, False),
     ("numeric", np.r_[np.arange(19.0), 39.0], 20, True), ("numeric", np.r_[np.arange(19.0), 40.0], 20, False),
     ("numeric", np.arange(20.0) / 2, 20, False), ("numeric", np.arange(19.0), 20, False),
     ("ordered", np.arange(20.0), 20, False), ("nominal", np.arange(19.0), 20, True), ("nominal", np.arange(18.0), 20, False)],
)  # fmt: skip
def test_a_column_looks_like_an_id_where_nearly_every_row_has_a_value_of_its_own(
    kind: str, known: "np.ndarray[tuple[int], np.dtype[np.float64]]", rows: int, like: bool
) -> None:
    levels = tuple(map(str, range(20))) if kind != "numeric" else ()
    assert _id_like(Feature("x", kind, levels), known, rows) is like
