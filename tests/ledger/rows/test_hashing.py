"""Hashes of many rows at once are those of `hashlib`, bit for bit, and are what ledgers of earlier versions hold."""

import hashlib

import numpy as np
import pytest

from benchmarks.recognition import guard_identity
from modelsel.guard.fingerprints import subject_of
from modelsel.kernels.rows import blake
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows import identity
from modelsel.ledger.rows.channels import Dense
from modelsel.ledger.rows.identity import MANY, hash_rows


@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 31, 32, 33, 100])
@pytest.mark.parametrize("secret", [b"k" * 32, b"x", b"y" * 64])
def test_the_kernel_says_what_hashlib_says(width: int, secret: bytes) -> None:
    words = np.random.default_rng(width).integers(0, 2**64, (60, width), dtype=np.uint64)
    words[:3] = [[0], [2**64 - 1], [1]]
    found = identity._at_once(blake, words, IdentityKey(secret), b"modelsel.row.1")
    for row, value in zip(words, found):
        raw = hashlib.blake2b(row.astype("<u8").tobytes(), digest_size=8, key=secret, person=b"modelsel.row.1").digest()
        assert int(value) == int.from_bytes(raw, "little")


def test_many_rows_go_to_the_kernel_and_a_key_too_long_for_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(identity, "load_compiled", lambda name: asked.append(name))
    words = np.arange(2 * MANY, dtype=np.uint64).reshape(MANY, 2)
    hash_rows(words, IdentityKey(b"k" * 32), b"p")
    assert asked == ["blake"]
    hash_rows(words[:-1], IdentityKey(b"k" * 32), b"p")
    assert asked == ["blake"]
    with pytest.raises(ValueError, match="key"):
        hash_rows(words, IdentityKey(b"k" * 65), b"p")


def test_where_no_kernel_can_be_had_the_answer_is_the_same(code) -> None:
    words = np.random.default_rng(0).integers(0, 2**64, (MANY, 21), dtype=np.uint64)
    with code("kernels"):
        compiled = hash_rows(words, IdentityKey(b"k" * 32), b"p")
    with code("plain"):
        assert np.array_equal(hash_rows(words, IdentityKey(b"k" * 32), b"p"), compiled)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [900, 9000, 30_000])
def test_a_table_has_the_digests_that_it_had_before_there_were_kernels(rows: int) -> None:
    """Written down with the version that hashed one row after the other and sorted by NumPy."""
    known = {
        900: "6935ac841c778008c628a3e56331e81d 9712fd3464648feed34e241342c6d4e8 acd67fff4cce744be8180b0a15f226ec "
        "51650c9ec1284584 4fa51da643b27f3d 4f22fbeeeef4907b",
        9000: "f5452b3d28cbf7df06f1e3590bfc1925 97d033d73aa70ba7cc0ab154c734531c e61b5a6fdbf2b02904b6a2c6ec39d4f2 "
        "b568d0037c4f904d fccdc7f8eafe4127 de55184cd9297473",
        30000: "42181f33f02f8ed4bd982818acff2a0d f575bcbd4ed995a29cd30497ed84c415 071d21dc3a2301b4e2ce0f4982f2cf77 "
        "05876d80a69f1637 2d8ec2e500ba3152 aa6297e6c669653f",
    }  # fmt: skip
    subject = subject_of(guard_identity.sealing(guard_identity.table(rows)), IdentityKey(b"k" * 32))
    ranked = hashlib.sha256(subject.test.arrays["ranked"].astype("<u8").tobytes()).hexdigest()[:16]
    unbound = hashlib.sha256(subject.test.arrays["unbound"].astype("<u8").tobytes()).hexdigest()[:16]
    sketch = hashlib.sha256("".join(one.digest for one in subject.sketches).encode()).hexdigest()[:16]
    found = (subject.digest, subject.train, subject.source, ranked, unbound, sketch)
    assert found == tuple(known[rows].split())


@pytest.mark.parametrize("n", [0, 1, 50, identity.MANY_TO_SORT, identity.MANY_TO_SORT + 7])
def test_sorting_is_that_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    words = rng.integers(0, 2**64, n, dtype=np.uint64)
    few = rng.integers(0, 5, n).astype(np.uint64)
    for one in (words, few):
        before = one.copy()
        assert np.array_equal(identity.ascending(one), np.sort(one))
        assert np.array_equal(one, before)


@pytest.mark.parametrize("n", [60, identity.MANY_TO_SORT + 7])
def test_numbers_are_ordered_with_their_signs_and_the_missing_ones_last(n: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=n).round(2)
    values[:40] = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 1e308, -1e308], 40)
    assert np.array_equal(identity.order_of(values), np.argsort(values, kind="stable"))
    dense, there = Dense.of(values), ~np.isnan(values)
    _, codes, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    assert np.array_equal(dense.codes[there], codes)
    assert (dense.codes[~there] == -1).all()
    assert np.array_equal(dense.counts, counts)
