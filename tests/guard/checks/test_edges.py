"""What stands on the edge of a rule: quotas that cannot be compared, the tenth value met again, a ledger that turns shared."""

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import Feature, Table
from modelsel.guard.access.session import SharedLedgers, register
from modelsel.guard.entries import weaker
from modelsel.guard.facts import SealTerms
from modelsel.guard.matching import FEWEST, _met_again
from modelsel.guard.policy.base import Identity
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import items
from modelsel.guard.reporting.report import AuditReport, TestSetReport
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.database.upkeep import LOOKED_THROUGH
from modelsel.ledger.home import Home
from modelsel.ledger.portraits.variables import variables
from modelsel.ledger.rows.matching import Sketch, _likenesses, match_names
from tests.guard.studies import Rule, Study, numbers, renamed

SEALED: dict[str, Any] = {"delta": 0.05, "rank": 1, "max_looks": None}


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [(None, None, False), (None, 3, False), (3, None, True), (3, 2, False), (3, 3, False), (3, 4, True),
     (0.1, 0.05, False), (0.1, 0.2, True), (3, 0.1, True), (0.1, 3, True), (1, 1, False), (1, 0.5, True)],
)  # fmt: skip
def test_a_quota_that_leaves_more_or_is_of_another_kind_is_weaker(before: float | None, now: float | None, said: bool) -> None:
    assert weaker([SealTerms.read({**SEALED, "quota": before})], SealTerms.read({**SEALED, "quota": now})) == (
        ["quota"] if said else []
    )


@pytest.mark.parametrize(("met", "found"), [(FEWEST - 1, False), (FEWEST, True), (FEWEST + 1, True)])
def test_so_many_values_of_a_column_have_to_be_met_again(met: int, found: bool) -> None:
    ours, theirs = np.arange(40, dtype=np.uint64), np.arange(40 - met, 80, dtype=np.uint64)
    again = list(_met_again([("x", ours)], [np.arange(900, 950, dtype=np.uint64), theirs]))
    assert bool(again) == found
    if found:
        assert again[0][1].sum() == met


def test_a_ledger_that_others_write_to_later_is_registered_as_theirs_too(tmp_path: Path) -> None:
    study = Study(numbers(120), tmp_path)
    ledger = study.gate().session.ledger
    home = Home(tmp_path)
    register(home, ledger, "key")
    assert home.state()["registry"][ledger.id]["others"] is False
    with home.changing() as state:
        state.setdefault("marks", {}).setdefault(ledger.id, {})["f" * 32] = [1, "0" * 64]
    register(home, ledger, "key")
    assert home.state()["registry"][ledger.id]["others"] is True


def test_of_the_ledgers_with_looks_of_others_all_but_those_in_use_are_asked(tmp_path: Path) -> None:
    home, ledgers = Home(tmp_path / "home"), []
    for name in ("one", "two", "mine"):
        url = sqlite_url(tmp_path / f"{name}.db")
        ledgers.append(Ledger.open(url, home.replica(url), home.signer()))
        register(home, ledgers[-1], "key")
    with home.changing() as state:
        for ledger in ledgers[:2]:
            state["registry"][ledger.id]["others"] = True
    assert [one.id for one in SharedLedgers.of(home, {ledgers[0].id}).ledgers] == [ledgers[1].id]
    assert {one.id for one in SharedLedgers.of(home, set()).ledgers} == {one.id for one in ledgers[:2]}


@pytest.mark.parametrize(("common", "alike"), [(1, False), (2, True), (3, True)])
def test_columns_are_alike_that_share_a_fifth_of_their_values(common: int, alike: bool) -> None:
    rows = np.arange(10, dtype=np.uint64)
    ours, theirs = (
        Sketch(name, name, values, np.full(10, 0.1)) for name, values in (("a", rows), ("b", rows + np.uint64(10 - common)))
    )
    said = match_names([ours], [theirs])
    assert (said is not None) == alike
    assert said is None or said[0] == ("b",)


def test_a_table_under_other_names_goes_by_those_that_it_was_first_seen_under(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path)
    study.look()
    other = study.but(task=renamed(numbers(), {"x0": "height", "x2": "width"}))
    assert other.gate().subject(other.sealing()).names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize(("store", "whole"), [("full", True), ("sketch", False)])
def test_rows_are_stored_whole_or_as_a_sketch_as_the_policy_asks(tmp_path: Path, store: str, whole: bool) -> None:
    gate = Study(numbers(), tmp_path, settings={"identity": Identity(store=store), "ledger": "project"}).choose_only()
    (seal,) = [entry for entry in gate.session.ledger.entries() if entry.kind == "seal"]
    assert ("sketch" not in gate.session.row_set(seal.facts["rows"]).facts) == whole


def test_a_ledger_is_looked_through_for_labels_once(tmp_path: Path) -> None:
    assert Study(numbers(120), tmp_path).gate().session.ledger.has_mark(LOOKED_THROUGH)


@pytest.mark.parametrize(("codes", "said"), [((), False), (("G030",), True), (("G031",), True), (("G030", "G031"), True)])
def test_copies_or_near_copies_are_duplicates_in_the_checklist(codes: tuple[str, ...], said: bool) -> None:
    look = {"replay": False, "flags": list(codes), "metric": "error", "interval": None}
    one = TestSetReport.read({"looks": [look], "rows": 1, "candidates": 1})
    told = items(one, AuditReport.read({"ledger": {"intact": True}}))
    assert told["duplicates between train and test"] is said


def test_a_column_whose_many_numbers_come_late_is_one_of_numbers() -> None:
    rng = np.random.default_rng(0)
    late = np.r_[np.arange(1000) % 2, rng.normal(size=300)]
    values = np.column_stack([rng.normal(size=1300), late, np.where(rng.random(1300) < 0.1, nan, rng.normal(size=1300))])
    features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
    found = variables(Table(name="", features=features, values=values, rows=np.arange(1300)))
    assert found is not None
    assert list(np.array(found.labels)[~found.binary]) == ["x0", "x1", "x2"]


def test_a_column_is_wholly_like_itself_and_half_like_one_that_shares_half() -> None:
    values, shares = np.arange(4, dtype=np.uint64), np.full(4, 0.25)
    one, half = Sketch("a", "1", values, shares), Sketch("b", "2", values + np.uint64(2), shares)
    assert _likenesses([one], [one, half]).round(9).tolist() == [[1.0, 0.5]]


@pytest.mark.slow
def test_the_price_that_is_foretold_of_a_board_that_stays_is_what_it_costs(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path, settings={"quota": 1, "anchors": ()})
    study.look()
    stayed = 0
    for cut in (0.5, 0.9, 1.3, 1.8):
        foretold = audit(study.gate())["next"]
        assert foretold["release"] == "ladder"
        result, gate = study.but(rule=Rule(1, cut)).run()
        shown = [entry for entry in gate.session.ledger.entries() if entry.kind == "reveal"][-1]
        if shown.facts["symbol"].endswith("stays") and not result.replay:
            stayed += 1
            assert result.price == pytest.approx(foretold["price"], abs=1e-5)
    assert stayed >= 2
