"""Record of a table in memory beside its study: digests of its columns and rows, and the type of its target.

    content.npz   column (names), digest (of the cells of each), row (a number per row), target (bool, int, float or str), held
                  (the type of the target's own cells), by_estimator (whether rows are read by the place of their columns)

With it the study can be repeated on the same table, and on another one it is said what changed.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.reading import ColumnReading, Feature
from modelsel.dataset.column import name_rows
from modelsel.dataset.untyped import UntypedTable
from modelsel.record.files import npz, write
from modelsel.record.folder import RunFolder, kept_arrays
from modelsel.record.model import target_of_model

FILE = "content.npz"
TARGET = Feature.of_levels("target")


def keep(folder: RunFolder, table: UntypedTable, target: str) -> None:
    """Write content.npz."""
    told = _target_storage(table, target)
    arrays = {
        "column": np.array(list(table.digests), np.str_), "digest": np.array(list(table.digests.values()), np.str_),
        "row": table.rows, "target": np.array(told.type, np.str_), "held": np.array(told.held, np.str_),
        "by_estimator": np.array(table.by_estimator),
    }  # fmt: skip
    write(folder.path / FILE, npz(arrays, compress=True))


def _target_storage(table: UntypedTable, target: str) -> ColumnReading:
    """How the target of a table in memory is held."""
    of_task = None if table.task is None or table.task.reading is None else table.task.reading.target
    found = next((column for column in table.columns if column.name == target), None)
    if of_task is not None or found is None:
        return of_task or ColumnReading(TARGET, type="str")
    return ColumnReading(TARGET, type=found.type, held=found.held)


def target(folder: RunFolder) -> ColumnReading | None:
    """How the target's cells were held; None where they were texts of a file."""
    if not (folder.path / FILE).exists():
        told = target_of_model(folder.model)
        return told if told is not None and told.held else None
    return ColumnReading(TARGET, type=str(_array_beside(folder, "target", "str")), held=str(_array_beside(folder, "held", "")))


def by_estimator(folder: RunFolder) -> bool:
    """Return whether the study's rows came as estimators read them."""
    return bool(_array_beside(folder, "by_estimator", False))


def _array_beside(folder: RunFolder, name: str, otherwise: object) -> object:
    """Return an array of the file kept beside the study, or `otherwise` where there is none."""
    path = folder.path / FILE
    if not path.exists():
        return otherwise
    return kept_arrays(path).get(name, otherwise)


def check_same_table(folder: RunFolder, table: UntypedTable) -> None:
    """Raise DataError that says what changed (rows, columns, cells) where the table is not that of the study."""
    recorded = folder.config()["dataset"].get("content")
    if recorded == table.content:
        return
    changes = tuple(_changes(folder.path / FILE, table))
    fix = "hand over the table of the study, or run a study of its own on this one"
    raise DataError(Problem("MSEL-808", f"this is another table: {'; '.join(changes)}", str(folder.path), fix))


def _changes(path: Path, table: UntypedTable) -> Iterator[str]:
    """Yield a phrase for each difference between this table and the one that the study was made on."""
    if not path.exists():
        yield "the study was not on a table in memory"
        return
    kept = kept_arrays(path)
    before = dict(zip(kept["column"].tolist(), kept["digest"].tolist(), strict=True))
    rows = kept["row"]
    now = table.digests
    if len(table) != len(rows):
        yield f"{len(table):,} rows where there were {len(rows):,}"
    if gone := [name for name in before if name not in now]:
        yield f"columns that are gone: {', '.join(gone)}"
    if new := [name for name in now if name not in before]:
        yield f"new columns: {', '.join(new)}"
    changed = [name for name in now if name in before and now[name] != before[name]]
    if changed and len(table) == len(rows):
        differ = np.flatnonzero(table.rows != rows)
        yield f"cells of {', '.join(changed)} in {len(differ):,} rows ({name_rows(differ)})"
    elif not (gone or new or changed) and len(table) == len(rows):
        yield "columns in another order, or of other kinds"
