"""Base of all file readers: a path, an optional second file of test rows, problems of the header, the way to a task."""

import bz2
import codecs
import gzip
import io
import lzma
import sys
import time
import zipfile
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.spec import plain
from modelsel.core.system.machine import affordable, memory
from modelsel.core.types import Finding, Floats, Loaded, Task
from modelsel.dataset.assemble import assemble
from modelsel.dataset.base import TableSettings, read_declaration
from modelsel.dataset.column import RawColumn
from modelsel.dataset.declarations import nearest
from modelsel.dataset.header import of_unnamed
from modelsel.dataset.sample import draw_columns


@dataclass(frozen=True, eq=False)
class Raw:
    """The columns of a source, with row weights where the format itself has them.

    `decimal` is how its numbers are written (`either`: with a point, else with a comma); `findings` say what was recognised.
    """

    columns: tuple[RawColumn, ...]
    weights: Floats | None = None
    decimal: str = "."
    findings: tuple[Finding, ...] = ()
    unnamed: frozenset[str] = frozenset()  # columns that were given a name, as they have none


@dataclass(frozen=True, kw_only=True)
class File(TableSettings):
    """`path` is relative to the folder in which the command is typed."""

    path: str | None = plain(None, help="the file")
    test_path: str | None = plain(None, help="a second file of the same columns: the test rows for split=predefined")

    @abstractmethod
    def names(self, path: Path) -> tuple[str, ...]:
        """The column names, read from the beginning of the file; raises ModelselError."""

    @abstractmethod
    def raw(self, path: Path) -> Raw:
        """All columns; raises DataError with all problems of the file's form."""

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of the settings, by themselves and against the header: reads no more than the header."""
        missing = tuple(self._missing_files())
        yield from missing
        if not missing:
            try:
                names = self.names(Path(str(self.path)))
            except DataError:
                return  # the contents are the business of read()
            yield from self.header_problems(names)
            yield from self._too_large(Path(str(self.path)), names)

    def _too_large(self, path: Path, names: Sequence[str]) -> Iterator[Problem]:
        """Yield a problem where the numbers of a table alone are more than the memory of this machine."""
        left_out = {name for name, said in self.settle(names).features.items() if read_declaration(said)[0] == "ignore"}
        rows, columns = self.rows_of(path), len([name for name in names if name not in left_out])
        need, there = rows * columns * np.dtype(np.float64).itemsize, memory()
        if need > there:
            what = f"about {rows:,.0f} rows of {columns:,} columns are {need / 1e9:,.0f} GB of numbers"
            way = f"{self.way_to_sample} {Proposal('dataset.sample', affordable(columns, there))}"
            fix = f"{way}, ignore columns (dataset.features.NAME=ignore), or take a machine that holds them"
            yield Problem("MSEL-375", f"{what}, and this machine has {there / 1e9:,.0f} GB", str(path), fix)

    @property
    def way_to_sample(self) -> str:
        """How a sample is drawn without all rows being read."""
        return "let DuckDB draw where the file is: dataset=duckdb \"dataset.query='FROM ...'\""

    def rows_of(self, path: Path) -> float:
        """Estimate the number of rows by the length of the first lines; what is compressed counts as if it were not."""
        head = first_bytes(path, HEAD)
        return path.stat().st_size * head.count(b"\n") / max(len(head), 1)

    def load(self) -> Loaded:
        """The task and what is notable about it; ConfigurationError or DataError with all problems."""
        ConfigurationError.raise_if(self.problems())
        try:
            settled = self.settle(self.names(Path(str(self.path))))
        except DataError:  # which is told with all that is wrong with the contents
            settled = self
        return settled._load_settled()

    def _load_settled(self) -> Loaded:
        """Load the table, once each list of columns is settled to names."""
        raw = self._sample(self.raw(Path(str(self.path))))
        ConfigurationError.raise_if(self.header_problems([column.name for column in raw.columns]))
        said = {*self.features, *self.roles()}
        if undeclared := [column.name for column in raw.columns if column.name in raw.unnamed and column.name not in said]:
            raise DataError(of_unnamed(undeclared, str(self.path)))
        held_out = None
        if self.test_path is not None:
            held_out = len(raw.columns[0])
            raw = _stack(raw, replace(self, sample=None).raw(Path(self.test_path)), self.test_path)
        waiting, decimal, weights, findings = list(raw.columns), raw.decimal, raw.weights, raw.findings
        del raw  # each column is let go once it is a feature
        loaded = assemble(waiting, self, self.called, decimal, weights)
        _given_back()
        loaded = replace(loaded, findings=(*findings, *loaded.findings))
        return loaded if held_out is None else _mark_held_out(loaded, held_out)

    @property
    def called(self) -> str:
        """The name of the data set: that of the file."""
        return bare(str(self.path)).stem

    def is_there(self, name: str) -> bool:
        """Say whether a path leads to something that can be read."""
        return Path(name).is_file()

    def _sample(self, raw: Raw) -> Raw:
        """The rows of the sample, where one is asked for and was not drawn while reading."""
        drawn = draw_columns(self, raw.columns)
        if drawn is None:
            return raw
        columns = tuple(column.take(drawn.places) for column in raw.columns)
        weights = None if raw.weights is None else raw.weights[drawn.places]
        return replace(raw, columns=columns, weights=weights, findings=(*raw.findings, drawn.finding))

    def read(self) -> Task:
        return self.load().task

    def _missing_files(self) -> Iterator[Problem]:
        """Yield a problem where no file is named or there is none of that name."""
        if self.path is None:
            yield Problem("MSEL-301", "no file is named", "dataset.path", "set dataset.path=FILE")
        for setting in ("path", "test_path"):
            name = getattr(self, setting)
            if name is not None and not self.is_there(name):
                yield Problem("MSEL-302", f"there is no file '{name}'", f"dataset.{setting}", _near_file(Path(name)))


def _near_file(path: Path) -> str:
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return nearest(path.name, beside).strip() or f"the path is read from {Path.cwd()}"


def _stack(top: Raw, bottom: Raw, path: str) -> Raw:
    """Append the second file's rows; its columns are found by name."""
    names, others = [column.name for column in top.columns], {column.name: column for column in bottom.columns}
    lacking = [name for name in names if name not in others]
    if lacking:
        what = f"columns missing in the second file: {', '.join(lacking)}"
        raise DataError(Problem("MSEL-371", what, path, "both files need the same columns"))
    columns = tuple(column.extend(others[column.name]) for column in top.columns)
    weights = None
    if top.weights is not None or bottom.weights is not None:
        weights = np.concatenate([_ones(top), _ones(bottom)])
    return replace(top, columns=columns, weights=weights)


