"""Read handed-in predictions and check them against the tokens of an exam: a class per row, a score per class, or a number.

Columns: the token, then `prediction`, or a column per class (its name, or `score_` and its name), or both. Every problem is
named, with the first rows that have it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.types import Booleans, Codes, Floats, Integers, Outputs, Strings, Targets
from modelsel.dataset.column import RawColumn, numbers
from modelsel.dataset.read_table import kind_of_file, reader
from modelsel.dataset.spellings import codes
from modelsel_exam.terms import Terms

PREDICTION, SCORE, THRESHOLDOUT = "prediction", "score_", "thresholdout"
ASKED = ("questions", "questions and of the development rows")
NAMED, CUT, EVEN, DECIMALS = 3, 40, 1e-3, 6
BYTES, COLUMNS = 4000, 2000  # at most so many bytes for each row of a Parquet file, and columns
Columns = Mapping[str, RawColumn]


@dataclass(frozen=True, eq=False)
class Answer:
    """Predictions in the order of the exam's rows, and for its development rows where they came along or the terms ask."""

    name: str  # digest of what the measure reads, row by row of the exam's
    outputs: Outputs
    development: Outputs | None = None


def read_answer(source: object, most: int) -> Columns:
    """The columns of a CSV or Parquet file, or of a table in memory; DataError for what is not a table.

    A Parquet file of more than `most` rows is not read: a few bytes of it may stand for billions of cells.
    """
    if not isinstance(source, str | Path):
        from modelsel.dataset.in_memory import columns as columns_of  # narwhals, which a file does without

        return columns_of(source)
    path = Path(source)
    if not path.is_file():
        raise ConfigurationError(
            Problem("MSEL-920", f"there is no file {str(path)!r}", "PREDICTIONS", "give a CSV or Parquet file")
        )
    if kind_of_file(path) == "parquet":
        _refuse_large(path, most)
    return {column.name: column for column in reader(path).raw(path).columns}


def _refuse_large(path: Path, most: int) -> None:
    """Refuse a Parquet file that says of itself that it is larger than an answer may be."""
    from modelsel.dataset.parquet import open_parquet  # Arrow, which other files do without

    [file] = open_parquet(path).get_fragments()
    header = file.metadata
    size = sum(header.row_group(number).total_byte_size for number in range(header.num_row_groups))
    if header.num_rows > most or size > BYTES * (most + 1) or header.num_columns > COLUMNS:
        what = f"{header.num_rows:,} rows and {header.num_columns:,} columns of {size:,} bytes"
        raise DataError(
            Problem("MSEL-962", what, "predictions", "hand in one line for each row: its token, and what is predicted")
        )


def check_answer(columns: Columns, terms: Terms, tokens: Strings, development: Strings) -> Answer:
    """Predictions by token as outputs; DataError (3) that names missing, extra, repeated and unknown rows and odd cells.

    Whoever predicts one development row predicts all of them. Of a gate, `development` are the rows that judge, which nobody
    can tell from the others.
    """
    wanted = terms.token
    if wanted not in columns:
        fix = f"give each prediction the {wanted} of its row, as the questions have it, in a column (an index is not read)"
        raise DataError(Problem("MSEL-921", f"there is no column '{wanted}'; {_has(columns)}", "predictions", fix))
    text = columns[wanted].as_text()
    needed = terms.release == THRESHOLDOUT or terms.loop is not None
    both = needed or not set(development.tolist()).isdisjoint(word.strip() for word in text.texts)
    asked = ASKED[both and terms.loop is None]
    place = _places(text, np.concatenate([tokens, development]) if both else tokens, terms, asked)
    cells = {name: _reorder(column, place) for name, column in columns.items()}
    predicted, scores = _read_predictions(cells, terms)
    outputs, known = (
        Outputs(predicted[None, part], None if scores is None else scores[None, part])
        for part in (slice(len(tokens)), slice(len(tokens), None))
    )
    name = _digest(terms, tokens, outputs)
    if terms.loop is not None:  # a proposal is what it says of all rows
        name = hashlib.sha256(f"{name} {_digest(terms, development, known)}".encode()).hexdigest()
    return Answer(name, outputs, known if both else None)


def _digest(terms: Terms, tokens: Strings, outputs: Outputs) -> str:
    """SHA-256 over a line per row in the order of tokens: token, tab, the class, or the scores with six decimals.

    A number is written in the shortest form that reads back as itself.
    """
    if terms.of_numbers:
        said = [repr(value) for value in outputs.predicted[0].tolist()]
    elif terms.make_measure().needs_scores and outputs.scores is not None:
        rounded = np.round(outputs.scores[0], DECIMALS) + 0.0  # as the guard rounds them: one answer has one name
        said = ["\t".join(f"{value:.{DECIMALS}f}" for value in row) for row in rounded.tolist()]
    else:
        said = [terms.classes[code] for code in outputs.predicted[0].tolist()]
    state = hashlib.sha256()
    for token, words in sorted(zip(tokens.tolist(), said)):
        state.update(f"{token}\t{words}\n".encode())
    return state.hexdigest()


def _places(text: RawColumn, tokens: Strings, terms: Terms, asked: str) -> Integers:
    """Find the place in the file of each of the exam's rows."""
    assert text.codes is not None
    index = {token: number for number, token in enumerate(tokens.tolist())}
    row = np.array([*(index.get(word.strip(), -1) for word in text.texts), -1], np.int64)[text.codes]
    DataError.raise_if(_rows(row, tokens, text, terms, asked))
    place = np.empty(len(tokens), np.int64)
    place[row] = np.arange(len(row))
    return place


