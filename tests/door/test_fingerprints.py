"""The guard knows a table again, whether it came from memory, from CSV or from Parquet, after equal kinds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.types import Task
from modelsel.ledger.home import Key
from modelsel.ledger.identity import bound, columns

ROWS = 24
CELLS: dict[str, Any] = {
    "text of digits": (["001", "002", "010"] * 8, "nominal"),
    "NA as a text": (["NA", "b", "c"] * 8, "nominal"),
    "integers above 2^53": ([2**60 + i % 5 for i in range(ROWS)], "nominal"),
    "dates": (pd.date_range("2020-01-01", periods=ROWS), "numeric"),
    "booleans": ([True, False, True] * 8, "nominal"),
    "numbers with gaps": ([1.5, None, 3.0] * 8, "numeric"),
}


def prints(task: Task) -> list[int]:
    return bound(columns(task), Key(b"0" * 32)).tolist()


@pytest.mark.parametrize("name", CELLS)
def test_a_row_has_one_fingerprint_wherever_it_comes_from(name: str, folder: Path) -> None:
    cells, kind = CELLS[name]
    frame = pd.DataFrame({"x": cells, "z": np.arange(ROWS) % 7, "y": ["a", "b"] * (ROWS // 2)})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet", index=False)
    features = {"x": kind}
    tasks = [modelsel.read_table(data, target="y", features=features) for data in (frame, "t.csv", "t.parquet")]
    assert prints(tasks[0]) == prints(tasks[1]) == prints(tasks[2])
