"""Bad tables made by rule: a clean table, spoilt in ways that people's files are, and what was meant by it.

A table is to be read as it was meant, at once or once what is sure is set; or it is asked about, and read as it was meant with
the answer; or it is refused. Shapes are combined at random: each spoils another part of a table.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROWS = 120
Cells = list[str]


@dataclass
class BadTable:
    """A table as it will be written, and as it is meant: numbers, or texts, or None where nothing is known."""

    rng: np.random.Generator
    cells: dict[str, Cells] = field(default_factory=dict)  # what is written, by name
    meant: dict[str, list[object]] = field(default_factory=dict)  # of the columns that are features
    target: str = "y"
    labels: list[object] = field(default_factory=list)  # None: a row without target, which is left out
    delimiter: str = ","
    encoding: str = "utf-8"
    end: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    named: bool = True
    above: list[str] = field(default_factory=list)  # lines above the names
    below: list[Cells] = field(default_factory=list)  # rows between the names and the first
    packed: bool = False
    damage: Callable[[bytes], bytes] = bytes
    answers: list[str] = field(default_factory=list)  # settings that say what was meant, where that is asked
    asked: list[frozenset[str]] = field(default_factory=list)  # codes, one of which is to ask
    refused: list[str] = field(default_factory=list)  # codes, one of which is to refuse

    def add(self, name: str, cells: Sequence[str], meant: Sequence[object] | None = None) -> None:
        """Add a column before the target; without a meaning it is no feature."""
        own = self.cells.pop(self.target)
        self.cells[name], self.cells[self.target] = list(cells), own
        if meant is not None:
            self.meant[name] = list(meant)

    def ask(self, *codes: str, answer: str | tuple[str, ...] = ()) -> None:
        """Say that one of these is to ask, and the settings that answer."""
        self.asked.append(frozenset(codes))
        self.answers += [answer] if isinstance(answer, str) else answer

    def some(self, share: float = 0.1) -> list[int]:
        """Some rows, never the first: what a column is should be seen there."""
        return sorted(self.rng.choice(np.arange(1, ROWS), max(3, round(share * ROWS)), replace=False).tolist())

    def write(self, folder: Path) -> Path:
        """Write the table."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator=self.end, quoting=self.quoting)  # type: ignore[arg-type]
        writer.writerows([list(self.cells)] if self.named else [])
        writer.writerows(self.below)
        writer.writerows(zip(*self.cells.values(), strict=True))
        head = "".join(f"{line}{self.end}" for line in self.above)
        data = self.damage((head + text.getvalue()).encode(self.encoding))
        path = folder / ("bad.csv.gz" if self.packed else "bad.csv")
        path.write_bytes(gzip.compress(data) if self.packed else data)
        return path

    def places(self) -> dict[str, str]:
        """What columns are called once they are read: by their place where no line has names."""
        return {name: name if self.named else f"column_{place + 1}" for place, name in enumerate(self.cells)}


def clean(seed: int) -> BadTable:
    """A table with nothing wrong: two numbers, a whole number, two kinds, and a class that follows from them."""
    rng = np.random.default_rng(seed)
    made = BadTable(rng)
    x, z = rng.normal(size=ROWS).round(2) + 0.003, (rng.gamma(2, 40, ROWS) + 1).round(1)
    count, kind, colour = rng.integers(0, 9, ROWS), rng.choice(["oak", "elm", "ash"], ROWS), rng.choice(["red", "blue"], ROWS)
    label = np.where(x + 0.7 * rng.normal(size=ROWS) > 0, "good", "bad")
    made.cells = {"y": label.tolist()}
    made.labels = label.tolist()
    for name, values in (("x", x), ("z", z), ("count", count)):
        texts = [f"{value:g}" if name != "count" else str(value) for value in values.tolist()]
        made.add(name, texts, [float(text) for text in texts])
    for name, words in (("kind", kind), ("colour", colour)):
        made.add(name, words.tolist(), words.tolist())
    return made


SHAPES: dict[str, tuple[str, Callable[[BadTable], None]]] = {}  # which part is spoilt, and how


def shape(part: str) -> Callable[[Callable[[BadTable], None]], Callable[[BadTable], None]]:
    """Register a way to spoil a part of a table; of each part one way at a time."""

    def register(spoil: Callable[[BadTable], None]) -> Callable[[BadTable], None]:
        SHAPES[spoil.__name__] = (part, spoil)
        return spoil

    return register


