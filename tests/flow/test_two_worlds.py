"""Two worlds that differ in the numbers of sealed rows alone say the same before a look: in every file, and on the screen.

Each world is lived through twice. What both lives of a world say is the world's; the rest (times, random names) is noise.
"""

import re
import shutil
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from modelsel.cli.dispatch import main
from modelsel.core.spec import make
from modelsel.dataset.read_table import read_table
from modelsel.ledger.home import Home
from modelsel.record.folder import RunFolder
from modelsel.runner.journal import RecordHeader, read, scan

ROWS = 120
WORDS = ("homes.csv", "price", "space=[cart,linear_regression]", "scheme.folds=3", "name=homes",
         "pool=sequential", "final_test=false", "guard.beside=true", "explanations.importance=true", "explanations.repeats=1",
         "explanations.dependence=true", "curve=true", "slices=[rooms]", "show=[overfitting]")  # fmt: skip
WORD = re.compile(r"[^\s\"'`,;<>(){}\[\]=|]+")
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[.\d+:Z]*|\d{8}-\d{6}-[0-9a-f]{8}"  # dates, names of runs,
    r"|\b1\d{9}(?:\d{3}|\.\d+)?\b"  # seconds or milliseconds since 1970,
    r"|\"[^\"]*(?:seconds|times)\": (?:\{[^}]*\}|[\d.e-]+)|\b[\d.]+ (?:µs|ms|s|min|seconds)\b"  # how long something took,
    r"|<svg[^>]*against time.*?</svg>"  # and pictures of that
)
Said = Counter[str]


def homes(sealed: np.ndarray, world: int) -> str:
    """Rows whose price follows area and rooms; those of sealed rows are another world's, some of them out of all proportion."""
    rng, own = np.random.default_rng(0), np.random.default_rng(world)
    area, rooms = rng.uniform(40, 200, ROWS).round(1), rng.integers(1, 7, ROWS)
    price = (2.5 * area + 20 * rooms + 30 * rng.normal(size=ROWS)).round(1)
    price[sealed] = (price[sealed] * 10.0 ** own.integers(-3, 4, len(sealed))).round(world)
    return "\n".join(["area,rooms,price", *map("{},{},{}".format, area.tolist(), rooms.tolist(), price.tolist())])


def texts(path: Path) -> Iterator[str]:
    """What a file says: archives, databases and journals by what is in them."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (f"{name}:{archive.read(name).hex()}" for name in archive.namelist())
    elif path.suffix == ".segment":
        for found in (read(one.place) for one in scan(path) if isinstance(one, RecordHeader)):
            assert found is not None
            yield from (str(found.facts), *(f"{name}:{array.tobytes().hex()}" for name, array in found.arrays.items()))
    elif path.read_bytes()[:6] == b"SQLite":
        with closing(sqlite3.connect(path)) as base:
            yield from base.iterdump()
    else:
        raw = path.read_bytes()
        yield raw.decode() if raw.isascii() or path.suffix in (".html", ".json", ".csv", ".log") else raw.hex()


COMMANDS = ("plan", "run", "audit", "audit --json --html audit.html")


class Worlds:
    """Worlds to live through, each life in a folder of its own, with the same keys."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.place, self.monkeypatch, self.capfd, self.lives = place, monkeypatch, capfd, 0
        Home(place / "keys").key()

    def live(
        self, world: int, sealed: np.ndarray, commands: tuple[str, ...] = COMMANDS, tracking: str = "tracking=off"
    ) -> dict[str, Said]:
        """What each file of a life, and its output, say: words with their counts; times and the place itself left out."""
        self.lives += 1
        root = self.place / str(self.lives)
        (root / "work").mkdir(parents=True)
        shutil.copytree(self.place / "keys", root / "home")
        self.monkeypatch.setenv("MODELSEL_HOME", str(root / "home"))
        self.monkeypatch.chdir(root / "work")
        Path("homes.csv").write_text(homes(sealed, world))
        self.capfd.readouterr()
        for command in commands:
            words = {"plan": WORDS, "run": (*WORDS, *tracking.split())}.get(command, ())
            assert main([*command.split(), *words]) == 0
        Path("homes.csv").unlink()
        found = {"output": spoken("".join(self.capfd.readouterr()), root)}
        for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))):
            name = MOMENT.sub("", re.sub(r"[0-9a-f]{32}|[^/]+(?=\.segment)", "", str(path.relative_to(root))))
            found[name] = found.get(name, Counter()) + spoken("\n".join(texts(path)), root)
        return found

    def sealed(self) -> np.ndarray:
        """The rows that the last life sealed."""
        with np.load(RunFolder.open("latest").path / "losses.npz") as losses:
            return np.setdiff1d(np.arange(ROWS), losses["row"])


def spoken(text: str, root: Path) -> Said:
    return Counter(WORD.findall(MOMENT.sub("", text.replace(str(root), ""))))


@pytest.fixture
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Worlds:
    return Worlds(tmp_path, monkeypatch, capfd)


def test_a_plan_says_the_same_in_both(worlds: Worlds) -> None:
    whole = worlds.place / "homes.csv"
    whole.write_text(homes(np.arange(0), 1))
    sealed = make("split", "random").partition(read_table(whole, target="price")).test
    one, other = (worlds.live(world, sealed, ("plan",)) for world in (1, 2))
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("tracking", ["tracking=off", "tracking=sqlite tracking.wait=120"])
def test_numbers_of_sealed_rows_change_no_word_before_a_look(worlds: Worlds, tracking: str) -> None:
    worlds.live(1, np.arange(0), ("run",))
    sealed = worlds.sealed()
    (one, again), (other, later) = ([worlds.live(world, sealed, tracking=tracking) for _ in range(2)] for world in (1, 2))
    first, second = ({name: a[name] & b[name] for name in a} for a, b in ((one, again), (other, later)))
    assert first.keys() == second.keys()
    assert {
        name: (first[name] - second[name], second[name] - first[name]) for name in first if first[name] != second[name]
    } == {}


@pytest.mark.slow
def test_numbers_of_development_rows_change_much(worlds: Worlds) -> None:
    """The comparison sees what there is to be seen."""
    worlds.live(1, np.arange(0), ("run",))
    development = np.setdiff1d(np.arange(ROWS), worlds.sealed())[:1]
    one, other = (worlds.live(world, development) for world in (1, 2))
    differ = {name.rpartition("/")[2] for name in one if one[name] != other.get(name)}
    assert differ >= {"output", "study.json", "report.html", "losses.npz", ".segment", "candidates.csv", "audit.html"}
