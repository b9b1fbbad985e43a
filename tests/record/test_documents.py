"""Documents as types: a misspelt name fails the type checker; what is read is written again byte for byte."""

import copy
import json
import operator
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.facts import DocumentFacts
from modelsel.core.outcome import ScoreFacts, StudySummary, WinnerFacts
from modelsel.guard.reporting.report import AuditReport, LookLine
from modelsel.record.documents import DetailsFacts, ExplanationFacts, PairFacts
from tests.extras import needs

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"study.json": StudySummary, "details.json": DetailsFacts, "explanation.json": ExplanationFacts}
RIGHT = (
    "def a(one: StudySummary) -> float: return one.winner.cv.mean",
    'def b() -> FindingFacts: return FindingFacts(code="C", severity="info", message="words")',
    "def c(one: AuditReport) -> list[int]: return [look.look for part in one.test_sets for look in part.looks]",
    "def d(one: ExplanationFacts) -> float | None: return one.curve.candidates[0].doubling.mean if one.curve else None",
)
WRONG = (
    "def e(one: StudySummary) -> float: return one.winner.cv.maen",
    "def f(one: StudySummary) -> float: return one.winer.cv.mean",
    'def g() -> FindingFacts: return FindingFacts(code="C", severity="info", mesage="words")',
    'def h() -> FindingFacts: return FindingFacts(code="C", severity="info")',
    'def i() -> FindingFacts: return FindingFacts(code="C", severity="grave", message="words")',
    "def j() -> ScoreFacts: return ScoreFacts(mean=0.5)",
    "def k(one: AuditReport) -> str: return one.ledger.haed",
    'def l() -> NextLook: return NextLook(look=1, interval=None, release="full", prize=0.5)',
    "def m(one: ExplanationFacts) -> object: return one.weak_slice",
    "def n(one: DetailsFacts) -> int: return one.data.repeatedrows",
    "def o(one: StudySummary) -> None: one.winner.id = 'another'",
)


@pytest.mark.slow
def test_a_misspelt_or_missing_fact_of_a_document_fails_mypy(tmp_path: Path) -> None:
    needs("mypy")
    script = tmp_path / "readers.py"
    head = (
        "from modelsel.core.outcome import FindingFacts, ScoreFacts, StudySummary",
        "from modelsel.guard.reporting.report import AuditReport, NextLook",
        "from modelsel.record.documents import DetailsFacts, ExplanationFacts",
    )
    script.write_text("\n".join((*head, *RIGHT, *WRONG)) + "\n", "utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(script)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    told = {int(line.split(":")[1]) for line in done.stdout.splitlines() if line.startswith(str(script)) and ": error:" in line}
    first = 1 + len(head) + len(RIGHT)
    assert told == set(range(first, first + len(WRONG))), done.stdout + done.stderr


def kept() -> list[tuple[str, str, bytes]]:
    """The documents of runs that earlier versions wrote."""
    found = []
    for archive in ("record", "kept"):
        with zipfile.ZipFile(ROOT / "tests" / "figures" / "golden" / f"{archive}.zip") as files:
            for name in files.namelist():
                if (file := name.rpartition("/")[2]) in KINDS:
                    found.append((f"{archive}: {name}", file, files.read(name)))
    return found


def test_what_earlier_versions_wrote_is_read_and_written_byte_for_byte() -> None:
    documents = kept()
    assert {file for _, file, _ in documents} >= {"study.json", "details.json"}
    for name, file, content in documents:
        data = json.loads(content)
        again = KINDS[file].read(data).written()
        if data.get("test"):  # a test states what later versions know of it, too
            again["test"] = {key: value for key, value in again["test"].items() if key in data["test"]}
        assert json.dumps(again) == json.dumps(data), name
        if file == "details.json" and data.get("audit"):
            assert json.dumps(AuditReport.read(data["audit"]).written()) == json.dumps(data["audit"]), name


def test_what_is_not_stated_has_its_default_and_a_later_versions_name_is_kept() -> None:
    won = {"id": "a", "learner": "tree", "cv": {"mean": 0.5, "se": None}, "from_tomorrow": [1]}
    read = WinnerFacts.read(won)
    assert (read.name, read.measures, read.every_best, read.cv.folds) == ("tree", {}, None, ())
    assert read.written() == won
    assert read.but(id="b").written() == {**won, "id": "b"}
    with pytest.raises(TypeError, match="states no di"):
        read.but(di="b")
    assert DetailsFacts.read({}).audited is None
    assert not DetailsFacts.read({}).data.features


def test_a_document_is_the_mapping_that_its_json_is() -> None:
    pair = PairFacts(first="a", second="b", difference=0.1, low=0.0, high=0.2, p=0.5, adjusted=1.0, method="t")
    assert (pair["first"], "low" in pair, dict(pair)) == ("a", True, pair.written())
    assert pair == pair.written()
    assert isinstance(pair, DocumentFacts)
    with pytest.raises(AttributeError):
        pair.first = "c"  # type: ignore[misc]


def test_a_look_reads_what_is_within_it() -> None:
    told: dict[str, Any] = {
        "look": 2,
        "spent": 0.5,
        "interval": [0, 1],
        "superseded": {"look": 3, "spent": 0.7, "interval": None},
    }
    look = LookLine.read(told)
    assert (look.now.look, look.now.spent, look.now.interval) == (3, 0.7, None)


def test_the_rooms_that_show_documents_name_facts_and_not_keys() -> None:
    """What is left are keys of the page's own parts, of the configuration, and of arrays."""
    texts = [path.read_text("utf-8") for path in (ROOT / "modelsel" / "reporting").rglob("*.py")]
    assert sum(len(re.findall(r'\["[a-z_]+"\]', text)) for text in texts) <= 35


def test_a_part_is_a_dict_for_whoever_takes_it_for_one() -> None:
    stated = {"mean": 0.25, "se": 0.5, "folds": [0.0, 0.5]}
    part = ScoreFacts.read(stated)
    assert json.loads(json.dumps([part])) == [stated]
    assert part == stated
    for other in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
        assert (type(other), other, other.mean) == (ScoreFacts, stated, 0.25)
    for change in (lambda: part.update(mean=0.0), lambda: operator.setitem(part, "mean", 0.0), lambda: part.pop("mean")):
        with pytest.raises(TypeError, match="ScoreFacts is not changed"):
            change()
    assert dict(part) | {"mean": 0.0} == stated | {"mean": 0.0}