def combine(seed: int, most: int = 4) -> tuple[list[str], BadTable]:
    """A clean table spoilt in some ways, each in another part."""
    rng = np.random.default_rng(seed)
    many, chosen, parts = int(rng.integers(1, most + 1)), list[str](), set[str]()
    for name in rng.permutation(sorted(SHAPES)).tolist():
        part, _ = SHAPES[name]
        if part not in parts and len(chosen) < many:
            chosen.append(name)
            parts.add(part)
    return chosen, spoil(chosen, seed)


def spoil(names: Sequence[str], seed: int = 0) -> BadTable:
    """A clean table spoilt in these ways: cells first, lines last."""
    made = clean(seed)
    for name in sorted(names, key=lambda name: (ORDER.index(SHAPES[name][0]), name)):
        SHAPES[name][1](made)
    return made


ORDER = ["x", "z", "count", "kind", "extra", "date", "id", "names", "target", "decimal", "form", "lines", "names line", "bytes"]


# Numbers in another dress.


def dress(bad: BadTable, name: str, write: Callable[[float], str]) -> None:
    bad.cells[name] = [write(value) if isinstance(value, float) else cell
                       for value, cell in zip(bad.meant[name], bad.cells[name])]  # fmt: skip


@shape("x")
def blanks_around_numbers(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"  {value:g} ")


@shape("x")
def plus_signs(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"{value:+g}")


@shape("x")
def exponents(bad: BadTable) -> None:
    bad.meant["x"] = [float(f"{value:.3e}") for value in bad.meant["x"]]
    dress(bad, "x", lambda value: f"{value:.3e}")


@shape("x")
def percent(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"{value:g}%")
    bad.ask("MSEL-342", "NUMBERS_AS_LEVELS", answer="dataset.signs=strip")


@shape("x")
def unit(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"{value:g} kg")
    bad.ask("MSEL-342", "NUMBERS_AS_LEVELS", answer="dataset.signs=strip")


@shape("x")
def currency(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"${value:g}")
    bad.ask("MSEL-342", "NUMBERS_AS_LEVELS", answer="dataset.signs=strip")


@shape("x")
def currency_letters(bad: BadTable) -> None:
    dress(bad, "x", lambda value: f"CHF {value:.3f}")
    bad.ask("MSEL-342", "NUMBERS_AS_LEVELS", answer="dataset.signs=strip")


def thousands(bad: BadTable, sign: str) -> None:
    amounts = bad.rng.integers(1_000, 9_000_000, ROWS)
    bad.meant["z"] = [float(value) for value in amounts]
    bad.cells["z"] = [f"{value:,}".replace(",", sign) for value in amounts.tolist()]


@shape("z")
def thousands_comma(bad: BadTable) -> None:
    thousands(bad, ",")
    bad.ask("MSEL-342", answer="dataset.thousands=','")


@shape("z")
def thousands_apostrophe(bad: BadTable) -> None:
    thousands(bad, "'")
    bad.ask("MSEL-342", answer='dataset.thousands="\'"')


@shape("z")
def thousands_blank(bad: BadTable) -> None:
    thousands(bad, " ")
    bad.ask("MSEL-342", answer="dataset.thousands=' '")


# Gaps.


def gaps(bad: BadTable, name: str, word: str, share: float = 0.1) -> None:
    for row in bad.some(share):
        bad.cells[name][row], bad.meant[name][row] = word, None


def gap_shape(part: str, name: str, word: str) -> Callable[[BadTable], None]:
    def spoil_cells(bad: BadTable) -> None:
        gaps(bad, name, word)

    spoil_cells.__name__ = f"gap_{part}_{''.join(sign if sign.isalnum() else 'o' for sign in word)}_{len(word)}"
    return shape(part)(spoil_cells)


for part, name, word in (("count", "count", ""), ("count", "count", "NA"), ("count", "count", "n/a"), ("count", "count", "-"),
                         ("count", "count", "NULL"), ("kind", "kind", ""), ("kind", "kind", "?")):  # fmt: skip
    gap_shape(part, name, word)


@shape("z")
def words_among_numbers(bad: BadTable) -> None:
    for row, word in zip(bad.some(0.05), ["broken", "see notes", "tbd"] * 9):
        bad.cells["z"][row], bad.meant["z"][row] = word, None
    bad.ask("MSEL-341", "NUMBERS_AS_LEVELS", answer='dataset.coerce=["z"]')


@shape("z")
def sentinel(bad: BadTable) -> None:
    gaps(bad, "z", "-9999")
    bad.ask("SENTINEL_CODES", answer='dataset.missing_in=["z=-9999"]')


# Dates.


def days(bad: BadTable, least: int = 1, most: int = 28) -> "list[np.datetime64]":
    months = bad.rng.integers(0, 48, ROWS)
    return [np.datetime64("2018-01") + int(month) + np.timedelta64(0, "D") + int(day - 1)
            for month, day in zip(months, bad.rng.integers(least, most + 1, ROWS))]  # fmt: skip


