"""A reading in SQL: the columns that a model asks, as it reads them, whatever type they have in the database.

Truth values may stand there as 0 and 1, whole numbers with a point, missing values as the words of a file, numbers with a
decimal comma, dates as texts or in a type of their own. A column is read once, in a table of one row beneath the expression of
the model, which then knows levels, numbers and NULL alone:

    SELECT *, (SELECT ... FROM (SELECT CASE ... END AS "city") AS as_read) AS prediction FROM "rows" AS given
"""

from collections.abc import Iterator

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.reading import POINT, ColumnReading, TableReading
from modelsel.dataset.reading import OTHER, absent_spellings, codes_of_spellings, missing_numbers

GIVEN = "given"  # the table as it stands there
DOUBLE = "DOUBLE PRECISION"


def name(word: str) -> str:
    """Quote an identifier of SQL.

    >>> print(name('the "size" of it'))
    "the ""size"" of it"
    """
    return '"' + word.replace('"', '""') + '"'


def text(word: str) -> str:
    """Quote a text of SQL.

    >>> print(text("don't"))
    'don''t'
    """
    return "'" + word.replace("'", "''") + "'"


def number(value: float) -> str:
    """Write a number with an exponent, which no system takes for a decimal of few places.

    >>> number(0.25), number(1e-20)
    ('0.25e0', '1e-20')
    """
    words = repr(float(value))
    return words if "e" in words else f"{words}e0"


def asked_of_read(reading: TableReading, expression: str) -> str:
    """The expression, asked of the columns as they are read; of those that it names alone."""
    named = [column for column in reading.columns if name(column.name) in expression]
    ConfigurationError.raise_if(
        Problem("MSEL-255", f"column {column.name!r} is read by {how}, which SQL cannot say", "--to sql", "take --to json")
        for column in named if (how := _unsayable(column))
    )  # fmt: skip
    asked = [f"{_read(column)} AS {name(column.name)}" for column in named]
    return f"(SELECT {expression}\nFROM (SELECT {f',{chr(10)}'.join(asked) or '1 AS one'}) AS as_read)"


def _unsayable(column: ColumnReading) -> str:
    """The setting by which a column is read in a way that systems say differently; empty where there is none."""
    told = {
        f"the kind {column.feature.kind}": column.feature.of.writes_its_own,
        "dataset.dates": column.date_form, "dataset.signs": column.signs, "dataset.coerce": column.coerce,
    }  # fmt: skip
    return next((setting for setting, own in told.items() if own), "")


def _read(column: ColumnReading) -> str:
    """The value of a column: a number, the text of a level, or NULL."""
    given = f"{GIVEN}.{name(column.name)}"
    written = f"CAST({given} AS VARCHAR)"
    if column.feature.dates:
        return _seconds(written, absent_spellings(column))
    if column.feature.is_number:
        return _number(column, given, written)
    whens, last = [*_missing(column, written), *_levels(column, written)], written
    if OTHER in column.feature.levels:
        whens.append(f"WHEN {written} IS NULL OR {written} IN ({_list(column.feature.levels)}) THEN {written}")
        last = text(OTHER)
    return f"CASE {' '.join(whens)} ELSE {last} END" if whens else written


def _number(column: ColumnReading, given: str, written: str) -> str:
    """A number; with a decimal comma where the model reads one, without the sign between thousands."""
    if column.thousands:
        written = f"REPLACE({written}, {text(column.thousands)}, '')"
        given = written
    trimmed = f"LOWER(TRIM({written}))"
    whens = [f"WHEN {trimmed} IN ({_list(absent_spellings(column))}) THEN NULL"]
    if column.decimal != POINT:
        whens.append(f"WHEN {written} LIKE '%,%' THEN CAST(REPLACE({written}, ',', '.') AS {DOUBLE})")
    read = f"CASE {' '.join(whens)} ELSE CAST({given} AS {DOUBLE}) END"
    for code in missing_numbers(column):
        read = f"NULLIF({read}, {number(code)})"
    return read


def _missing(column: ColumnReading, written: str) -> Iterator[str]:
    """Yield what makes a word for missing NULL."""
    if column.missing:
        yield f"WHEN TRIM({written}) IN ({_list(column.missing)}) THEN NULL"


