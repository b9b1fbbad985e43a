"""Whoever holds everything that a study leaves behind, the key and the features, learns no sealed label by it."""

import sqlite3
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

import modelsel
from modelsel.api.commands.setup import ledger as doctors_lines
from modelsel.core.errors import LedgerError
from modelsel.core.types import Task
from modelsel.guard import fingerprints
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.database.upkeep import LOOKED_THROUGH, strip
from modelsel.ledger.home import Home
from modelsel.ledger.rows.identity import Hashes, TokenTable, bound_hashes, columns, text_tokens
from modelsel.ledger.rows.row_set import RowSet
from tests.guard.studies import Rule, Study, numbers
from tests.ledger.postgresql import Server


def with_labels(task: Task, key: object, codes: np.ndarray) -> Hashes:
    """The hash of each row with a label, as versions before kept it."""
    cells = columns(task)
    tokens = np.hstack([cells.tokens, text_tokens(task.classes)[codes][:, None]])
    return bound_hashes(TokenTable((*cells.names, "~label"), tokens), key)  # type: ignore[arg-type]


def left_behind(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def guessed(task: Task, key: object, everything: bytes) -> int:
    """How many labels come back when each class is tried for each row: hashes of rows with labels, wherever they lie."""
    tried = [with_labels(task, key, np.full(len(task), code)) for code in range(len(task.classes))]
    return sum(int(hashes[row]).to_bytes(8, "little") in everything for row, hashes in product(range(len(task)), tried))


def count_labelled(ledger: Ledger) -> int:
    """Count the row sets that still hold hashes that depend on labels."""
    return sum("labelled" in RowSet.unpack(ledger.rowset(digest)).arrays for digest in ledger.rowset_keys())


def old_rows(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look as a version before wrote it: row sets with hashes that depend on labels, entries with digests of labels."""
    home = Home(study.home)
    development, test = study.parts()
    real = fingerprints.SideFingerprints.stored

    def stored(rows: fingerprints.SideFingerprints, names: object, key: object) -> RowSet:
        plain = real(rows, names, key)  # type: ignore[arg-type]
        own = next(task for task in (test, development) if len(task) == len(rows.bound))
        return RowSet(plain.facts, {**plain.arrays, "labelled": np.sort(with_labels(own, home.key(), own.target))})

    with monkeypatch.context() as patch:
        patch.setattr(fingerprints.SideFingerprints, "stored", stored)
        study.look()
    with sqlite3.connect(study.home / "ledger.db") as raw:
        raw.execute("DROP TRIGGER about_no_delete")
        raw.execute("DELETE FROM about WHERE name = 'labels'")


@pytest.mark.slow
def test_an_old_ledger_is_freed_of_labels_where_it_is_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    _, test = study.parts()
    old_rows(study, monkeypatch)
    key = Home(home).key()
    assert guessed(test, key, b"".join(left_behind(home))) == len(test)  # the attack works
    gate = study.gate()
    report = audit(gate)
    assert report["ledger"]["intact"]
    assert report["ledger"]["freed_of_labels"] == 2
    assert count_labelled(gate.session.ledger) == 0
    assert guessed(test, key, b"".join(left_behind(home))) == 0
    assert study.look().replay
    assert study.but(rule=Rule(1)).look().look == 2
    assert audit(study.gate())["ledger"]["freed_of_labels"] == 2  # once


def test_doctor_says_what_was_freed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old_rows(Study(numbers(), home), monkeypatch)
    monkeypatch.setenv("MODELSEL_HOME", str(home))
    Study(numbers(), home).gate().session.check()
    lines = {name: (said, code) for name, said, code in doctors_lines()}
    assert lines["labels"][0].startswith(
        "2 row sets of an earlier version were freed of hashes that depended on labels; 0 entries"
    )
    assert lines["labels"][1] == 0
    monkeypatch.setenv("MODELSEL_HOME", str(home.parent / "new"))
    assert "labels" not in {name for name, _, _ in doctors_lines()}


@pytest.mark.slow
def test_a_server_is_freed_of_labels_by_its_owner_alone_and_stays_append_only(tmp_path: Path) -> None:
    home, other = Home(tmp_path / "owner"), Home(tmp_path / "member")
    hashes = np.arange(40, dtype=np.uint64)
    labels = RowSet({"n": 40, "names": ["x"]}, {"bound": hashes, "labelled": hashes + np.uint64(9)}).pack()
    with Server() as server:
        ledger = Ledger.open(server.url, home.replica(server.url), home.signer())
        digest = ledger.write(lambda writing: writing.keep(labels, "key", 40, "test"))
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            connection.execute(text("CREATE ROLE member LOGIN"))
            connection.execute(text("GRANT SELECT, INSERT ON entries, rowsets, signatures, about TO member"))
        member = Ledger.open(server.url.replace("ledger@", "member@"), other.replica("x"), other.signer())
        assert (strip(member), count_labelled(ledger)) == (0, 1)
        assert (strip(ledger), count_labelled(ledger), strip(ledger)) == (1, 0, 0)
        assert RowSet.unpack(member.rowset(digest)).arrays.keys() == {"bound"}
        assert next(entry.facts["stripped"] for entry in ledger.entries() if entry.kind == "note").keys() == {digest}
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(text("UPDATE rowsets SET kind = 'x'"))


def test_what_is_left_of_a_row_set_is_what_the_chain_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    old_rows(study, monkeypatch)
    digest = next(iter(next(e.facts["stripped"] for e in study.gate().session.ledger.entries() if "stripped" in e.facts)))
    with sqlite3.connect(home / "ledger.db") as raw:
        raw.execute("DROP TRIGGER rowsets_no_update")
        raw.execute("UPDATE rowsets SET blob = CAST(blob || 'x' AS BLOB) WHERE digest = ?", (digest,))
    with pytest.raises(LedgerError, match="changed"):
        study.gate().session.ledger.rowset(digest)


@pytest.mark.slow
def test_a_merge_takes_no_labels_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = Study(numbers(), tmp_path / "a"), Study(numbers(seed=1), tmp_path / "b")
    mine.look()
    old_rows(other, monkeypatch)
    gate = mine.gate()
    assert isinstance(gate, Gate)
    gate.merge(str(tmp_path / "b" / "ledger.db"))
    assert count_labelled(gate.session.ledger) == 0
    assert audit(mine.gate())["ledger"]["intact"]


@pytest.mark.slow
def test_no_file_of_a_study_gives_a_label_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of home and run folder, MLflow and temporary files included, with the key and all features at hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    task = numbers(200)
    lines = [",".join((*(f"x{i}" for i in range(4)), "y"))]
    lines += [
        ",".join((*map(str, row), task.classes[code])) for row, code in zip(task.values.tolist(), task.target, strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    done = modelsel.run("dataset=csv", "dataset.path=data.csv", "dataset.target=y", "space=trees", "name=rest")
    assert done.test is not None
    (tmp_path / "data.csv").unlink()
    everything = b"".join(left_behind(tmp_path))
    key = Home(tmp_path / "home").key()
    assert guessed(task, key, everything) == 0
    ledger = Ledger.existing(f"sqlite:///{tmp_path / 'home' / 'ledger.db'}")
    assert count_labelled(ledger) == 0
    names = {name for entry in ledger.entries() for name in entry.facts}
    assert not names & {"order", "labels"}
    seal = next(entry.facts for entry in ledger.entries() if entry.kind == "seal")
    rows = RowSet.unpack(ledger.rowset(seal["rows"])).arrays["bound"]
    hashes = bound_hashes(columns(task), key)
    sealed = np.isin(hashes, rows)
    assert sealed.sum() == done.test.n
    for array in (task.target, task.target[sealed]):
        for form in (np.int8, np.int32, np.int64, np.float64):
            assert np.ascontiguousarray(array, form).tobytes() not in everything


def test_a_ledger_that_was_looked_through_is_marked(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", "r1")
    assert not ledger.has_mark(LOOKED_THROUGH)
    assert strip(ledger) == 0
    assert ledger.has_mark(LOOKED_THROUGH)
    assert strip(ledger) == 0