def _ones(raw: Raw) -> Floats:
    return np.ones(len(raw.columns[0])) if raw.weights is None else raw.weights


def _mark_held_out(loaded: Loaded, first: int) -> Loaded:
    """The rows from the second file are held out."""
    return Loaded(replace(loaded.task, held_out=np.asarray(loaded.task.rows >= first)), loaded.findings)


def _given_back() -> None:
    """Give the memory that Arrow keeps after reading, twice the table and more, back to the system."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


# The bytes of a file, taken out of what they were compressed with, as blocks of UTF-8 text: no file is ever held whole.
#
# A compressed file is known by its first bytes, whatever it is called. Long readings are told by `tell_progress`.

BLOCK = 1 << 22
UTF_8 = "utf-8-sig"  # with or without a mark
HEAD = 1 << 20  # bytes by which the rows of a file are counted
TIMES, AT_LEAST = 100, 1 << 26  # what a compressed file may unpack to: so many times its size, and these bytes
EVERY = 3.0  # seconds between two lines about a long reading
ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, OSError, ValueError)

Say = Callable[[str], None]
_LISTENER: ContextVar[Say] = ContextVar("listener", default=lambda _: None)


@contextmanager
def tell_progress(say: Say) -> Iterator[None]:
    """Let files read within the block report how far they are."""
    token = _LISTENER.set(say)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def bare(path: str | Path) -> Path:
    """The path without the ending that says how the file was compressed.

    >>> bare("loans.csv.gz").name, bare("loans.csv").name
    ('loans.csv', 'loans.csv')
    """
    return Path(path).with_suffix("") if Path(path).suffix.lower() in ENDINGS else Path(path)


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """The file's contents as a stream. Raises ConfigurationError where it cannot be opened, DataError for a workbook."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise ConfigurationError(Problem("MSEL-302", f"{path}: {error.strerror}", "dataset.path", "check the file")) from error
    with raw, _unpack(raw, path) as stream:
        yield stream


