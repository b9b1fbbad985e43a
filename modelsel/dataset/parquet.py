"""Parquet files: their own types are the declaration (categories keep their levels and order, booleans are nominal)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.dataset._column import Column, text_column
from modelsel.dataset._file import File, Raw
from modelsel.dataset._settings import declared

EXACT = 2**53


@dataclass(frozen=True, kw_only=True)
class Parquet(File):
    """A table written by pandas, Arrow, Spark, ... Index columns of pandas are not read."""

    def header(self, path: Path) -> tuple[str, ...]:
        return tuple(_columns(_opened(path).schema_arrow))

    def raw(self, path: Path) -> Raw:
        opened = _opened(path)
        names = _columns(opened.schema_arrow)
        table = opened.read(columns=names)
        DataError.raise_if(self._problems(table, path))
        if not table.num_rows:
            raise DataError(Problem("MSEL-311", "a schema and no rows", str(path), "the file needs rows"))
        return Raw(tuple(_column(name, table.column(name)) for name in table.column_names))

    def _problems(self, table: pa.Table, path: Path) -> Iterator[Problem]:
        for name, column in zip(table.column_names, table.columns):
            said = self.features.get(name)
            if not _known(column.type) and (said is None or declared(said)[0] != "ignore"):
                fix = f"declare dataset.features.{name}=ignore, or write it as numbers or texts"
                yield Problem("MSEL-365", f"type {column.type} cannot be read", f"column '{name}'", fix)


def _opened(path: Path) -> arrow.ParquetFile:
    try:
        return arrow.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        what = f"not a Parquet file ({str(error).splitlines()[0]})"
        raise DataError(Problem("MSEL-364", what, str(path), "check dataset.path")) from error


def _columns(schema: pa.Schema) -> list[str]:
    """Column names without the index that pandas stores."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _known(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind) and not pa.types.is_binary(kind) and not pa.types.is_large_binary(kind)


def _column(name: str, data: pa.ChunkedArray) -> Column:
    kind = data.type
    if pa.types.is_dictionary(kind):
        levels = _levels(data)
        return text_column(name, data.cast(pa.string()), "ordered" if kind.ordered else "nominal", levels)
    if pa.types.is_boolean(kind):
        return text_column(name, data.cast(pa.string()), "nominal", ("false", "true"))
    if pa.types.is_null(kind) or not _known(kind):  # the latter only where it is ignored
        return Column(name, numbers=np.full(len(data), np.nan))
    if pa.types.is_integer(kind) and (pc.max(pc.abs(data.cast(pa.decimal128(20)))).as_py() or 0) > EXACT:
        return text_column(name, data.cast(pa.string()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Column(name, numbers=np.array(data.cast(pa.float64()).to_numpy(), np.float64))
    return text_column(name, data.cast(pa.string()), None if pa.types.is_temporal(kind) else "nominal")


def _levels(data: pa.ChunkedArray) -> tuple[str, ...]:
    """The categories in their order, unused ones too; of several chunks, in order of appearance."""
    chunks = data.unify_dictionaries().chunks
    return tuple(str(level) for level in chunks[0].dictionary.to_pylist()) if chunks else ()
