"""A data set by its name: one that modelsel makes or ships, else NAME.csv of a folder that you give, else OpenML's.

Beside NAME.csv may lie NAME.json, which says what is in it: {"target": COLUMN, "columns": [{"name": COLUMN, "type": "nominal"
or "numeric"}, ...]}. Without it the target is the column `class`, the kinds are inferred, and both are said.
OpenML is asked for the names of `OPENML` alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import one_of, plain
from modelsel.core.types import Loaded, Task
from modelsel.dataset.balloons import Balloons
from modelsel.dataset.base import BundledDataset, declarable
from modelsel.dataset.csv import Csv
from modelsel.dataset.declarations import nearest
from modelsel.dataset.led import Led
from modelsel.dataset.monks import Monks
from modelsel.dataset.openml import Openml
from modelsel.dataset.play_tennis import PlayTennis
from modelsel.dataset.sklearn_bundled import SklearnBundled
from modelsel.dataset.tic_tac_toe import TicTacToe
from modelsel.dataset.waveform import Waveform

MADE: dict[str, BundledDataset] = {
    **{name: SklearnBundled(which=name) for name in ("iris", "wine", "breast_cancer", "digits")},
    **{f"monks_{problem}": Monks(problem=problem) for problem in (1, 2, 3)},
    "monks_3_noisy": Monks(problem=3, noise=0.05),
    "tic_tac_toe": TicTacToe(),
    "led": Led(),
    "led_irrelevant": Led(irrelevant=17),
    "waveform": Waveform(rows=1000),
    "play_tennis": PlayTennis(),
    "balloons": Balloons(),
}
OPENML: dict[str, tuple[str, int, int]] = {  # as OpenML calls it, version, rows
    "balance_scale": ("balance-scale", 1, 625),
    "breast_cancer_ljubljana": ("breast-cancer", 1, 286),
    "car": ("car", 1, 1728),
    "credit_a": ("credit-approval", 1, 690),
    "credit_g": ("credit-g", 1, 1000),
    "diabetes_pima": ("diabetes", 1, 768),
    "glass": ("glass", 1, 214),
    "heart_c": ("heart-c", 1, 303),
    "hepatitis": ("hepatitis", 1, 155),
    "hypothyroid": ("hypothyroid", 1, 3772),
    "kr_vs_kp": ("kr-vs-kp", 1, 3196),
    "mushroom": ("mushroom", 1, 8124),
    "vote": ("vote", 1, 435),
}
SECONDS = 5.0  # to wait for OpenML
CLASS = "class"
NOT_AT_HAND = "MSEL-308"  # the code of a data set that a sweep may pass over


@dataclass(frozen=True)
class Named:
    """A data set by its name. In a sweep, `absent=skip` passes over one that is not at hand, instead of ending with an error.

    >>> Named("monks_2").read().classes
    ('0', '1')
    """

    which: str | None = plain(None, help="its name: made here, or that of a CSV file without its ending")
    dir: str | None = plain(None, help="the folder with NAME.csv, and NAME.json where there is one")
    openml: bool = plain(True, help="ask OpenML for what the folder does not have; false: never")
    absent: str = one_of("refuse", "skip", help="a name that is not to be had: an error, or passed over in a sweep")

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the name or with the file that it stands for."""
        if self.which in MADE:
            return
        if self.which is None:
            yield Problem(
                "MSEL-301", "no data set is named", "dataset.which", f"name a file of the folder, or {self._list_made()}"
            )
            return
        if not self._path.is_file():
            if not self._is_openmls:
                yield self._missing()
            return
        try:
            yield from self._csv().problems()
        except DataError as error:
            yield from error.problems

    def load(self) -> Loaded:
        """Load the data set and give it the name that was asked for."""
        ConfigurationError.raise_if(self.problems())
        name = str(self.which)
        loaded = self._fetch() if self._is_openmls else (MADE.get(name) or self._csv()).load()
        return replace(loaded, task=replace(loaded.task, name=name))

    def read(self) -> Task:
        return self.load().task

    @property
    def _is_openmls(self) -> bool:
        return self.openml and self.which in OPENML and not self._path.is_file()

    def _fetch(self) -> Loaded:
        """OpenML's, or why it is not at hand."""
        name, version, rows = OPENML[str(self.which)]
        try:
            loaded = Openml(name=name, version=version, seconds=SECONDS).load()
        except (ConfigurationError, DataError) as error:
            raise ConfigurationError(self._missing(f"; OpenML: {error.problems[0].what}")) from error
        if len(loaded.task) != rows:
            other = f"; OpenML's {name} has {len(loaded.task)} rows, and the one meant here {rows}"
            raise ConfigurationError(self._missing(other))
        return loaded

    @property
    def _path(self) -> Path:
        return Path(self.dir or "") / f"{self.which}.csv"

    def _missing(self, beside: str = "") -> Problem:
        """Describe a file that is not there, and the names that come near."""
        if self.dir is None:
            what, fix = (
                f"'{self.which}' is not made here and no folder is named",
                f"set dataset.dir=FOLDER with {self.which}.csv",
            )
        else:
            what, fix = f"'{self.dir}' holds no {self.which}.csv", f"{self._near()}made here: {self._list_made()}"
        return Problem(NOT_AT_HAND if self.absent == "skip" else "MSEL-302", what + beside, "dataset.which", fix)

    def _list_made(self) -> str:
        return ", ".join(sorted(MADE))

    def _near(self) -> str:
        beside = [path.stem for path in Path(self.dir or "").glob("*.csv")]
        return nearest(str(self.which), [*beside, *MADE])

    def _csv(self) -> Csv:
        """The file with its target and kinds; DataError for a description that cannot be read."""
        said = self._description()
        kinds = {column["name"]: column["type"] for column in said.get("columns", ()) if column.get("type") in declarable()}
        source = Csv(path=str(self._path), target=said.get("target"))
        names = source.names(self._path)
        target = source.target or next((name for name in names if name.casefold() == CLASS), None)
        return Csv(path=source.path, target=target, features={name: kind for name, kind in kinds.items() if name != target})

    def _description(self) -> dict[str, Any]:
        """Read the JSON file beside the table; empty where there is none."""
        path = self._path.with_suffix(".json")
        if not path.is_file():
            return {}
        try:
            return dict(json.loads(path.read_text("utf-8")))
        except ValueError as error:
            raise DataError(
                Problem("MSEL-317", f"no JSON ({error})", str(path), "mend the description, or remove it")
            ) from error