def read_bytes(path: Path) -> bytes:
    """The whole contents; ConfigurationError where the file cannot be read, DataError where it is empty."""
    data = b"".join(blocks(path))
    if not data.strip():
        raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
    return data


def first_bytes(path: Path, many: int) -> bytes:
    """The beginning of the contents, so many bytes."""
    data = b""
    with closing(blocks(path, many=many)) as found:
        while len(data) < many and (block := next(found, b"")):
            data += block
    return data


def listener() -> Say:
    """Return the listener to messages about long readings. Arrow reads in a thread of its own, which has none."""
    return _LISTENER.get()


def blocks(path: Path, say: Say | None = None, many: int | None = None) -> Generator[bytes]:
    """The contents, a block or so many bytes at a time; `say` is told how far the reading is, in bytes of the file on disk."""
    size, began, came = path.stat().st_size if path.is_file() else 0, time.monotonic(), 0
    with open_stream(path) as stream:
        try:
            while block := stream.read(many or BLOCK):
                came += len(block)
                if came > size + AT_LEAST and came > TIMES * size + AT_LEAST:
                    raise _endless(path, size)
                yield block
                if say and time.monotonic() - began > EVERY:
                    began = time.monotonic()
                    say(f"reading {path.name}: {_place(stream) / max(size, 1):.0%} of {size / 1e6:,.0f} MB")
        except BROKEN as error:
            what = f"the compressed file is damaged ({str(error) or type(error).__name__})"
            raise DataError(Problem("MSEL-372", what, str(path), "copy it again, or unpack it by hand")) from error


def _endless(path: Path, size: int) -> DataError:
    """Refuse a small file that unpacks to what no memory may hold, before it is unpacked."""
    what = f"its {size / 1e6:,.1f} MB unpack to more than {(TIMES * size + AT_LEAST) / 1e6:,.0f} MB, as few tables do"
    return DataError(Problem("MSEL-374", what, str(path), "unpack it by hand, and look at what is in it"))


def text_blocks(path: Path, encoding: str, say: Say | None = None) -> Iterator[bytes]:
    """The contents as UTF-8 without a mark; DataError at the first byte that is not `encoding`."""
    decoder, whole = _decoder(encoding), 0
    try:
        for block in blocks(path, say):
            yield block if _as_it_is(block, encoding, decoder) else decoder.decode(block).encode()
            whole += 1
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        lines = lines_of(islice(text_blocks(path, encoding), whole))
        raise DataError(_undecodable(error, lines, encoding, path)) from error


def lines_of(some: Iterable[bytes]) -> int:
    """Count the lines of blocks: asked for where something is wrong in a later one."""
    return sum(block.count(b"\n") for block in some)


def decode_text(data: bytes, encoding: str, path: Path) -> str:
    """The text of a file; an undecodable byte is reported with its line and the likely encoding."""
    try:
        return _decoder(encoding).decode(data, final=True)
    except UnicodeDecodeError as error:
        raise DataError(_undecodable(error, 0, encoding, path)) from error


def is_of_table(path: Path) -> bool:
    """Say whether a file of a folder holds rows of its table, as Spark and Arrow write them: no `_metadata`, no hidden file."""
    return not path.name.startswith((".", "_"))


