"""Rows that were copied, jittered or interpolated before the split certify nothing; honest tables keep their certificate."""

import pytest

from benchmarks.recognition.guard_copies import BELOW, COPIES, HONEST, attacked, flagged, look

SHORT = "real 150 × 12"


@pytest.mark.parametrize(
    "table", [SHORT, *(pytest.param(name, marks=pytest.mark.slow) for name in ("wine", "diabetes", "mixed 500 × 10"))]
)
@pytest.mark.parametrize("copies", COPIES)
def test_permuted_labels_are_not_certified_by_copies(table: str, copies: str) -> None:
    limits = attacked(table, copies, 0)
    assert limits is None or limits[1] >= BELOW


@pytest.mark.parametrize("table", ["wine", *(pytest.param(name, marks=pytest.mark.slow) for name in HONEST if name != "wine")])
def test_honest_tables_keep_their_certificate(table: str) -> None:
    values, target = HONEST[table]()
    found, certifiable = flagged(values, target, 0)
    assert certifiable
    assert found <= 1
    assert look(values, target, 0) is not None
