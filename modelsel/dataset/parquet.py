"""Parquet files: their own types are the declaration (categories keep their levels and order, booleans are nominal)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.dataset.arrow import can_be_read, column
from modelsel.dataset.base import read_declaration
from modelsel.dataset.files import File, Raw


@dataclass(frozen=True, kw_only=True)
class Parquet(File):
    """A table written by pandas, Arrow, Spark, ... Index columns of pandas are not read."""

    def names(self, path: Path) -> tuple[str, ...]:
        return tuple(_columns(open_parquet(path).schema_arrow))

    def rows_of(self, path: Path) -> float:
        """The number of rows as the file's own header has it."""
        return float(open_parquet(path).metadata.num_rows)

    def raw(self, path: Path) -> Raw:
        file = open_parquet(path)
        names = _columns(file.schema_arrow)
        try:
            table = file.read(columns=names)
        except (pa.ArrowException, OSError, ValueError) as error:
            what = f"its rows cannot be read ({str(error).splitlines()[0][:120]})"
            raise DataError(Problem("MSEL-364", what, str(path), "write the file anew")) from error
        DataError.raise_if(self._problems(table, path))
        if not table.num_rows:
            raise DataError(Problem("MSEL-311", "a schema and no rows", str(path), "the file needs rows"))
        return Raw(tuple(column(name, table.column(name)) for name in table.column_names))

    def _problems(self, table: pa.Table, path: Path) -> Iterator[Problem]:
        """Yield a problem for a column of a type that cannot be read and is not ignored."""
        for name, data in zip(table.column_names, table.columns):
            said = self.features.get(name)
            if not can_be_read(data.type) and (said is None or read_declaration(said)[0] != "ignore"):
                ignored = Proposal("dataset.ignore", (name,), sure=True)
                fix = f"set {ignored}, or write it as numbers or texts"
                yield Problem("MSEL-365", f"type {data.type} cannot be read", f"column '{name}'", fix, (ignored,))


def open_parquet(path: Path) -> arrow.ParquetFile:
    """Open a Parquet file: its header is read, its rows are not; DataError for another file."""
    try:
        return arrow.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        what = f"not a Parquet file ({str(error).splitlines()[0]})"
        raise DataError(Problem("MSEL-364", what, str(path), "check dataset.path")) from error


def _columns(schema: pa.Schema) -> list[str]:
    """Column names without the index that pandas stores."""
    try:
        index = list((schema.pandas_metadata or {}).get("index_columns", []))
    except (ValueError, TypeError, AttributeError):  # what pandas wrote was damaged: nothing is known of an index
        index = []
    return [name for name in schema.names if name not in index]
