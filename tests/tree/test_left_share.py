"""The share of a row that a soft threshold sends to the left."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.tree.in_numpy import left_share


@pytest.mark.parametrize(
    ("value", "left"), [(0.29, 1.0), (0.3, 1.0), (0.4, 0.75), (0.5, 0.5), (0.6, 0.375), (0.7, 0.25), (0.9, 0.0), (0.95, 0.0)]
)
def test_a_ramp_falls_in_two_straight_pieces(value: float, left: float) -> None:
    """From 1 at .2 below the threshold of .5 to a half there, and to 0 at .4 above it."""
    tree, widths = SimpleNamespace(threshold=[0.5]), SimpleNamespace(below=[0.2], above=[0.4])
    shares = left_share(np.array([value]), tree, widths, 0)  # type: ignore[arg-type]
    assert shares[:, 0].tolist() == pytest.approx([left, 1 - left])
