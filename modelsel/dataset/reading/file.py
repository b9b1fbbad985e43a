"""Base of all file readers: a path, an optional second file of test rows, problems of the header, the way to a task."""

import sys
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Finding, Floats, Task
from modelsel.dataset.columns.assemble import Loaded, assemble
from modelsel.dataset.columns.column import RawColumn
from modelsel.dataset.columns.settings import TableSettings, nearest
from modelsel.dataset.reading.bytes import bare


@dataclass(frozen=True, eq=False)
class Raw:
    """The columns of a source, with row weights where the format itself has them.

    `decimal` is how its numbers are written (`either`: with a point, else with a comma); `findings` say what was recognised.
    """

    columns: tuple[RawColumn, ...]
    weights: Floats | None = None
    decimal: str = "."
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class File(TableSettings):
    """`path` is relative to the folder in which the command is typed."""

    path: str | None = plain(None, help="the file")
    test_path: str | None = plain(None, help="a second file of the same columns: the test rows for split=predefined")

    @abstractmethod
    def header(self, path: Path) -> tuple[str, ...]:
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
                names = self.header(Path(str(self.path)))
            except DataError:
                return  # the contents are the business of read()
            yield from self.header_problems(names)

    def load(self) -> Loaded:
        """The task and what is notable about it; ConfigurationError or DataError with all problems."""
        ConfigurationError.raise_if(self.problems())
        raw = self.raw(Path(str(self.path)))
        ConfigurationError.raise_if(self.header_problems([column.name for column in raw.columns]))
        held_out = None
        if self.test_path is not None:
            held_out = len(raw.columns[0])
            raw = _stacked(raw, self.raw(Path(self.test_path)), self.test_path)
        waiting, decimal, weights, findings = list(raw.columns), raw.decimal, raw.weights, raw.findings
        del raw  # each column is let go once it is a feature
        loaded = assemble(waiting, self, bare(str(self.path)).stem, decimal, weights)
        _given_back()
        loaded = replace(loaded, findings=(*findings, *loaded.findings))
        return loaded if held_out is None else _marked(loaded, held_out)

    def read(self) -> Task:
        return self.load().task

    def _missing_files(self) -> Iterator[Problem]:
        """Yield a problem where no file is named or there is none of that name."""
        if self.path is None:
            yield Problem("MSEL-301", "no file is named", "dataset.path", "set dataset.path=FILE")
        for setting in ("path", "test_path"):
            name = getattr(self, setting)
            if name is not None and not Path(name).is_file():
                yield Problem("MSEL-302", f"there is no file '{name}'", f"dataset.{setting}", _near_file(Path(name)))


def _near_file(path: Path) -> str:
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return nearest(path.name, beside).strip() or f"the path is read from {Path.cwd()}"


def _stacked(top: Raw, bottom: Raw, path: str) -> Raw:
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


def _marked(loaded: Loaded, first: int) -> Loaded:
    """The rows from the second file are held out."""
    return Loaded(replace(loaded.task, held_out=np.asarray(loaded.task.rows >= first)), loaded.findings)


def _given_back() -> None:
    """Give the memory that Arrow keeps after reading, twice the table and more, back to the system."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