def dated(bad: BadTable, form: str, most: int = 28, answer: str | tuple[str, ...] = (), month_only: bool = False) -> None:
    found = days(bad, most=1 if month_only else most)
    moments = [day.astype("datetime64[s]").item() for day in found]
    bad.add(
        "since",
        [moment.strftime(form) for moment in moments],
        [float(day.astype("datetime64[s]").astype(int)) for day in found],
    )
    bad.ask("DATES_AS_NUMBERS", "NUMBERS_LIKE_DATES", "MSEL-343", answer=answer)


def date_shape(label: str, form: str, **how: object) -> None:
    def add_dates(bad: BadTable) -> None:
        dated(bad, form, **how)  # type: ignore[arg-type]

    add_dates.__name__ = f"dates_{label}"
    shape("date")(add_dates)


for label, form in (("iso", "%Y-%m-%d"), ("iso_slashes", "%Y/%m/%d"), ("iso_clock", "%Y-%m-%dT%H:%M:%S"),
                    ("iso_zone", "%Y-%m-%dT%H:%M:%SZ"), ("compact", "%Y%m%d")):  # fmt: skip
    date_shape(label, form, answer=() if label.startswith("iso") else 'dataset.dates=["since=%Y%m%d"]')
for label, form in (("day_dots", "%d.%m.%Y"), ("day_slashes", "%d/%m/%Y"), ("month_slashes", "%m/%d/%Y"),
                    ("day_dashes", "%d-%m-%Y"), ("day_words", "%d %b %Y"), ("short_years", "%d-%b-%y"),
                    ("long_words", "%B %d, %Y"),
                    ("clock", "%d/%m/%Y %H:%M:%S")):  # fmt: skip
    date_shape(label, form, answer=f'dataset.dates=["since={form}"]')
date_shape("months", "%Y-%m", month_only=True, answer='dataset.dates=["since=%Y-%m"]')
date_shape("either", "%d/%m/%Y", most=12, answer="dataset.dates=day_first")


# Columns beside.


@shape("id")
def text_id(bad: BadTable) -> None:
    bad.add("customer", [f"{place:04d}-{''.join(bad.rng.choice(list('ABCDEF'), 5))}" for place in bad.rng.permutation(ROWS)])


@shape("id")
def number_id_with_gaps(bad: BadTable) -> None:
    bad.add("passenger no", [str(10**7 + number) for number in bad.rng.choice(10**7, ROWS, replace=False)])
    bad.ask("ID_LIKE_COLUMN", answer='dataset.ignore=["passenger no"]')


@shape("id")
def unnamed_index(bad: BadTable) -> None:
    bad.cells = {"": [str(row) for row in range(ROWS)], **bad.cells}


@shape("id")
def repeated_id(bad: BadTable) -> None:
    hosts = [f"h{number}" for number in bad.rng.integers(0, 70, ROWS)]
    bad.add("host_id", hosts)
    bad.ask("REPEATED_IDS", answer="dataset.unit=host_id")


@shape("extra")
def constant(bad: BadTable) -> None:
    bad.add("country", ["de"] * ROWS)


@shape("extra")
def many_constants(bad: BadTable) -> None:
    for place in range(60):
        bad.add(f"flag {place}", ["0"] * ROWS)


@shape("extra")
def empty_column(bad: BadTable) -> None:
    bad.add("remarks", [""] * ROWS)


@shape("target")
def target_again(bad: BadTable) -> None:
    bad.add("result", [{"good": "1", "bad": "0"}[str(label)] for label in bad.labels])


@shape("extra")
def twin_column(bad: BadTable) -> None:
    bad.add("tree", [cell if cell in ("", "?") else f"a {cell}" for cell in bad.cells["kind"]])
    bad.ask("EQUAL_COLUMNS", answer='dataset.ignore=["tree"]')


@shape("names")
def odd_names(bad: BadTable) -> None:
    new = {"x": "Interest.Rate (%)", "z": "is it? [USD]", "count": "Zähler", "kind": 'a "kind"', "colour": "c" * 200}
    bad.cells = {new.get(name, name): cells for name, cells in bad.cells.items()}
    bad.meant = {new.get(name, name): values for name, values in bad.meant.items()}
    for old, name in new.items():
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        bad.answers = [answer.replace(f'"{old}"', f'"{quoted}"').replace(f'"{old}=', f'"{quoted}=') for answer in bad.answers]


# The target.


def relabel(bad: BadTable, word: str) -> None:
    for row in bad.some(0.05):
        bad.cells[bad.target][row], bad.labels[row] = word, None


