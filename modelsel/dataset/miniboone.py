"""MiniBooNE particle identification: 130,064 events, 36,499 of them signal, 50 numeric features; from a folder that you give.

The 468 events whose features are all −999 (no reconstruction) are left out. Download it from the UCI repository
(MiniBooNE_PID.txt); it is not shipped. Source: Roe et al. (2005).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Finding, Integers, Loaded, Task
from modelsel.dataset.base import columns, numeric_task, scale_rows
from modelsel.dataset.files import decode_text, read_bytes

FILE = "MiniBooNE_PID.txt"
FEATURES = 50
UNKNOWN = -999.0
LEARNT, USABLE = 12_000, 129_596  # rows of a training set, of all; ten sets leave 9,596 test rows (Dvořák)
WHERE = "https://archive.ics.uci.edu/dataset/199/miniboone+particle+identification"


@dataclass(frozen=True)
class Miniboone:
    """`dir` is the folder that holds MiniBooNE_PID.txt: the two counts, then an event per line, signal first."""

    dir: str | None = plain(None, help="the folder with MiniBooNE_PID.txt")
    sets: int = whole(0, least=0, most=10, help="disjoint training sets of 12,000 rows, the other rows assessed; 0: none")
    scale: float = number(1.0, above=0.0, most=1.0, help="share of each training set and of the test rows that is used")

    def problems(self) -> Iterator[Problem]:
        """Yield a problem where the folder or the file is missing."""
        if self.dir is None:
            fix = f"set dataset.dir=FOLDER with {FILE} in it ({WHERE})"
            yield Problem("MSEL-301", "no folder is named", "dataset.dir", fix)
        elif not (Path(self.dir) / FILE).is_file():
            fix = f"download it from {WHERE} into that folder"
            yield Problem("MSEL-302", f"'{self.dir}' holds no {FILE}", "dataset.dir", fix)

    def load(self) -> Loaded:
        """Read the file; events without reconstruction are left out, and counted in a finding."""
        ConfigurationError.raise_if(self.problems())
        path = Path(str(self.dir)) / FILE
        head, _, body = decode_text(read_bytes(path), "utf-8", path).partition("\n")
        try:
            signal, background = (int(word) for word in head.split())
            values = np.array(body.split(), np.float64).reshape(signal + background, FEATURES)
        except ValueError as error:
            what = f"not two counts and that many events of {FEATURES} numbers ({error})"
            raise DataError(Problem("MSEL-315", what, str(path), "download the file again")) from error
        target = np.repeat([1, 0], [signal, background])
        known = np.flatnonzero(~(values == UNKNOWN).all(axis=1))
        names = [f"PID_{i}" for i in range(1, FEATURES + 1)]
        task = numeric_task("miniboone", names, values, ("background", "signal"), target).take(known)
        gone = len(values) - len(known)
        said = (Finding("ROWS_LEFT_OUT", "info", f"{gone} events without reconstruction (-999) were left out"),) if gone else ()
        return Loaded(replace(task, folds=self._folds(len(known))) if self.sets else task, said)

    def _folds(self, rows: int) -> Integers:
        """Draw training sets without common rows, the same for every study; rows in none of them are assessed."""
        drawn = generator(0, "miniboone training sets").permutation(rows)
        size = rows * LEARNT // USABLE
        sets, rest = np.split(drawn, [size * self.sets])
        learnt, assessed = scale_rows(size, self.scale), scale_rows(len(rest), self.scale)
        return columns(rows, ((one[:learnt], rest[:assessed]) for one in np.split(sets, self.sets)))

    def read(self) -> Task:
        return self.load().task