def _levels(column: ColumnReading, written: str) -> Iterator[str]:
    """Yield what gives a level its own spelling: truth values as 0 and 1, whole numbers with a point."""
    found, levels = codes_of_spellings(column), column.feature.levels
    for code, level in enumerate(levels):
        others = [word for word, own in found.items() if own == code and word != level]
        if others:
            yield f"WHEN {written} IN ({_list(others)}) THEN {text(level)}"


def _list(words: object) -> str:
    return ", ".join(map(text, words))  # type: ignore[call-overload]


# A moment by its text (`2026-01-31`, `2026-01-31 12:30:00.5`, with `T`, with a zone) as seconds since 1970, in arithmetic that
# every system has. A number is taken for seconds. Days of a date: Hinnant (2013), chrono-compatible low-level date algorithms.

YEAR, MONTH = "(y - CASE WHEN m <= 2 THEN 1 ELSE 0 END)", "((m + 9) % 12)"
DAYS = (
    f"365 * {YEAR} + ({YEAR} - {YEAR} % 4) / 4 - ({YEAR} - {YEAR} % 100) / 100 + ({YEAR} - {YEAR} % 400) / 400"
    f" + ((153 * {MONTH} + 2) - (153 * {MONTH} + 2) % 5) / 5 + d - 1 - 719468"
)


def _seconds(written: str, words: object) -> str:
    """The seconds of a moment, or NULL."""
    size = "LENGTH(moment)"
    whole = f"{size} > 16 AND SUBSTR(moment, {size} - 5, 1) IN ('+', '-')"  # +01:00
    hours = f"{size} > 16 AND SUBSTR(moment, {size} - 2, 1) IN ('+', '-')"  # +01
    sign = f"CASE WHEN SUBSTR(moment, {size} - {{}}, 1) = '-' THEN -1 ELSE 1 END"
    shift = (
        f"CASE WHEN {whole} THEN {sign.format(5)} * (3600 * {_digits('moment', f'{size} - 4')} + 60 *"
        f" {_digits('moment', f'{size} - 1')}) WHEN {hours} THEN {sign.format(2)} * 3600 * {_digits('moment', f'{size} - 1')}"
        " ELSE 0 END"
    )
    body = (
        f"CASE WHEN {whole} THEN SUBSTR(moment, 1, {size} - 6) WHEN {hours} THEN SUBSTR(moment, 1, {size} - 3) ELSE moment END"
    )
    trimmed = f"CASE WHEN {written} LIKE '____-__-__%' THEN REPLACE(TRIM({written}), 'Z', '') END"
    parts = (
        f"{_digits('body', '1', 4)} AS y, {_digits('body', '6')} AS m, {_digits('body', '9')} AS d,"
        f" CASE WHEN LENGTH(body) >= 13 THEN {_digits('body', '12')} ELSE 0 END AS h,"
        f" CASE WHEN LENGTH(body) >= 16 THEN {_digits('body', '15')} ELSE 0 END AS i,"
        f" CASE WHEN LENGTH(body) >= 19 THEN CAST(SUBSTR(body, 18) AS {DOUBLE}) ELSE 0 END AS s, shift"
    )
    clock = f"SELECT {shift} AS shift, {body} AS body FROM (SELECT {trimmed} AS moment) AS m1"  # noqa: S608  names are quoted
    counted = f"CAST(({DAYS}) * 86400 + h * 3600 + i * 60 + s - shift AS {DOUBLE})"
    told = f"(SELECT {counted} FROM (SELECT {parts} FROM ({clock}) AS m2) AS m3)"  # noqa: S608  names are quoted
    absent = f"WHEN LOWER(TRIM({written})) IN ({_list(words)}) THEN NULL"
    return f"CASE {absent} WHEN {written} LIKE '____-__-__%' THEN {told} ELSE CAST({written} AS {DOUBLE}) END"


def _digits(column: str, start: str, many: int = 2) -> str:
    return f"CAST(SUBSTR({column}, {start}, {many}) AS BIGINT)"
