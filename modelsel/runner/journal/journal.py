"""The journal: finished cells of a run, as append-only segments in one folder, and what older runs' journals hold already.

Before the first cell the wanted keys are looked up in older journals, newest first; what is found is verified and copied, so
that every run folder is complete by itself. Nothing in it is trusted before its checksum agrees.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from modelsel.runner.evaluation.cell_key import CellKey
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.journal.codec import Arrays, CorruptRecord, JournalRecord, RecordHeader, RecordLocation, raw, read, scan
from modelsel.runner.journal.segment import SUFFIX, Segment

ANSWERS, FAMILY, STARTED, REACHED = "answers", "family", "started", "reached"
KEPT = (ANSWERS, FAMILY)  # records that have a key; the others are marks
NEW = "not computed before"


class Journal:
    """Journal of one run. `older` are folders of other journals, in the order in which they are asked."""

    def __init__(self, folder: Path, older: Sequence[Path] = ()) -> None:
        """Index the run's own segments; older journals are read when they are first asked."""
        folder = folder.absolute()  # worker processes outlive a run and may stand in another folder
        self.folder = folder
        self.damage: list[CorruptRecord] = []
        self.own = Segment(folder)
        self._older = [journal for journal in older if journal.resolve() != folder.resolve()]
        self._places: dict[str, list[RecordLocation]] = {}
        self._elsewhere: dict[tuple[str, str, str], list[RecordHeader]] = {}
        self._read: set[Path] = set()
        for path in _segments(folder):
            self.damage += self._index(path)
        self._loaded = False

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self.own.close()

    def own_places(self, key: CellKey) -> list[RecordLocation]:
        """List the locations of a cell's records in this journal, oldest first."""
        return self._places.get(key.text, [])

    def older_places(self, key: CellKey) -> list[RecordLocation]:
        """List the locations of a cell's records in older journals, in the order in which the journals are asked."""
        return [entry.place for entry in self._old(key) if entry.facts.get("key") == key.text]

    def known(self, key: CellKey) -> Iterator[tuple[RecordLocation, bool]]:
        """Yield locations of a cell's records: in this journal (True), newest first, then in older ones."""
        yield from ((place, True) for place in reversed(self.own_places(key).copy()))
        yield from ((place, False) for place in self.older_places(key))

    def load(self, place: RecordLocation) -> CellResult | None:
        """The result at a place, or None (and a note) when it is damaged."""
        record = self.record(place)
        if record is not None:
            with suppress(KeyError, ValueError, TypeError):
                return CellResult.decode(record.facts, record.arrays)
            self.damage.append(CorruptRecord(place.path, place.offset, torn=False))
        return None

    def record(self, place: RecordLocation) -> JournalRecord | None:
        """Read the record at a location; None (and a note) when it is damaged."""
        record = read(place)
        if record is None:
            self.damage.append(CorruptRecord(place.path, place.offset, torn=False))
        return record

    def refresh(self) -> None:
        """Index the records that workers have written and not reported."""
        known = {place for places in self._places.values() for place in places}
        for path in _segments(self.folder):
            for found in scan(path):
                if isinstance(found, RecordHeader) and _has_key(found.facts) and found.place not in known:
                    self._places.setdefault(found.facts["key"], []).append(found.place)

    def note(self, key: CellKey, place: RecordLocation) -> None:
        """Remember where a record of this run lies that a worker has appended."""
        self._places.setdefault(key.text, []).append(place)

    def adopt(self, key: CellKey, place: RecordLocation) -> RecordLocation | None:
        """Copy a record of an older journal, byte for byte; None when it is damaged."""
        record = raw(place)
        if record is None:
            return None
        mine = self.own.append_bytes(record)
        self.note(key, mine)
        return mine

    def why(self, key: CellKey) -> str:
        """Say why a cell that was looked for has to be computed."""
        if any(_inside(damage, self._places.get(key.text, ())) for damage in self.damage):
            return "its record is damaged"
        differences = [key.difference(entry.facts.get("cell", {})) for entry in self._old(key)]
        if differences:
            return next((why for why in differences if why), "its record is damaged")
        return NEW

    def _old(self, key: CellKey) -> list[RecordHeader]:
        """Records of the same rows, fold and growing in older journals (read when first asked for)."""
        if not self._loaded:
            self._loaded = True
            for path in (path for journal in self._older for path in _segments(journal)):
                with suppress(OSError):
                    self._remember(path)
        return self._elsewhere.get(key.place, [])

    def _remember(self, path: Path) -> None:
        """Index the records of an older journal by rows, fold and growing settings."""
        for found in scan(path):
            if isinstance(found, RecordHeader) and _has_key(found.facts):
                cell = found.facts["cell"]
                self._elsewhere.setdefault((cell["rows"], cell["fold"], cell["growing"]), []).append(found)

    def _index(self, path: Path) -> list[CorruptRecord]:
        """Index the records of an own segment; return the corrupt ones."""
        damage = []
        for found in scan(path):
            if isinstance(found, CorruptRecord):
                damage.append(found)
            elif _has_key(found.facts):
                self._places.setdefault(found.facts["key"], []).append(found.place)
        return damage


def _has_key(facts: Mapping[str, Any]) -> bool:
    """Say whether a record can be looked up; its description is read before its checksum, and may hold anything."""
    cell = facts.get("cell")
    return (
        facts.get("kind") in KEPT and isinstance(facts.get("key"), str)
        and isinstance(cell, Mapping) and all(isinstance(cell.get(name), str) for name in ("rows", "fold", "growing"))
    )  # fmt: skip


def record_of(key: CellKey, result: CellResult) -> tuple[dict[str, Any], Arrays]:
    """The description and the arrays of a cell's record."""
    facts, arrays = result.encode()
    return {"kind": ANSWERS, "key": key.text, "cell": key.facts, **facts}, arrays


def begun(folder: Path) -> dict[str, float]:
    """The marks that worker processes left when they began a job: its name, and when."""
    marks = {}
    for path in _segments(folder):
        for found in scan(path):
            if isinstance(found, RecordHeader) and found.facts.get("kind") == STARTED:
                with suppress(KeyError, TypeError, ValueError):
                    marks[str(found.facts["job"])] = float(found.facts["at"])
    return marks


def reached(folder: Path, job: str) -> int | None:
    """The candidate that was reached last when a job's candidates answered one by one; None where no mark says so."""
    last = None
    for path in _segments(folder):
        for found in scan(path):
            if isinstance(found, RecordHeader) and found.facts.get("kind") == REACHED and found.facts.get("job") == job:
                with suppress(KeyError, TypeError, ValueError):
                    last = int(found.facts["member"])
    return last


def older_journals(runs: Path, first: Sequence[Path] = ()) -> list[Path]:
    """Journals of `runs/*/*/`, newest first, after those named `first`."""
    found = sorted(runs.glob("*/*/journal"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    return [*first, *(path for path in found if path not in first)]


def _segments(folder: Path) -> list[Path]:
    """Segments in the order in which they were begun."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: (path.stat().st_mtime_ns, path.name))


def _inside(damage: CorruptRecord, places: Iterable[RecordLocation]) -> bool:
    return any(place.path == damage.path and place.offset <= damage.offset < place.offset + place.length for place in places)