def parquet_files(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder, however deep."""
    return (path for path in folder.glob("**/*.parquet") if path.is_file() and is_of_table(path))


class Stream(io.RawIOBase):
    """Blocks of bytes as a file that is read from its beginning to its end."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source, self._block, self._place = source, b"", 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to so many bytes (all without a size), a block as it is where it is no longer; none at the end."""
        if size < 0:
            return self.readall()
        while self._place >= len(self._block):
            if (block := next(self._source, None)) is None:
                return b""
            self._block, self._place = block, 0
        start, self._place = self._place, self._place + size
        return self._block[start : self._place]

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Fill the buffer from the next block; 0 at the end."""
        taken = self.read(len(buffer))
        buffer[: len(taken)] = taken
        return len(taken)


def codec(encoding: str) -> str:
    """The codec that takes a byte-order mark away where there may be one."""
    return UTF_8 if encoding.lower().replace("_", "-") in {"utf-8", "utf8"} else encoding


PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"(\xb5/\xfd": "zstd", b"PK\x03\x04": "zip"}


def packing(first: bytes) -> str:
    """The compression of a file, recognised by its first bytes; empty where there is none.

    >>> packing(gzip.compress(b"a,b")), packing(b"a,b")
    ('gzip', '')
    """
    return next((name for mark, name in PACKED.items() if first.startswith(mark)), "")


def _unpack(raw: BinaryIO, path: Path) -> BinaryIO:
    """Unpack gzip, bzip2, xz, zstd or a zip archive."""
    first = raw.read(6)
    raw.seek(0)
    match packing(first):
        case "gzip":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        case "bzip2":
            return bz2.BZ2File(raw)  # type: ignore[return-value]
        case "xz":
            return lzma.LZMAFile(raw)  # type: ignore[return-value]
        case "zstd":
            return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")  # type: ignore[no-any-return]
        case "zip":
            return _member(raw, path)
        case _:
            return raw


def _member(raw: BinaryIO, path: Path) -> BinaryIO:
    """The one file of a ZIP archive."""
    try:
        archive = zipfile.ZipFile(raw)
    except zipfile.BadZipFile as error:
        what = f"the compressed file is damaged ({error})"
        raise DataError(Problem("MSEL-372", what, str(path), "copy it again, or unpack it by hand")) from error
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if "[Content_Types].xml" in names:
        raise DataError(Problem("MSEL-373", "this is a workbook of a spreadsheet program", str(path), "save the sheet as CSV"))
    if len(names) != 1:
        what = f"the archive holds {len(names)} files"
        raise DataError(Problem("MSEL-373", what, str(path), "unpack it, and name the one that is meant"))
    return archive.open(names[0])  # type: ignore[return-value]


def _as_it_is(block: bytes, encoding: str, decoder: codecs.IncrementalDecoder) -> bool:
    """Say that a block of ASCII says in UTF-8 what it says already, as no character and no mark was begun before it."""
    return codec(encoding) == UTF_8 and decoder.getstate() == (b"", 0) and block.isascii()


def _place(stream: BinaryIO) -> int:
    """Return how many bytes of the file on disk were read, as near as the stream can tell."""
    inner = getattr(stream, "fileobj", None) or getattr(stream, "_fp", None) or stream
    return int(inner.tell())


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Make a decoder for an encoding by its name."""
    try:
        return codecs.getincrementaldecoder(codec(encoding))()
    except LookupError as error:
        known = "use utf-8, latin-1, cp1252 or utf-16"
        raise ConfigurationError(Problem("MSEL-305", f"unknown encoding '{encoding}'", "dataset.encoding", known)) from error


def _undecodable(error: UnicodeDecodeError, lines: int, encoding: str, path: Path) -> Problem:
    line = lines + error.object.count(b"\n", 0, error.start) + 1
    what = f"byte {error.object[error.start]:#04x} is not {encoding} (line {line})"
    return Problem("MSEL-312", what, str(path), f"set dataset.encoding={_likely(error.object)}, if that is right")


def _likely(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:200].count(0) > len(data[:200]) // 4:
        return "utf-16"
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in data[:100_000]) else "latin-1"