def _rows(row: Integers, tokens: Strings, text: RawColumn, terms: Terms, asked: str) -> Iterator[Problem]:
    """Yield a problem for questions that are missing, repeated or unknown."""
    counts = np.bincount(row[row >= 0], minlength=len(tokens))
    for code, what, names, fix in (
        ("MSEL-922", "missing", tokens[counts == 0], f"predict every row of the {asked}"),
        ("MSEL-923", "repeated", tokens[counts > 1], "give one line to each row"),
        ("MSEL-924", "unknown", _words(text, row < 0), f"keep the column '{terms.token}' as questions.csv has it"),
    ):
        if len(names):
            yield Problem(code, f"{what} rows: {_some(names)}", f"column '{terms.token}'", fix)


def _words(text: RawColumn, where: Integers | Booleans) -> Sequence[str]:
    """The distinct texts of some rows, cut short: nobody knows how long they are."""
    assert text.codes is not None
    return ["" if code < 0 else text.texts[code][:CUT] for code in np.unique(text.codes[where]).tolist()]


def _some(names: Sequence[str] | Strings) -> str:
    more = f", +{len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(repr(str(name)) for name in names[:NAMED]) + more


def _reorder(column: RawColumn, place: Integers) -> RawColumn:
    """Reorder a column's rows."""
    if column.numbers is not None:
        return RawColumn(column.name, numbers=column.numbers[place])
    assert column.codes is not None
    return RawColumn(column.name, column.texts, column.codes[place])


def _read_predictions(cells: Columns, terms: Terms) -> tuple[Targets, Floats | None]:
    """The class of each row, and class scores where they are given; or the number of each row."""
    if terms.of_numbers:
        if PREDICTION not in cells:
            fix = f"add a column '{PREDICTION}' of numbers"
            raise DataError(Problem("MSEL-925", f"nothing is predicted; {_has(cells)}", "predictions", fix))
        return _amounts(cells[PREDICTION]), None
    named = [name if name in cells and name != terms.token else f"{SCORE}{name}" for name in terms.classes]
    present = [name for name in named if name in cells]
    if present and len(present) < len(named):
        lacking = ", ".join(name.removeprefix(SCORE) for name in named if name not in cells)
        raise DataError(
            Problem(
                "MSEL-925",
                f"no column for {lacking}; {_has(cells)}",
                "predictions",
                "give a column of scores for each class, or for none",
            )
        )
    scores = _scores([cells[name] for name in named]) if present else None
    if scores is None and terms.make_measure().needs_scores:
        fix = "give a column of scores for each class: " + ", ".join(terms.classes)
        raise DataError(Problem("MSEL-925", "the measure reads scores, and there are none", "predictions", fix))
    if PREDICTION in cells:
        return _labels(cells[PREDICTION], terms), scores
    if scores is None:
        fix = f"add a column '{PREDICTION}', or a column of scores for each class"
        raise DataError(Problem("MSEL-925", f"nothing is predicted; {_has(cells)}", "predictions", fix))
    return scores.argmax(axis=1).astype(np.int32), scores


def _amounts(column: RawColumn) -> Floats:
    """Read predicted numbers; a zero has no sign, so that one answer has one name."""
    found = _numbers(column)
    wrong = ~np.isfinite(found)
    if wrong.any():
        text = column.as_text()
        what = f"{int(wrong.sum()):,} cells that are not finite numbers: {_some(_words(text, wrong))}"
        raise DataError(Problem("MSEL-926", what, f"column '{PREDICTION}'", "give a number with a decimal point for each row"))
    return found + 0.0


def _labels(column: RawColumn, terms: Terms) -> Codes:
    """Read predicted classes as class indices."""
    text = column.as_text()
    assert text.codes is not None
    code = codes(terms.classes)
    known = np.array([*(code.get(word, code.get(_whole(word), -1)) for word in text.texts), -1], np.int32)
    found: Codes = known[text.codes]
    if (found < 0).any():
        fix = f"use one of {', '.join(terms.classes[:20])}"
        what = f"{int((found < 0).sum()):,} cells that are not a class: {_some(_words(text, found < 0))}"
        raise DataError(Problem("MSEL-926", what, f"column '{PREDICTION}'", fix))
    return found


def _whole(text: str) -> str:
    """Rewrite a class as other programs spell it: without spaces, whole numbers without a point.

    >>> _whole(" 1.0"), _whole("yes "), _whole("1.05")
    ('1', 'yes', '1.05')
    """
    bare = text.strip()
    head, _, rest = bare.partition(".")
    return head if rest and not rest.strip("0") and head.lstrip("-").isdecimal() else bare


def _has(columns: Columns) -> str:
    """The names of the columns that there are, cut short."""
    return f"there are {_some([name[:CUT] for name in columns])}"


def _scores(columns: Sequence[RawColumn]) -> Floats:
    """Scores that sum to one, row by row."""
    table = np.column_stack([_numbers(column) for column in columns])
    wrong = ~np.isfinite(table) | (table < 0)
    sums = table.sum(axis=1)
    odd = wrong.any(axis=1) | (np.abs(sums - 1) > EVEN)
    if odd.any():
        what = f"{int(odd.sum()):,} rows whose scores are not numbers from 0 that sum to 1 (row {int(np.flatnonzero(odd)[0])})"
        raise DataError(Problem("MSEL-927", what, "columns of scores", "give probabilities, a column for each class"))
    scores: Floats = table / sums[:, None]
    return scores


def _numbers(column: RawColumn) -> Floats:
    """Read a column as numbers; NaN where a cell is none."""
    if column.numbers is not None:
        return column.numbers
    assert column.codes is not None
    found: Floats = np.append(numbers(column.texts), np.nan)[column.codes]
    return found