@shape("target")
def target_missing(bad: BadTable) -> None:
    relabel(bad, "")
    bad.ask("MSEL-320", answer="dataset.without_target=drop")


@shape("target")
def target_dash(bad: BadTable) -> None:
    relabel(bad, "-")


@shape("target")
def target_unknown(bad: BadTable) -> None:
    relabel(bad, "unknown")
    bad.ask("CLASS_OR_NO_ANSWER", answer=('dataset.missing_in=["y=unknown"]', "dataset.without_target=drop"))


@shape("target")
def target_in_two_cases(bad: BadTable) -> None:
    for row in bad.some(0.2):
        bad.cells[bad.target][row] = bad.labels[row] = str(bad.labels[row]).upper()
    bad.ask("NEAR_DUPLICATE_LABELS")


@shape("target")
def target_first(bad: BadTable) -> None:
    bad.cells = {bad.target: bad.cells[bad.target], **bad.cells}


# The form of the file.


@shape("form")
def semicolons(bad: BadTable) -> None:
    bad.delimiter = ";"


@shape("form")
def tabs(bad: BadTable) -> None:
    bad.delimiter = "\t"


@shape("form")
def bars(bad: BadTable) -> None:
    bad.delimiter = "|"


@shape("form")
def all_quoted(bad: BadTable) -> None:
    bad.quoting = csv.QUOTE_ALL


@shape("form")
def compressed(bad: BadTable) -> None:
    bad.packed = True


@shape("bytes")
def line_ends_of_windows(bad: BadTable) -> None:
    bad.end = "\r\n"


@shape("bytes")
def byte_order_mark(bad: BadTable) -> None:
    bad.encoding = "utf-8-sig"


@shape("bytes")
def no_last_line_end(bad: BadTable) -> None:
    bad.damage = lambda data: data.rstrip(b"\r\n")


@shape("bytes")
def latin_1(bad: BadTable) -> None:
    kind = next(name for name in bad.meant if name in ("kind", 'a "kind"'))
    bad.cells[kind] = [cell.replace("elm", "Rüster") for cell in bad.cells[kind]]
    bad.meant[kind] = [value and str(value).replace("elm", "Rüster") for value in bad.meant[kind]]
    bad.encoding = "latin-1"
    bad.ask("MSEL-312", answer="dataset.encoding=latin-1")


@shape("bytes")
def utf_16(bad: BadTable) -> None:
    bad.encoding = "utf-16"
    bad.ask("MSEL-312", answer="dataset.encoding=utf-16")


@shape("bytes")
def short_row(bad: BadTable) -> None:
    bad.damage = lambda data: data.rstrip() + b"\n1,2\n"
    bad.refused.append("MSEL-315")


@shape("bytes")
def nul(bad: BadTable) -> None:
    bad.damage = lambda data: data[:-40] + b"\0" + data[-40:]
    bad.refused.append("MSEL-313")


@shape("bytes")
def open_quote(bad: BadTable) -> None:
    bad.damage = lambda data: data.rstrip() + b'\n"a\n'
    bad.refused.append("MSEL-317")


@shape("lines")
def title_above(bad: BadTable) -> None:
    bad.above = ["Survey of trees 2021"]
    bad.ask("MSEL-303", "MSEL-314", "MSEL-319", answer="dataset.header=2")


@shape("lines")
def comments_above(bad: BadTable) -> None:
    bad.above = ["# made by a logger", "# 2021-03-04"]
    bad.ask("MSEL-303", "MSEL-314", "MSEL-319", answer="dataset.header=3")


@shape("lines")
def units_below(bad: BadTable) -> None:
    bad.below = [["cm" if name in bad.meant else "unit" for name in bad.cells]]
    bad.ask("MSEL-341", "MSEL-348", "MSEL-326", "NUMBERS_AS_LEVELS", answer="dataset.skip_lines=1")


@shape("lines")
def without_names(bad: BadTable) -> None:
    bad.named = False
    for old, name in bad.places().items():
        for sign in "\"'":
            quoted = old.replace(sign, f"\\{sign}")
            for end in (sign, "="):
                bad.answers = [answer.replace(f"{sign}{quoted}{end}", f"{sign}{name}{end}") for answer in bad.answers]
    if "host_id" in bad.cells:  # without its name nobody can tell
        bad.meant["host_id"] = list(bad.cells["host_id"])
        bad.answers.remove("dataset.unit=host_id")
        bad.asked.remove(frozenset({"REPEATED_IDS"}))


def every() -> Iterator[str]:
    """The names of all shapes."""
    yield from sorted(SHAPES)
