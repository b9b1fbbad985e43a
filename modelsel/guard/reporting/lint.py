"""`modelsel.lock` held against the ledger and against git: findings, each at the line of the file that it is about.

A runner of continuous integration has no ledger, but git: what a change does to the file is told without a memory.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import make
from modelsel.core.types import Finding
from modelsel.guard.access.integrity import unknown_looks
from modelsel.guard.findings import ledger_findings, look_findings
from modelsel.guard.gate import Gate
from modelsel.guard.history import History
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.anchors import NAME, AnchoredLook, LockFile
from modelsel.ledger.database.schema import sqlite_file
from modelsel.ledger.home import without_password

RUNS = "runs"
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})")


@dataclass(frozen=True)
class PlacedFinding:
    """A finding at a line of a lock file.

    Parameters
    ----------
    finding : Finding
        Code, severity, message and advice.
    path : str
        The lock file, as it was named.
    line : int
        From 1.
    testset : str
        The test set that it is about; empty for the file or the ledger as a whole.

    Examples
    --------
    >>> PlacedFinding(Finding("G083", "high", "a look is missing", "commit it"), "modelsel.lock", 3, "5f2c").place
    'modelsel.lock:3'
    """

    finding: Finding
    path: str
    line: int
    testset: str = ""

    @property
    def place(self) -> str:
        """File and line, as editors and compilers write them."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class LintReport:
    """The findings of `modelsel.lint`.

    Parameters
    ----------
    files : tuple of str
        The lock files that were read.
    found : tuple of PlacedFinding
        The findings, by file and line.
    intact : bool
        Whether the ledger is whole, where there is one.

    Examples
    --------
    >>> LintReport(("modelsel.lock",), (), True).found
    ()
    """

    files: tuple[str, ...]
    found: tuple[PlacedFinding, ...]
    intact: bool = True


