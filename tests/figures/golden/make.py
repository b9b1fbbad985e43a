"""What modelsel 1.0 wrote, and what it read from that: `python -m tests.figures.golden.make` writes `record.zip` anew.

It holds homes (ledgers, one of them merged), a run, exams and certificates, and in `told.json` what audits, reports, boards
and the verifier said of them. Rows are drawn by rule, and clock, names and chance are fixed, so that
what is written a second time can be compared with it entry by entry.
"""

import hashlib
import itertools
import json
import platform
import re
import secrets
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from math import isclose
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import modelsel
from exam_tests.conftest import table
from exam_tests.test_exam import TERMS, answer_of
from modelsel.certificates import verifier
from modelsel.certificates.certify import certify
from modelsel.config.settings import under_new_names
from modelsel.core.spec import make
from modelsel.guard import entries
from modelsel.guard.facts import Note
from modelsel.guard.gate import Gate
from modelsel.guard.policy.base import Justify
from modelsel.guard.release import READ_AS
from modelsel.guard.reporting.audit import StandingLook, audit, looks
from modelsel.guard.reporting.page import markdown, reforms
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.home import Home
from modelsel_exam import board as boards
from modelsel_exam import store
from modelsel_exam.exams import make_exam
from modelsel_exam.options import Wanted
from modelsel_exam.sit import ExamSession, HandedAnswer
from tests.figures.golden.kept import at
from tests.guard.studies import Rule, Study, numbers

HERE = Path(__file__).parent
RECORD, TOLD = HERE / "record.zip", "told.json"
LEFT_OUT = {"index", "judged", "report.html", "model", "journal"}  # what is made again, or has no facts of the guard
PLACE = re.compile(r"(?<=runs/golden/)[0-9a-f-]+|(?<=sqlite:///)\S+(?=/third/)")
DAY = re.compile(r"(?<=remembers since )[0-9-]{10}")  # a home's first day is that of its files
HOW = "|".join(map(re.escape, READ_AS.values()))  # what a score is where it is not exact, which 1.0 did not say beside it
UNSAID = re.compile(rf" \((?:{HOW})\)|(?<=\()(?:{HOW}); ")
PASSING = ("at", "noise", "commitment", "heads", "head", "at_work", "since")
LATER = ("portrait", "terms")  # digests of portraits, which hold more since 1.0, and of an exam's terms, which name a key: how
# many were drawn before it changes. Those that were written are read as before, and terms that are no digest are compared.
RELEASES = ("full", "better", "passfail", "ladder", "thresholdout", "closed")


@contextmanager
def fixed(folder: Path) -> Iterator[None]:
    """A clock that counts, one name, secrets that follow from their number; chains are not named after the folder."""
    ticks, draws = itertools.count(), Counter[str]()

    def token(size: int | None = None) -> bytes:
        """The next of who asks: how often files are written decides nothing else."""
        frame = sys._getframe(1)
        asks = f"{(frame.f_back or frame).f_code.co_name} {frame.f_code.co_name}"
        draws[asks] += 1
        return hashlib.shake_256(f"{asks} {draws[asks]}".encode()).digest(size or 32)

    def now() -> str:
        tick = next(ticks)
        return f"2026-01-01T{tick // 3600:02}:{tick // 60 % 60:02}:{tick % 60:02}.000000+00:00"

    salted = Home._salt
    with (
        patch.object(entries, "now", now), patch.object(entries, "version_of", lambda _: "1.0.0"),
        patch.object(entries.getpass, "getuser", lambda: "ann"), patch.object(platform, "node", lambda: "desk"),
        patch.object(secrets, "token_bytes", token), patch.object(secrets, "token_hex", lambda size=None: token(size).hex()),
        patch.object(secrets, "randbits", lambda bits: int.from_bytes(token(8)) % 2**bits),
        patch.object(store.os, "urandom", token),
        patch.object(Home, "_salt", lambda home, url, number: salted(home, url.replace(str(folder), ""), number)),
    ):  # fmt: skip
        yield


