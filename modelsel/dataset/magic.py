"""MAGIC gamma telescope: 19,020 showers, 12,332 gamma and 6,688 hadron, ten numeric features; from a folder that you give.

Download it from the UCI repository (magic04.data); it is not shipped. Source: Bock et al. (2004).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Task
from modelsel.dataset._assemble import Loaded, assemble
from modelsel.dataset._column import text_column
from modelsel.dataset._file import decoded, read_bytes
from modelsel.dataset._settings import Settings

COLUMNS = ("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist", "class")
FILES = ("magic04.data", "magic04.csv")
ROWS = 19_020


@dataclass(frozen=True)
class Magic:
    """`dir` is the folder that holds magic04.data (UCI's form, without a header) or magic04.csv."""

    dir: str | None = plain(None, help="the folder with magic04.data")

    def problems(self) -> Iterator[Problem]:
        if self.dir is None:
            yield Problem(
                "MSEL-301", "no folder is named", "dataset.dir", "set dataset.dir=FOLDER with UCI's magic04.data in it"
            )
        elif self._file() is None:
            fix = "download magic04.data from the UCI repository into it"
            yield Problem("MSEL-302", f"'{self.dir}' holds neither {' nor '.join(FILES)}", "dataset.dir", fix)

    def load(self) -> Loaded:
        ConfigurationError.raise_if(self.problems())
        path = self._file()
        assert path is not None
        lines = [line.split(",") for line in decoded(read_bytes(path), "utf-8", path).split()]
        rows = lines[1:] if lines[0] == list(COLUMNS) else lines
        if len(rows) != ROWS or any(len(row) != len(COLUMNS) for row in rows):
            what = f"{len(rows)} rows, where MAGIC has {ROWS} of {len(COLUMNS)} fields"
            raise DataError(Problem("MSEL-315", what, str(path), "download the file again"))
        columns = [text_column(name, cells) for name, cells in zip(COLUMNS, zip(*rows))]
        return assemble(columns, Settings(target="class"), "magic")

    def read(self) -> Task:
        return self.load().task

    def _file(self) -> Path | None:
        return next((path for name in FILES if (path := Path(str(self.dir)) / name).is_file()), None)