@dataclass(frozen=True)
class LockText:
    """A lock file as text, in which facts have lines."""

    path: Path
    text: str

    @cached_property
    def _lines(self) -> dict[str, int]:
        """Lines of test sets and studies, and of a set's count of looks (`SET look`)."""
        found: dict[str, int] = {}
        inside = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            opened, counted = re.match(r'\s*"(.+?)": \{', line), re.match(r'\s*"look": ', line)
            if opened:
                inside = opened[1]
                found.setdefault(inside, number)
            elif counted:
                found.setdefault(f"{inside} look", number)
        return found

    def line(self, name: str, look: bool = False) -> int:
        """The line of a test set or a study, or of a set's look count; the first where it has none."""
        return self._lines.get(f"{name} look" if look else name, self._lines.get(name, 1))

    @property
    def trouble(self) -> int:
        """The line at which the text is no lock file: a mark of a merge conflict, or where JSON ends to be JSON."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if CONFLICT.match(line):
                return number
        try:
            json.loads(self.text)
        except json.JSONDecodeError as error:
            return error.lineno
        return 1


def lint(path: Path, ledger: str = "user", against: str | None = None) -> LintReport:
    """Hold one lock file against a ledger and, with `against`, against a revision of git."""
    named = path.as_posix()
    lock, file = LockText(path, path.read_text("utf-8", "replace")), LockFile(path.absolute().parent)
    try:
        known = file.known()
    except OSError as error:
        return LintReport((named,), (PlacedFinding(ledger_findings.lock_unreadable(str(error)), named, lock.trouble),))
    placed = [*_of_file(known), *(_since(path, known.get("testsets", {}), against) if against else ())]
    of_ledger, intact = _of_ledger(file, known.get("testsets", {}), ledger)
    found = [
        PlacedFinding(finding, named, lock.line(name, look=finding.code in AT_COUNT), name)
        for name, finding in dict.fromkeys((*placed, *of_ledger))
    ]
    return LintReport((named,), tuple(sorted(found, key=lambda one: (one.line, one.finding.code))), intact)


AT_COUNT = ("G012", "G083", "G084", "G085")  # codes that are about how many looks there are
Named = tuple[str, Finding]  # the test set or study


def _of_file(known: Mapping[str, Any]) -> Iterator[Named]:
    """Yield what the file itself says: studies of which nothing is kept."""
    for study in known.get("not_remembered", {}):
        yield study, look_findings.not_remembered_in_audit()


def _since(path: Path, now: Mapping[str, Mapping[str, str]], revision: str) -> Iterator[Named]:
    """Yield what was changed since a revision of git."""
    before = _looks(_at(path, revision))
    after = _looks(now)
    for testset in dict.fromkeys((*before, *after)):
        was, now_is = before.get(testset, -1), after.get(testset, -1)
        if now_is < was:
            yield testset, ledger_findings.looks_taken_away(testset, was, now_is, revision)
        elif was < 0:
            yield testset, ledger_findings.first_looks(testset, now_is, revision)
        elif now_is > was:
            yield testset, ledger_findings.more_looks(testset, was, now_is, revision)


def _looks(sets: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    return {testset: int(facts["look"]) for testset, facts in sets.items()}


def _at(path: Path, revision: str) -> Mapping[str, Mapping[str, str]]:
    """The test sets of a lock file as a revision has it; none where it has no such file."""
    git = shutil.which("git")
    if git is None:
        raise ConfigurationError(Problem("MSEL-411", "git is not installed", "--against", "leave --against out"))
    words = [git, "-C", str(path.absolute().parent)]
    known = subprocess.run([*words, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], capture_output=True)  # noqa: S603
    if known.returncode:
        fix = "fetch it (in GitHub's checkout: fetch-depth: 0), or name another revision"
        raise ConfigurationError(Problem("MSEL-411", f"git knows no revision {revision!r} here", "--against", fix))
    shown = subprocess.run([*words, "show", f"{revision}:./{path.name}"], capture_output=True)  # noqa: S603
    if shown.returncode:
        return {}
    try:
        before = LockFile.parse(shown.stdout.decode("utf-8", "replace"), f"{path} at {revision}")
    except OSError:
        return {}  # what nobody could read says of no look
    sets: Mapping[str, Mapping[str, str]] = before.get("testsets", {})
    return sets


def _of_ledger(file: LockFile, sets: Mapping[str, Mapping[str, str]], ledger: str) -> tuple[list[Named], bool]:
    """What the ledger says of the file's test sets, and of those that its folder's studies looked at; whether it is whole."""
    gate = Gate(make("guard", "warn", ledger=ledger), file.folder / RUNS)
    if not _is_there(gate):
        return [("", ledger_findings.no_memory(len(sets), gate.place))] if sets else [], True
    report = audit(gate, known=tuple(sets))
    history = History.of(gate.session.ledger.entries())
    found = [*_differences(gate, history, sets)]
    told = {one.id: one for one in report.test_sets}
    mine = [testset for testset in told if testset in sets]
    for testset in mine:
        found += [(testset, Finding.read(facts)) for look in told[testset].looks for facts in look.findings]
    if not report.ledger.intact:
        found += [("", flag) for flag in report.findings if flag.severity == "critical"]
    return [one for one in found if one[1].severity != "info"], report.ledger.intact is not False


def _is_there(gate: Gate) -> bool:
    """Say whether there is a ledger: looking makes none."""
    place = sqlite_file(gate.session.url)
    return place is None or place.is_file()


def findings_now(folder: Path, ledger: str = "user") -> list[Finding]:
    """All findings of a ledger's audit, and of a folder's lock file where it has one; none where there is no ledger."""
    gate = Gate(make("guard", "warn", ledger=ledger), folder / RUNS)
    told = audit(gate).findings if _is_there(gate) else []
    file = folder / NAME
    return list(dict.fromkeys([*told, *((one.finding for one in lint(file, ledger).found) if file.is_file() else ())]))


def _differences(gate: Gate, history: History, sets: Mapping[str, Mapping[str, str]]) -> Iterator[Named]:
    """Yield where ledger and file differ."""
    ledger, entries = gate.session.ledger, gate.session.ledger.entries()
    elsewhere = gate.session.elsewhere()
    for testset, facts in sets.items():
        looks, stated = history.looks_at([testset]), {"testset": testset, **facts}
        locked = AnchoredLook.read(stated)
        if not looks and testset not in history.seals and _of_others(gate, locked):
            yield testset, ledger_findings.other_ledger(testset)
            continue
        for finding in unknown_looks(ledger, entries, [("lockfile", stated)], elsewhere):
            yield testset, finding
        if len(looks) > (counted := int(locked.look)):
            late = looks[counted:]
            studies = tuple(dict.fromkeys(str(look.facts.study) for look in late))
            yield testset, ledger_findings.lock_behind(testset, counted, len(looks), studies)
    for testset in dict.fromkeys(look.testset for look in history.looks):
        ours = [look for look in history.looks_at([testset]) if _from(look.facts.folder, file_folder(gate))]
        if ours and testset not in sets:
            studies = tuple(dict.fromkeys(str(look.facts.study) for look in ours))
            yield testset, ledger_findings.lock_behind(testset, -1, len(history.looks_at([testset])), studies)


def _of_others(gate: Gate, look: AnchoredLook) -> bool:
    """Say whether a look was made in a ledger that need not be this one: under another key, or elsewhere by this home."""
    session = gate.session
    if look.ledger == session.ledger.id:
        return False
    elsewhere = {id_ for url, id_ in session.home.state().get("places", {}).items() if url != without_password(session.url)}
    return look.key != session.key.id or look.ledger in elsewhere


def file_folder(gate: Gate) -> Path:
    """The folder of the lock file that a gate's looks are witnessed in."""
    return next(anchor.folder for anchor in gate.session.anchors if isinstance(anchor, LockFile))


def _from(folder: str | None, root: Path) -> bool:
    """Say whether a look was made by a run that lies below a folder."""
    run = root / str(folder)
    return bool(folder) and run.is_relative_to(root) and run.is_dir()


def lock_files(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The lock files that paths name: files, or folders that hold one; ConfigurationError where there is none."""
    found = tuple(path / NAME if path.is_dir() else path for path in paths)
    missing = [path for path in found if not path.is_file()]
    fix = "make a look (it is written after it, in git work trees), or name the file"
    ConfigurationError.raise_if(Problem("MSEL-410", "there is no lock file", str(path), fix) for path in missing)
    return found