def build(folder: Path) -> None:
    """Write everything, in an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with fixed(folder), at(folder):
        _ledgers(folder)
        _exams(folder)
        _run(folder)


def _ledgers(folder: Path) -> None:
    """Every kind of entry and of answer, in the ledger of one home; another's ledger, merged; looks that anchors alone saw."""
    home = folder / "home"
    rows = numbers(240)
    study = Study(rows, home, settings={"declared_space": None}, runs=folder / "a" / "runs")
    study.choose_and_look()
    study.look()  # a replay
    study.but(rule=Rule(1), settings={"declared_space": None, "delta": 0.1}).look()
    study.but(rule=Rule(1, 0.2), settings={"declared_space": None, "justify": Justify("bug", "a wrong cut")}).look()
    study.but(rule=Rule(2), split_seed=3).look()
    study.but(rule=Rule(3), policy="strict").look()
    study.but(rule=Rule(0, 0.3), policy="off").look()
    study.but(rule=Rule(0, 0.1), measure=make("measure", "brier")).look()
    gate, sealing = study.gate(), study.sealing()
    gate.commit(sealing, ["another recipe"])
    gate.class_counts(sealing)
    gate.say(Note(text="a note"))
    gate.vouch("ab" * 32)
    gate.rule([], "nothing is void")
    for number, settings in enumerate(_TERMS, 1):
        other = Study(numbers(120, seed=number), home, settings=settings, candidates=("a", "b"), runs=study.runs)
        for cut in (0.0, 0.1, 0.6):
            other.but(rule=Rule(0, cut)).look()
    for number, measure in enumerate(("auc", "balanced_error", "f1"), 11):
        Study(numbers(120, seed=number), home, measure=make("measure", measure), runs=study.runs).look()
    grouped = replace(numbers(240, seed=41), groups=np.arange(240) // 2)
    Study(grouped, home, runs=study.runs).look()
    broken = Study(numbers(90, seed=21), home, runs=study.runs)
    with patch("modelsel.guard.gate.truth", side_effect=ZeroDivisionError):
        _fails(broken.look)
    burned = Study(numbers(80, seed=22), home, runs=study.runs)
    gate = burned.gate()
    gate.burn(burned.sealing())
    second = folder / "second"
    shutil.copytree(home / "keys", second / "keys")
    shutil.copy(home / "own.key", second / "own.key")
    there = study.but(home=second, rule=Rule(3, 0.4), runs=folder / "b" / "runs")
    there.look()
    there.but(rule=Rule(3, 0.5)).look()
    study.gate().merge(str(second / "ledger.db"))
    study.but(rule=Rule(2, 0.7)).look()
    third = folder / "third"  # which has lost its ledger, and what beside the runs remembers it
    lost = Study(numbers(100, seed=31), third, runs=folder / "c" / "runs")
    lost.look()
    for path in third.glob("ledger.db*"):
        path.unlink()
    lost.but(rule=Rule(1)).look()


_TERMS: tuple[dict[str, Any], ...] = (
    {"release": "full"}, {"release": "passfail", "target": 0.3}, {"release": "ladder"}, {"release": "thresholdout"},
    {"resolution": 0.05}, {"quota": 1}, {"max_looks": 1, "declared_space": 40},
)  # fmt: skip


def _fails(step: Callable[[], object]) -> None:
    try:
        step()
    except Exception:  # whichever it is, the look is on record
        return
    raise AssertionError("it did not fail")


def _exams(folder: Path) -> None:
    """An exam of each release with two askers, closed, and its certificate; one stays open."""
    Path("loans.csv").write_text(table().head(150).to_csv(index=False))
    weighted = pd.read_csv("loans.csv").assign(w=lambda frame: np.arange(len(frame)) % 5 + 1.0)
    weighted.to_csv("weighted.csv", index=False)
    for release in (*RELEASES, "open", "weighted"):
        with at(folder, f"homes/{release}"):
            _exam(release)


def _exam(name: str) -> None:
    """An exam, three answers, its close, and its certificate."""
    release, place = name if name in RELEASES else "full", Path(f"exam-{name}")
    settings = ["dataset.weights=w"] if name == "weighted" else []
    terms: Any = {"release": release, **TERMS.get(release, {}), "looks": 5, "class_counts": name == "full"}
    make_exam("weighted.csv" if settings else "loans.csv", "default", place, Wanted(**terms), settings)
    exam = ExamSession(place)
    for cut, asker in ((3.0, "ann"), (2.5, "bob"), (3.4, "ann")):
        exam.answer(answer_of(exam, cut), asker, (0.2, 100) if name == "full" else None)
    if name != "open":
        boards.close(exam)
    certify(str(place), Path(f"{place}.zip"), whole=name == "better")


def _run(folder: Path) -> None:
    """A study with its run folder, tested, and its certificate."""
    with at(folder, "homes/run"):
        settings = ["dataset=led", "dataset.rows=200", "learner=one_rule", "scheme=kfold", "scheme.folds=3", "tracking=off"]
        outcome = modelsel.run(*settings, "final_test=true", name="golden")
        certify(str(outcome.folder), Path("run.zip"))


def tell(folder: Path) -> dict[str, Any]:
    """What is read from all that was written: ledgers, audits in every form, exams, a run, certificates."""
    with fixed(folder):
        plain: dict[str, Any] = json.loads(UNSAID.sub("", json.dumps(_told(folder), sort_keys=True)).replace(str(folder), ""))
    for found in plain.values():
        if isinstance(found, dict) and "audit" in found:
            del found["audit"]["at"]  # when it was asked
    return plain


def _told(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = {}
    with at(folder):
        for home, runs in (("home", "a"), ("second", "b"), ("third", "c")):
            said[home] = _of_ledger(Study(numbers(2), folder / home, runs=folder / runs / "runs").gate())
        for path in sorted(folder.glob("*.zip")):
            found = verifier.verify(path)
            said[path.name] = [found.held, found.faults, found.unknown]
    for place in sorted(folder.glob("exam-*/")):
        with at(folder, f"homes/{place.name.removeprefix('exam-')}"):
            said[place.name] = _of_exam(ExamSession(place.relative_to(folder)))
    with at(folder, "homes/run"):
        outcome = modelsel.open_run("golden")
        report = {**outcome.audit()}
        said["run"] = {"test": asdict(outcome.test), "audit": report, "methods": outcome.methods(), "text": str(outcome)}
        said["run"]["markdown"] = markdown(report)
    return said


def _of_ledger(gate: Gate) -> dict[str, Any]:
    """Audit a ledger, in each form, with what a certificate or an exam would read of it."""
    report = audit(gate).written()
    ids = [one["id"] for one in report["test_sets"]]
    return {
        "audit": report, "markdown": markdown(report), "reforms": reforms(report),
        "looks": {testset: [*map(_look, looks(gate.session, testset))] for testset in ids},
    }  # fmt: skip


def _of_exam(exam: ExamSession) -> dict[str, Any]:
    """Everything that an exam says of itself."""
    report = boards.audit(exam)
    return {
        "terms": exam.terms.written(), "digest": exam.terms.digest, "status": asdict(boards.status(exam)),
        "board": [asdict(line) for line in boards.board(exam)], "handed": [_handed(exam, answer) for answer in exam.handed()],
        "audit": report, "markdown": markdown(report),
    }  # fmt: skip


def _look(look: StandingLook) -> dict[str, Any]:
    """A look as version 1.0 told of it."""
    answer, later = look.end.facts if look.end else {}, look.superseded
    return {**look.entry.facts, "status": look.status, "charge": look.price, "answer": answer,
            "superseded": later and later.written()}  # fmt: skip


def _handed(exam: ExamSession, answer: HandedAnswer) -> dict[str, Any]:
    """An answer to an exam as version 1.0 told of it: a note where nothing was shown, else its look."""
    if answer.look is None:
        return next(note.written() for note in exam.notes() if note.what == "handed in" and note.at == answer.at)
    said = {"asker": answer.asker, "handed": answer.digest, "at": answer.at}
    return {**said, **answer.look.config, "look": _look(answer.look)}


def chains(folder: Path) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Every entry of every ledger, as it was written: its place and kind, and what it states but for when and where.

    Entries that others name are named by their places; of drawn noise, of days and of what depends on the code's own digest,
    nothing is compared, and of portraits and digests of terms that there is one.
    """
    found = {}
    for path in sorted(folder.rglob("ledger.db")):
        ledger = Ledger.existing(sqlite_url(path), Home(path.parent).signer())
        written = list(ledger.entries())
        ledger.close()
        names = {name: f"{e.replica}:{e.seq}" for e in written for name in (e.hash, e.brief.id)}
        given = re.compile("|".join(map(re.escape, names)))
        texts = [DAY.sub("", PLACE.sub("", given.sub(lambda name, names=names: names[name[0]], e.body))) for e in written]
        found[str(path.relative_to(folder))] = [
            (f"{e.replica}:{e.seq} {e.kind}", json.loads(text, object_hook=_lasting)) for e, text in zip(written, texts)
        ]
    return found


def _lasting(facts: dict[str, Any]) -> dict[str, Any]:
    """Leave out what passes, and name settings as they are named now."""
    facts, _ = under_new_names(facts)
    later = {name: bool(value) for name, value in facts.items() if name in LATER and isinstance(value, str)}
    return {name: later.get(name, value) for name, value in facts.items() if name not in PASSING}


def includes(found: Any, wanted: Any) -> bool:
    """Say whether all that was said before is said still; later versions may say more."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and includes(found[name], one) for name, one in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(includes, found, wanted))
    same: bool = found == wanted or (isinstance(wanted, float) and isclose(found, wanted, rel_tol=1e-9))
    return same


def unpack(folder: Path) -> Path:
    """What was written once, in a folder."""
    with zipfile.ZipFile(RECORD) as archive:
        archive.extractall(folder)
    return folder


def main() -> None:
    """Write the archive anew."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "golden"
        build(folder)
        with zipfile.ZipFile(RECORD, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file() and not set(path.parts) & LEFT_OUT):
                archive.write(path, path.relative_to(folder))
        told = json.dumps(tell(unpack(Path(place).resolve() / "again")))
        with zipfile.ZipFile(RECORD, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(TOLD, told)


if __name__ == "__main__":
    main()
