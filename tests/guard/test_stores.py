"""How little may be remembered of rows, what each recognises, and when labels are given away for good."""

from math import log
from pathlib import Path

import numpy as np
import pytest

from modelsel.guard.policy.base import Identity
from modelsel.ledger.rows.row_set import RowSet
from tests.guard.studies import Rule, Study, numbers


def stored(study: Study, name: str) -> list[RowSet]:
    ledger = study.gate().session.ledger
    seals = [entry.facts for entry in ledger.entries() if entry.kind == "seal"]
    return [RowSet.unpack(ledger.rowset(facts[name])) for facts in seals if facts[name]]


def test_digest_only_keeps_no_row_and_knows_the_whole_set_again(home: Path) -> None:
    study = Study(numbers(), home, settings={"identity": Identity(store="digest_only")})
    study.look()
    assert stored(study, "rows") == []
    assert study.but(rule=Rule(1)).look().look == 2
    gate = study.but(rule=Rule(2), split_seed=3).run()[1]
    assert "G023" in {finding.code for finding in gate.findings}  # the table is known, its rows are not


@pytest.mark.slow
def test_a_sketch_estimates_what_was_seen(home: Path) -> None:
    study = Study(numbers(12_000), home, settings={"identity": Identity(store="sketch")})
    study.look()
    assert [len(rows.arrays["bound"]) for rows in stored(study, "rows")] == [3600]
    assert [len(rows.arrays["bound"]) for rows in stored(study, "development")] == [4096]
    result, _ = study.but(rule=Rule(1), split_seed=3).run()
    assert {"G020", "G021"} <= set(result.flags)


def test_nothing_readable_is_stored_of_rows(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    raw = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    values = study.parts()[1].values
    assert all(row.tobytes() not in raw for row in values[:50])
    labels = study.parts()[1].target
    assert labels.tobytes() not in raw
    assert labels.astype(np.int8).tobytes() not in raw


def test_labels_that_are_given_away_burn_the_test_set(home: Path) -> None:
    study = Study(numbers(), home)
    classes, labels = study.gate().burn(study.sealing())
    assert classes == ("no", "yes")
    assert np.array_equal(labels, study.parts()[1].target)
    result = study.but(rule=Rule(1)).look()
    assert result.spent == pytest.approx(120 * log(2))
    assert "G061" in result.flags
    assert "G051" in result.flags
