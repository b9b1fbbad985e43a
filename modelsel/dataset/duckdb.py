"""What a query of DuckDB gives: tables of a database, Parquet, CSV and JSON files, local or wherever DuckDB reads them.

A sample is drawn where the data are: of all rows DuckDB gives the target and the units, everything else of the drawn ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Loaded, Task
from modelsel.dataset.arrow import column
from modelsel.dataset.assemble import assemble
from modelsel.dataset.base import TableSettings
from modelsel.dataset.sample import draw_batches, keys

ROW = "modelsel row"  # the number of a row of the query
SETTINGS: dict[str, Any] = {"autoinstall_known_extensions": "false", "lock_configuration": "true"}  # a query fetches no code


@dataclass(frozen=True, kw_only=True)
class Duckdb(TableSettings):
    """A query is a table: its columns have the kinds of a Parquet file's."""

    query: str | None = plain(None, help="one SELECT, or FROM 'files/*.parquet'")
    database: str | None = plain(None, help="the file that it is asked of; null: the query names files")

    def problems(self) -> Iterator[Problem]:
        """Yield problems of the settings, by themselves or against the columns of the query, which is not run."""
        if self.query is None:
            yield Problem("MSEL-301", "no query is given", "dataset.query", "set \"dataset.query='FROM ...'\"")
            return
        try:
            with self._asking() as source:
                names = _columns(source, self.query)
        except ConfigurationError as error:
            yield from error.problems
            return
        yield from self.header_problems(names)

    def load(self) -> Loaded:
        """The task and what is notable about it; ConfigurationError or DataError with all problems."""
        ConfigurationError.raise_if(self.problems())
        with self._asking() as source:
            settled = self.settle(_columns(source, str(self.query)))
            return settled._load_settled(source)

    def read(self) -> Task:
        return self.load().task

    def _load_settled(self, source: Any) -> Loaded:
        """Load the table, once each list of columns is settled to names."""
        inner, row = f"({_statement(str(self.query))})", _quote(ROW)
        by = ", ".join(map(_quote, keys(self)))
        drawn = None
        if self.sample is not None:
            drawn = draw_batches(self, _rows(source, f"SELECT {by} FROM {inner}"))  # noqa: S608  the person's own query
        if drawn is None:
            table = pa.Table.from_batches(_rows(source, f"FROM {inner}"))
        else:
            source.register("places", pa.table({ROW: drawn.places}))
            numbered = f"(SELECT *, row_number() OVER () - 1 AS {row} FROM {inner})"  # noqa: S608  the same
            wanted = f"FROM {numbered} SEMI JOIN places USING ({row}) ORDER BY {row}"
            table = pa.Table.from_batches(_rows(source, f"SELECT * EXCLUDE ({row}) {wanted}"))
            if not drawn.is_of(table.column(str(self.target))):
                what, fix = "the query gives its rows in another order each time", "add ORDER BY, by what tells rows apart"
                raise ConfigurationError(Problem("MSEL-376", what, "dataset.query", fix))
        if not table.num_rows:
            raise DataError(Problem("MSEL-311", "the query gives no rows", "dataset.query", "the table needs rows"))
        loaded = assemble([column(name, table.column(name)) for name in table.column_names], self, self._called)
        return loaded if drawn is None else Loaded(loaded.task, (drawn.finding, *loaded.findings))

    @property
    def _called(self) -> str:
        return Path(self.database).stem if self.database else "query"

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """A connection that cannot write; what DuckDB complains of is an error of the query."""
        try:
            import duckdb
        except ImportError as error:
            what, fix = "dataset=duckdb needs DuckDB, which is not installed", "pip install duckdb"
            raise ConfigurationError(Problem("MSEL-376", what, "dataset", fix)) from error
        if self.database is not None and not Path(self.database).is_file():
            fix = f"the path is read from {Path.cwd()}"
            raise ConfigurationError(Problem("MSEL-302", f"there is no file '{self.database}'", "dataset.database", fix))
        try:
            with duckdb.connect(self.database or ":memory:", self.database is not None, SETTINGS) as source:
                kinds = [one.type for one in source.extract_statements(str(self.query))]
                if kinds != [duckdb.StatementType.SELECT]:
                    what, fix = "it is not a single SELECT", "give one query, which changes nothing"
                    raise ConfigurationError(Problem("MSEL-376", what, "dataset.query", fix))
                yield source
        except duckdb.Error as error:
            what = f"DuckDB: {' '.join(str(error).split())}"
            raise ConfigurationError(Problem("MSEL-376", what[:400], "dataset.query", "try the query in DuckDB")) from error


def _statement(query: str) -> str:
    return query.strip().rstrip(";")


def _columns(source: Any, query: str) -> list[str]:
    """The names of the columns, without the query being run."""
    return [str(row[0]) for row in source.execute(f"DESCRIBE {_statement(query)}").fetchall()]


def _rows(source: Any, query: str) -> pa.RecordBatchReader:
    """The rows of a query, a block at a time."""
    return pa.RecordBatchReader.from_stream(source.sql(query))


def _quote(name: str) -> str:
    """A name as SQL has it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'
