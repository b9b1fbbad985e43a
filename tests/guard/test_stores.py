"""How little may be remembered of rows, what each recognises, and when labels are given away for good."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.outcome import TestResult
from modelsel.core.types import seal
from modelsel.guard.policy.base import Identity
from modelsel.ledger.rows.row_set import RowSet
from modelsel.measure.within import Within
from tests.guard.studies import Line, Rule, Study, amounts, numbers


def stored(study: Study, name: str) -> list[RowSet]:
    ledger = study.gate().session.ledger
    seals = [entry.facts for entry in ledger.entries() if entry.kind == "seal"]
    return [RowSet.unpack(ledger.rowset(facts[name])) for facts in seals if facts[name]]


DIGESTS = {"identity": Identity(store="digest_only")}
PLACES: dict[str, dict[str, str]] = {
    "user": {}, "project": {"ledger": "project"}, "key": {"project": "loans"},
    "both": {"project": "loans", "ledger": "project"},
}  # fmt: skip


def test_digest_only_keeps_no_row_in_a_project_and_all_of_them_in_the_home(home: Path) -> None:
    study = Study(numbers(), home, settings=DIGESTS | PLACES["project"])
    study.look()
    assert stored(study, "rows") == stored(study, "table") == []
    assert len(stored(study, "portrait")) == 1
    assert [len(rows) for rows in stored(study.but(settings={}), "rows")] == [120]
    assert study.but(rule=Rule(1)).look().look == 2
    result, _ = study.but(rule=Rule(2), split_seed=3).run()
    assert {"G020", "G021"} <= set(result.flags)


def less_and_less(study: Study, first: int, last: int) -> Iterator[TestResult]:
    """Looks at the test set without its first row, its first two rows, and so on: another model each, by a gate of its own."""
    development, test = study.parts()
    for gone in range(first, last):
        fewer = test.take(np.arange(gone, len(test)))
        declared = replace(study.sealing(), sealed=seal(fewer), development=development, spec_id=f"rule {gone}")
        yield study.gate().look(study.but(rule=Rule(gone % 4, gone / 50)).request(declared))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("rows", [400, 100])
def test_a_row_less_is_a_further_look_whatever_a_project_stores(home: Path, where: str, rows: int) -> None:
    study = Study(numbers(rows, seed=rows), home, settings=DIGESTS | PLACES[where], seed=rows)
    assert [result.look for result in less_and_less(study, 0, 3)] == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("where", PLACES)
def test_twenty_rows_less_one_by_one_are_twenty_looks(home: Path, where: str, seed: int) -> None:
    study = Study(numbers(400, seed=seed), home, settings=DIGESTS | PLACES[where], split_seed=seed)
    assert [result.look for result in less_and_less(study, 0, 20)] == list(range(1, 21))


@pytest.mark.slow
def test_rows_less_are_further_looks_in_processes_of_their_own(home: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.guard.test_stores import *; "
        "study = Study(numbers(), Path(sys.argv[1]), settings=DIGESTS | PLACES['both']); n = int(sys.argv[2]); "
        "print(*(result.look for result in less_and_less(study, n, n + 1)))"
    )
    root = Path(__file__).parents[2]
    said = [
        subprocess.run([sys.executable, "-c", program, str(home), str(n)], capture_output=True, text=True, check=True, cwd=root)
        for n in range(20)
    ]  # fmt: skip
    assert [int(one.stdout) for one in said] == list(range(1, 21))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("rows", "gone", "codes", "certified"),
    [(400, 0, {"G023", "G052"}, False), (400, 1, {"G022", "G052"}, False), (50, 0, {"G023", "G052"}, False),
     (50, 1, {"G074"}, True)],
    ids=["same table", "a row less", "same small table", "a row less of a small table"],
)  # fmt: skip
def test_a_colleague_s_digests_are_met_by_table_and_portrait_or_named_as_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, gone: int, codes: set[str], certified: bool
) -> None:
    """Two homes, one ledger and one key: what the other home keeps of rows is not at hand here."""
    monkeypatch.setenv("MODELSEL_KEY", "07" * 32)
    settings = DIGESTS | {"ledger": f"sqlite:///{tmp_path / 'team.db'}"}
    one = Study(numbers(rows), tmp_path / "a", settings=settings)
    one.look()
    other = Study(one.task.take(np.arange(gone, rows)), tmp_path / "b", settings=settings, rule=Rule(1), split_seed=1)
    result = other.look()
    assert codes <= set(result.flags)
    assert bool(result.interval) is certified


@pytest.mark.slow
def test_a_sketch_estimates_what_was_seen(home: Path) -> None:
    study = Study(numbers(12_000), home, settings={"identity": Identity(store="sketch"), "ledger": "project"})
    study.look()
    assert [len(rows.arrays["bound"]) for rows in stored(study, "rows")] == [3600]
    assert [len(rows.arrays["bound"]) for rows in stored(study, "development")] == [4096]
    assert [len(rows.arrays["bound"]) for rows in stored(study.but(settings={}), "rows")] == [3600]
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


def test_numbers_that_are_given_away_are_charged_all_that_a_double_can_say(home: Path) -> None:
    study = Study(amounts(), home, rule=Line(), measure=Within(10.0))
    classes, said = study.gate().burn(study.sealing())
    assert classes == ()
    assert np.array_equal(said, study.parts()[1].target)
    result = study.but(rule=Line((20.0, 0.0))).look()
    assert result.spent == pytest.approx(120 * 64 * log(2))
    assert {"G061", "G051"} <= set(result.flags)
