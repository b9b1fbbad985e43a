"""A run's tables as files: a CSV each with `datapackage.json` beside them, which names the types, or a Parquet file each.

Frictionless Data's Table Schema says of every column of the CSV what it is; text that a spreadsheet would take for a formula
gets an apostrophe in front there, as in candidates.csv. Parquet has types of its own, and keeps every text as it is.
"""

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from modelsel.record.content.candidates import safe
from modelsel.record.content.files import json_text, storing, write
from modelsel.record.tables.columns import TABLES
from modelsel.record.tables.rows import Columns

FORMATS = ("csv", "parquet")
PACKAGE = "datapackage.json"
ARROW = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
SCHEMA = {"text": "string", "whole": "integer", "number": "number", "truth": "boolean"}


def write_tables(made: Mapping[str, Columns], folder: Path, to: str) -> Path:
    """Write every table as `csv` or `parquet` into a folder, which is made where it is not there. Raises StoreError."""
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, columns in made.items():
        if to == "csv":
            write(folder / f"{name}.csv", csv_text(columns))
        else:
            write(folder / f"{name}.parquet", _parquet(arrow_table(name, columns)))
    if to == "csv":
        write(folder / PACKAGE, json_text(_package()))
    return folder


def arrow_table(name: str, columns: Columns) -> pa.Table:
    """One table with the types of its columns, what they hold in the metadata of each."""
    kinds = TABLES[name].columns
    fields = [pa.field(column, ARROW[of.type], metadata={"description": of.holds}) for column, of in kinds.items()]
    schema = pa.schema(fields, metadata={"description": f"a row: {TABLES[name].row}"})
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def csv_text(columns: Columns) -> str:
    """LF line ends; a missing cell is empty, a truth value `true` or `false`."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in line] for line in zip(*columns.values(), strict=True))
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, float) else safe(str(value))


def _parquet(table: pa.Table) -> bytes:
    out = pa.BufferOutputStream()
    parquet.write_table(table, out)
    return bytes(out.getvalue())


def _package() -> dict[str, Any]:
    """Describe the CSV files in the form of Frictionless Data's packages."""
    return {
        "profile": "tabular-data-package",
        "resources": [
            {
                "name": name, "path": f"{name}.csv", "profile": "tabular-data-resource", "title": f"a row: {kind.row}",
                "schema": {"missingValues": [""], "fields": [
                    {"name": column, "type": SCHEMA[of.type], "description": of.holds} for column, of in kind.columns.items()
                ]},
            }
            for name, kind in TABLES.items()
        ],
    }  # fmt: skip
