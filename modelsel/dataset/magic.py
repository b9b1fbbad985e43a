"""MAGIC gamma telescope: 19,020 showers, 12,332 gamma and 6,688 hadron, ten numeric features; from a folder that you give.

Download it from the UCI repository (magic04.data); it is not shipped. Source: Bock et al. (2004).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Integers, Loaded, Task
from modelsel.dataset.assemble import assemble
from modelsel.dataset.base import TableSettings, columns, scale_rows
from modelsel.dataset.column import text_column
from modelsel.dataset.files import decode_text, read_bytes

COLUMNS = ("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist", "class")
FILES = ("magic04.data", "magic04.csv")
ROWS = 19_020
LEARNT = 12_680  # rows of a training set; the other 6,340 are its test rows (Dvořák)
WHERE = "https://archive.ics.uci.edu/dataset/159/magic+gamma+telescope"


@dataclass(frozen=True)
class Magic:
    """`dir` is the folder that holds magic04.data (UCI's form, without a header) or magic04.csv."""

    dir: str | None = plain(None, help="the folder with magic04.data")
    sets: int = whole(0, least=0, help="random splits in 12,680 and 6,340 rows, repeats of scheme=predefined; 0: none")
    scale: float = number(1.0, above=0.0, most=1.0, help="share of either side of these splits that is used")

    def problems(self) -> Iterator[Problem]:
        """Yield a problem where the folder or the file is missing."""
        if self.dir is None:
            yield Problem(
                "MSEL-301", "no folder is named", "dataset.dir", f"set dataset.dir=FOLDER with magic04.data in it ({WHERE})"
            )
        elif self._file() is None:
            fix = f"download magic04.data from {WHERE} into it"
            yield Problem("MSEL-302", f"'{self.dir}' holds neither {' nor '.join(FILES)}", "dataset.dir", fix)

    def load(self) -> Loaded:
        """Read the file, check its size, and give it UCI's columns."""
        ConfigurationError.raise_if(self.problems())
        path = self._file()
        assert path is not None
        lines = [line.split(",") for line in decode_text(read_bytes(path), "utf-8", path).split()]
        rows = lines[1:] if lines[0] == list(COLUMNS) else lines
        if len(rows) != ROWS or any(len(row) != len(COLUMNS) for row in rows):
            what = f"{len(rows)} rows, where MAGIC has {ROWS} of {len(COLUMNS)} fields"
            raise DataError(Problem("MSEL-315", what, str(path), "download the file again"))
        texts = [text_column(name, cells) for name, cells in zip(COLUMNS, zip(*rows))]
        loaded = assemble(texts, TableSettings(target="class"), "magic")
        return replace(loaded, task=replace(loaded.task, folds=self._folds())) if self.sets else loaded

    def read(self) -> Task:
        return self.load().task

    def _folds(self) -> Integers:
        """Each training set is a random split of its own; the same for every study."""
        learnt, assessed = scale_rows(LEARNT, self.scale), scale_rows(ROWS - LEARNT, self.scale)
        drawn = (generator(k, "magic training set").permutation(ROWS) for k in range(self.sets))
        return columns(ROWS, ((rows[:learnt], rows[-assessed:]) for rows in drawn))

    def _file(self) -> Path | None:
        return next((path for name in FILES if (path := Path(str(self.dir)) / name).is_file()), None)
