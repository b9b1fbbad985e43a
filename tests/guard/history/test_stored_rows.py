"""What is stored of rows, by what is asked for: everything, a sketch, or nothing but digest and portrait."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.guard.entries import keep_all, keep_chosen
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.row_set import RowSet
from tests.guard.studies import numbers

KEY = IdentityKey(b"k" * 32)


class Side:
    """Rows that say which side they are."""

    def __init__(self, name: str, n: int) -> None:
        self.name, self.bound = name, np.arange(n, dtype=np.uint64)

    def stored(self, names: tuple[str, ...], key: IdentityKey) -> RowSet:
        assert key is KEY
        return RowSet({"n": len(self.bound), "names": list(names), "side": self.name}, {"bound": self.bound})


class Writing:
    def __init__(self) -> None:
        self.kept: dict[str, tuple[RowSet, int]] = {}

    def keep(self, blob: bytes, key_id: str, n: int, kind: str) -> str:
        assert key_id == KEY.id
        self.kept[kind] = RowSet.unpack(blob), n
        return f"digest of {kind}"


def stored(
    how: str, portrait: bool = True, candidates: tuple[str, ...] = ("a", "b"), chosen: bool = False, rows: int = 3
) -> Any:
    """What is named, and what was kept."""
    writing: Any = Writing()
    drawn = SimpleNamespace(stored=lambda: RowSet({"n": 7}, {"labels": np.arange(2, dtype=np.uint64)})) if portrait else None
    subject: Any = SimpleNamespace(
        test=Side("test", 3), development=Side("development", 4), names=("x",), sketches=(), portrait=drawn, met={}
    )
    sealing: Any = SimpleNamespace(
        candidates=candidates, asked=(), sealed=numbers(rows), development=numbers(4, seed=1), config={}
    )
    named = (keep_chosen if chosen else keep_all)(writing, how, KEY, sealing, subject)
    assert {name: digest for name, digest in named.items() if digest} == {
        name: f"digest of {kind}"
        for name, kind in {"rows": "test", "candidates": "space"}.items()
        | {(n, n) for n in ("development", "table", "portrait")}
        if kind in writing.kept
    }
    return writing.kept


@pytest.mark.parametrize("how", ["full", "sketch", "digest_only"])
def test_a_seal_stores_as_much_as_is_asked_for(how: str) -> None:
    kept = stored(how)
    assert set(kept) == {"portrait", "space"} | (set() if how == "digest_only" else {"test", "development", "table"})
    for side, n in (("test", 3), ("development", 4)):
        if side in kept:
            rows, count = kept[side]
            assert (rows.facts["side"], rows.facts.get("sketch", False), count) == (side, how == "sketch", n)
    if how != "digest_only":
        assert (kept["table"][0].facts["n"], kept["table"][1], kept["portrait"][1]) == (7, 3, 3)
    assert kept["space"][1] == 2


def test_what_is_not_there_is_not_stored() -> None:
    assert "portrait" not in stored("full", portrait=False)
    assert "space" not in stored("full", candidates=())


@pytest.mark.parametrize(
    ("how", "rows", "kinds"),
    [("full", 3, {"development"}), ("full", 0, {"development", "table"}), ("digest_only", 0, set()), ("digest_only", 3, set()),
     ("sketch", 0, {"development", "table"})],
)  # fmt: skip
def test_rows_that_choose_are_stored_with_their_table_where_no_seal_keeps_it(how: str, rows: int, kinds: set[str]) -> None:
    kept = stored(how, chosen=True, rows=rows)
    assert set(kept) == kinds
    assert "table" not in kept or (kept["table"][0].facts["n"], kept["table"][1]) == (4, 4)
