"""The index over row hashes says of a set what reading it would say; files of it that were tampered with are not believed."""

from pathlib import Path

import numpy as np
import pytest

from modelsel.ledger.rows.hash_index import LARGE, HashIndex
from modelsel.ledger.rows.row_set import RowSet

SECRET = b"s" * 32


def row_set(rng: np.random.Generator, size: int) -> RowSet:
    """Hashes from so small a range of upper halves that sets meet, and halves are equal where hashes are not."""
    halves = rng.integers(0, 4000, (3, size), dtype=np.uint64) << np.uint64(32)
    arrays = halves + rng.integers(0, 2, (3, size), dtype=np.uint64)
    return RowSet({"n": size, "names": []}, {"bound": np.sort(arrays[0]), "key:a": np.sort(arrays[1]), "other": arrays[2]})


def filled(folder: Path, sets: dict[str, RowSet], at_once: int) -> HashIndex:
    names = list(sets)
    for start in range(0, len(names), at_once):
        index = HashIndex(folder, SECRET)
        for name in names[start : start + at_once]:
            index.take(name, sets[name])
        index.keep()
    return HashIndex(folder, SECRET)


@pytest.mark.parametrize("at_once", [1, 3, 40])
def test_it_excludes_no_set_that_holds_enough_and_all_others(tmp_path: Path, at_once: int) -> None:
    rng = np.random.default_rng(at_once)
    sets = {str(number): row_set(rng, int(rng.integers(1, 60))) for number in range(40)}
    index = filled(tmp_path / "index", sets, at_once)
    assert len(list((tmp_path / "index").iterdir())) <= 1 + np.log2(40)
    for _ in range(50):
        rows, column = (row_set(rng, size).arrays["bound"] for size in (5, 30))
        excluded = index.without((rows, 1), (column, 4))
        for name, stored in sets.items():
            held = np.concatenate([stored.arrays["bound"], stored.arrays["key:a"]]) >> np.uint64(32)
            enough = np.isin(rows >> np.uint64(32), held).any() or np.isin(column >> np.uint64(32), held).sum() >= 4
            assert (name in excluded) == (not enough)


def test_what_it_does_not_hold_it_does_not_exclude(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    index = HashIndex(tmp_path / "index", SECRET)
    large = RowSet({"n": 1}, {"bound": np.arange(LARGE + 1, dtype=np.uint64) << np.uint64(32)})
    index.take("large", large)
    index.take("small", row_set(rng, 4))
    nothing = np.array([2**63], np.uint64)
    assert index.without((nothing, 1)) == frozenset()  # not kept yet
    index.keep()
    assert HashIndex(tmp_path / "index", SECRET).without((nothing, 1)) == {"small"}
    assert HashIndex(tmp_path / "nowhere", SECRET).without((nothing, 1)) == frozenset()


@pytest.mark.parametrize("place", [0, 31, 32, 60, -1, -30])
def test_a_file_of_which_a_bit_was_changed_is_not_believed(tmp_path: Path, place: int) -> None:
    index = filled(tmp_path, {"one": row_set(np.random.default_rng(0), 20)}, 1)
    (file,) = tmp_path.iterdir()
    raw = bytearray(file.read_bytes())
    assert index.without((np.array([2**63], np.uint64), 1)) == {"one"}
    raw[place] ^= 1
    file.write_bytes(raw)
    assert HashIndex(tmp_path, SECRET).without((np.array([2**63], np.uint64), 1)) == frozenset()
    assert not file.exists()


@pytest.mark.parametrize("left", [0, 10, 40, 100])
def test_a_file_that_was_cut_off_is_not_believed(tmp_path: Path, left: int) -> None:
    filled(tmp_path, {"one": row_set(np.random.default_rng(0), 20)}, 1)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:left])
    assert HashIndex(tmp_path, SECRET).without((np.array([2**63], np.uint64), 1)) == frozenset()


def test_a_file_of_another_home_is_not_believed(tmp_path: Path) -> None:
    filled(tmp_path, {"one": row_set(np.random.default_rng(0), 20)}, 1)
    assert HashIndex(tmp_path, b"t" * 32).without((np.array([2**63], np.uint64), 1)) == frozenset()


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file stands here")
    index = HashIndex(tmp_path / "index", SECRET)
    index.take("one", row_set(np.random.default_rng(0), 20))
    index.keep()
    assert HashIndex(tmp_path / "index", SECRET).without((np.array([2**63], np.uint64), 1)) == frozenset()
