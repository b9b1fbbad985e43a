"""Columns in SQL as a model reads them, asked of two databases and held against Python's own numbers and moments."""

import sqlite3
from datetime import UTC, datetime
from typing import Any

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.reading import ColumnReading, Feature, TableReading
from modelsel.exports.sql_reading import asked_of_read
from tests.extras import needs


def read(column: ColumnReading, cells: list[object]) -> list[list[object]]:
    """The cells by SQLite, and by DuckDB as texts."""
    query = f"SELECT {asked_of_read(TableReading((column,)), chr(34) + 'x' + chr(34))} FROM t AS given"
    found = []
    duckdb: Any = needs("duckdb").connect()
    for database, kind, own in ((sqlite3.connect(":memory:"), "", cells), (duckdb, "VARCHAR", [*map(_text, cells)])):
        database.execute(f"CREATE TABLE t(x {kind})")
        database.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in own])
        found.append([row[0] for row in database.execute(query).fetchall()])
    return found


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell)


def test_moments_are_seconds_in_any_zone() -> None:
    texts = ["1969-12-31", "2000-02-29 23:59:59.5", "2024-03-01T00:00", "1900-03-01", "2020-06-30T12:00:00Z",
             "2020-06-30 12:00:00+02:00", "2020-06-30 12:00:00-05", "0001-01-01"]  # fmt: skip
    moments = [datetime.fromisoformat(text) for text in texts]
    wanted = [(one if one.tzinfo else one.replace(tzinfo=UTC)).timestamp() for one in moments]
    for found in read(ColumnReading(Feature("x", "numeric", dates=True)), [*texts, "", None, "NaT"][:-1]):
        assert found == [*wanted, None, None]


def test_numbers_have_commas_gaps_and_thousands() -> None:
    cells = ["1'250,5", 3.25, "-2", " NA ", "?", "", None, "1e3"]
    for found in read(ColumnReading(Feature("x", "numeric"), decimal="either", thousands="'"), cells):
        assert found == [1250.5, 3.25, -2.0, None, None, None, None, 1000.0]


def test_levels_have_the_spellings_of_databases() -> None:
    for found in read(ColumnReading(Feature("x", "nominal", ("false", "true"))), [1, 0, "True", "FALSE", 1.0, "?", None]):
        assert found == ["true", "false", "true", "false", "true", None, None]
    for found in read(ColumnReading(Feature("x", "nominal", ("1", "2")), ("NA",)), [1, 2.0, "NA", "?", ""]):
        assert found == ["1", "2", None, "?", ""]
    for found in read(ColumnReading(Feature("x", "nominal", ("a", "(other levels)"))), ["a", "b", None, ""]):
        assert found == ["a", "(other levels)", None, None]


@pytest.mark.parametrize("how", [{"signs": True}, {"coerce": True}, {"date_form": "%d.%m.%Y"}])
def test_what_systems_say_differently_is_refused(how: dict[str, Any]) -> None:
    reading = TableReading((ColumnReading(Feature("x", "numeric"), **how),))
    with pytest.raises(ConfigurationError, match="which SQL cannot say"):
        asked_of_read(reading, '"x" <= 1')
    assert '"x"' not in asked_of_read(reading, "1")
