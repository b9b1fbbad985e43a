"""The guard knows a table again, whether it came from memory, from CSV or from Parquet, after equal kinds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modelsel
from modelsel.core.types import Task
from modelsel.dataset.in_memory import take_table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import bound_hashes, columns

ROWS = 24
CELLS: dict[str, Any] = {
    "text of digits": (["001", "002", "010"] * 8, "nominal"),
    "NA as a text": (["NA", "b", "c"] * 8, "nominal"),
    "integers above 2^53": ([2**60 + i % 5 for i in range(ROWS)], "nominal"),
    "dates": (pd.date_range("2020-01-01", periods=ROWS), "numeric"),
    "booleans": ([True, False, True] * 8, "nominal"),
    "numbers with gaps": ([1.5, None, 3.0] * 8, "numeric"),
    "numbers of 32 bits": (np.random.default_rng(0).normal(size=ROWS).astype(np.float32), "numeric"),
}


def prints(task: Task) -> list[int]:
    return bound_hashes(columns(task), IdentityKey(b"0" * 32)).tolist()


@pytest.mark.parametrize("name", CELLS)
def test_a_row_has_one_fingerprint_wherever_it_comes_from(name: str, folder: Path) -> None:
    cells, kind = CELLS[name]
    frame = pd.DataFrame({"x": cells, "z": np.arange(ROWS) % 7, "y": ["a", "b"] * (ROWS // 2)})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet", index=False)
    features = {"x": kind}
    tasks = [modelsel.read_table(data, target="y", features=features) for data in (frame, "t.csv", "t.parquet")]
    assert prints(tasks[0]) == prints(tasks[1]) == prints(tasks[2])


@pytest.mark.parametrize("width", [np.float32, np.float16])
def test_numbers_of_fewer_bits_are_the_decimals_that_a_file_says(width: Any) -> None:
    """As 64-bit numbers they are others (0.1 becomes 0.10000000149), and the digits of one in some hundred round apart."""
    with np.errstate(all="ignore"):
        bits = np.random.default_rng(1).integers(0, 1 << (8 * width().itemsize), 20_000)
        cells = bits.astype(f"u{width().itemsize}").view(width)
    cells = np.concatenate([cells[np.isfinite(cells)], np.array([0.1, -0.0, 1e-7, 65504, 3], width)])
    frame = pd.DataFrame({"x": cells, "y": np.arange(len(cells)) % 2})
    for table in (frame, pa.Table.from_pandas(frame), np.column_stack([cells, cells])):
        read = take_table(table).table.columns[0].numbers
        assert read.tolist() == [float(str(cell)) for cell in cells]


@pytest.mark.slow
def test_a_model_answers_the_same_for_32_bits_from_memory_and_from_a_file(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(np.float32).round(2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=X[:, 0] > 0.1)
    frame.to_csv("t.csv", index=False)
    study: dict[str, Any] = {"target": "y", "space": "cart", "tracking": "off", "scheme": {"folds": 3}, "final_test": False}
    one, other = modelsel.run(frame, **study), modelsel.run(data="t.csv", **study)
    assert one.winner["cv"] == other.winner["cv"]
    assert (one.model.predict(frame) == one.model.predict(X)).all()
    assert one.model.predict(frame).astype(str).tolist() == modelsel.predict(other, "t.csv")["prediction"].tolist()
