"""A part of a table under other units, signs and names is known by rows that are neighbours; other samples are not."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import drawn
from benchmarks.recognition.guard_disguises import Change, look, renamed, scaled, standardised, subset, turned
from modelsel.core.spec import make
from modelsel.core.types import Outputs, Task, seal
from modelsel.core.whole_table import whole
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home, IdentityKey
from modelsel.ledger.portraits.triples import KEPT, LEAST, kept_triples, shared_by_chance, shared_triples, smallest_triples

WAYS = {"units": scaled, "standardised": standardised, "turned round": turned}
TABLES = {"4 columns": (400, "rrrr"), "10 columns": (600, "rrrssrrrss"), "mixed": (690, "rrsiizlllmmmkkb")}


def shared(one: Task, other: Task) -> float:
    return shared_triples(smallest_triples(whole(one)), smallest_triples(whole(other)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TABLES)
def test_of_sixty_in_a_hundred_rows_a_fifth_of_the_triples_are_left(name: str, way: str) -> None:
    """.6³ = .216: of three neighbours each has to be there; of the part's own, where all are kept, .6² = .36."""
    table, change = drawn(*TABLES[name], 1), WAYS[way]
    part = change(subset(0.6)(table, np.random.default_rng(1)), np.random.default_rng(2))  # type: ignore[arg-type]
    assert part is not None
    few = len(smallest_triples(whole(part))) < KEPT
    assert shared(table, part) == pytest.approx(0.36 if few else 0.216, abs=0.06)


@pytest.mark.parametrize(("seed", "world"), [(6, 6), (6, 5)])
def test_other_tables_and_other_samples_of_one_source_share_none(seed: int, world: int) -> None:
    table = drawn(600, "r" * 10, 5, 5)
    assert shared(table, drawn(600, "r" * 10, seed, world)) < LEAST / 5
    assert shared_by_chance(whole(table), np.random.default_rng(0)) < LEAST / 5


def test_another_key_keeps_other_hashes_and_few_columns_keep_none() -> None:
    table = whole(drawn(200, "rrrr", 3))
    assert not shared_triples(kept_triples(table, IdentityKey(b"a" * 32)), kept_triples(table, IdentityKey(b"b" * 32)))
    assert not len(kept_triples(whole(drawn(200, "rr", 3)), IdentityKey(b"a" * 32)))


@pytest.mark.parametrize("share", [0.6, 0.4])
@pytest.mark.parametrize("change", [scaled, standardised], ids=["units", "standardised"])
def test_a_part_in_disguise_is_refused(share: float, change: Change, tmp_path: Path) -> None:
    table, rng = drawn(600, "rrrssrrrss", 2), np.random.default_rng(1)
    part = change(renamed(subset(share)(table, rng), rng), rng)  # type: ignore[arg-type]
    assert part is not None
    look(tmp_path, table, 0)
    assert look(tmp_path, part, 1, "another") == "refused"


def test_fresh_rows_beside_old_development_rows_are_fresh(tmp_path: Path) -> None:
    """The next wave of a study: its first rows are known, and the rows that are sealed now were never seen."""
    table = drawn(900, "rrrrrr", 4)
    order = np.random.default_rng(0).permutation(600)
    cut = round(0.3 * 600)
    look(tmp_path, table.take(np.arange(600)), 0)
    development, fresh = table.take(np.sort(order[cut:])), table.take(np.arange(600, 900))
    sealing = TestSetDeclaration(seal(fresh), development, make("measure", "error"), "study", "runs/2", "another")
    gate = Gate(make("guard", "strict", anchors=()), tmp_path / "runs", home=Home(tmp_path))
    chosen = SelectionSummary("another", 0.3, 800, 0.3, 1)
    result = gate.look(LookRequest(sealing, chosen, lambda rows: Outputs(np.zeros((1, len(rows)), np.int32))))
    assert result.look == 1
    assert result.interval is not None
