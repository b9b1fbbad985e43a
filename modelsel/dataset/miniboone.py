"""MiniBooNE particle identification: 130,064 events, 36,499 of them signal, 50 numeric features; from a folder that you give.

The 468 events whose features are all −999 (no reconstruction) are left out. Download it from the UCI repository
(MiniBooNE_PID.txt); it is not shipped. Source: Roe et al. (2005).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Finding, Task
from modelsel.dataset._assemble import Loaded
from modelsel.dataset._file import decoded, read_bytes
from modelsel.dataset._given import numeric_task

FILE = "MiniBooNE_PID.txt"
FEATURES = 50
UNKNOWN = -999.0


@dataclass(frozen=True)
class Miniboone:
    """`dir` is the folder that holds MiniBooNE_PID.txt: the two counts, then an event per line, signal first."""

    dir: str | None = plain(None, help="the folder with MiniBooNE_PID.txt")

    def problems(self) -> Iterator[Problem]:
        if self.dir is None:
            yield Problem("MSEL-301", "no folder is named", "dataset.dir", f"set dataset.dir=FOLDER with UCI's {FILE} in it")
        elif not (Path(self.dir) / FILE).is_file():
            fix = "download it from the UCI repository into that folder"
            yield Problem("MSEL-302", f"'{self.dir}' holds no {FILE}", "dataset.dir", fix)

    def load(self) -> Loaded:
        ConfigurationError.raise_if(self.problems())
        path = Path(str(self.dir)) / FILE
        head, _, body = decoded(read_bytes(path), "utf-8", path).partition("\n")
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
        return Loaded(task, said)

    def read(self) -> Task:
        return self.load().task
