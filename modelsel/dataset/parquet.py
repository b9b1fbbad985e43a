"""Parquet files, folders and globs: their own types are the declaration (categories keep their order, booleans are nominal).

A sample is drawn where the files are: of all rows the target and the units are read, everything else of those that are drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.dataset.arrow import can_be_read, column
from modelsel.dataset.base import read_declaration
from modelsel.dataset.files import File, Raw, is_of_table, parquet_files
from modelsel.dataset.sample import DrawnRows, draw_batches, keys


@dataclass(frozen=True, kw_only=True)
class Parquet(File):
    """A table written by pandas, Arrow, Spark, ..., in one file or in many. Index columns of pandas are not read."""

    @property
    def way_to_sample(self) -> str:
        return "set"

    @property
    def called(self) -> str:
        path = Path(str(self.path))
        return (path.parent.name or "table") if has_magic(path.name) else path.stem

    def is_there(self, name: str) -> bool:
        return Path(name).is_file() or bool(_files(Path(name)))

    def names(self, path: Path) -> tuple[str, ...]:
        return tuple(_columns(open_parquet(path).schema))

    def rows_of(self, path: Path) -> float:
        """The number of rows that are held, as the files' own headers have it."""
        rows = float(open_parquet(path).count_rows())
        return rows if self.sample is None else min(rows, self.sample)

    def raw(self, path: Path) -> Raw:
        source = open_parquet(path)
        DataError.raise_if(_differing(source))
        names = _columns(source.schema)
        try:
            drawn = self._draw(source)
            table = source.to_table(columns=names) if drawn is None else source.take(drawn.places, columns=names)
        except (pa.ArrowException, OSError, ValueError) as error:
            what = f"its rows cannot be read ({_reason(error)[:120]})"
            raise DataError(Problem("MSEL-364", what, str(path), "write the file anew")) from error
        DataError.raise_if(self._problems(table))
        if not table.num_rows:
            raise DataError(Problem("MSEL-311", "a schema and no rows", str(path), "the file needs rows"))
        columns = tuple(column(name, table.column(name)) for name in table.column_names)
        return Raw(columns, findings=() if drawn is None else (drawn.finding,))

    def _draw(self, source: arrow.Dataset) -> DrawnRows | None:
        """The sample, by the columns that it goes by."""
        if self.sample is None or not set(keys(self)) <= set(source.schema.names):
            return None
        return draw_batches(self, source.to_batches(columns=list(keys(self))))

    def _problems(self, table: pa.Table) -> Iterator[Problem]:
        """Yield a problem for a column of a type that cannot be read and is not ignored."""
        for name, data in zip(table.column_names, table.columns):
            said = self.features.get(name)
            if not can_be_read(data.type) and (said is None or read_declaration(said)[0] != "ignore"):
                ignored = Proposal("dataset.ignore", (name,), sure=True)
                fix = f"set {ignored}, or write it as numbers or texts"
                yield Problem("MSEL-365", f"type {data.type} cannot be read", f"column '{name}'", fix, (ignored,))


def _files(path: Path) -> list[str]:
    """The files of a folder or a glob, sorted."""
    if not has_magic(str(path)):
        return sorted(map(str, parquet_files(path)))
    return sorted(name for name in glob(str(path), recursive=True) if Path(name).is_file() and is_of_table(Path(name)))


def open_parquet(path: Path) -> arrow.Dataset:
    """Open a Parquet file, a folder (`year=2024/` makes a column) or a glob: headers are read; DataError for other files."""
    try:
        if path.is_file():
            return arrow.dataset(str(path), format="parquet")
        return arrow.dataset(_files(path), format="parquet", partitioning="hive")
    except (pa.ArrowException, OSError) as error:
        what = f"not a Parquet file ({_reason(error)})"
        raise DataError(Problem("MSEL-364", what, str(path), "check dataset.path")) from error


def _reason(error: Exception) -> str:
    """What Arrow says, without the path before it: not everybody who reads an error may know it."""
    return str(error).splitlines()[0].rpartition("': ")[2]


def _differing(source: arrow.Dataset) -> Iterator[Problem]:
    """Yield a problem for a file whose columns are not those of the first: Arrow would fill in what is missing."""
    known: list[str] = []
    for part in source.get_fragments():
        known = known or part.physical_schema.names
        if set(part.physical_schema.names) != set(known):
            apart = sorted(set(known) ^ set(part.physical_schema.names))
            what = f"its columns are not those of the first file ({', '.join(apart)})"
            yield Problem("MSEL-371", what, part.path, "all files need the same columns")
            return


def _columns(schema: pa.Schema) -> list[str]:
    """Column names without the index that pandas stores."""
    try:
        index = list((schema.pandas_metadata or {}).get("index_columns", []))
    except (ValueError, TypeError, AttributeError):  # what pandas wrote was damaged: nothing is known of an index
        index = []
    return [name for name in schema.names if name not in index]
