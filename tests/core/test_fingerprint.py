"""Identities are hashes of values: the order of keys, the type of a whole number and the layout of an array say nothing."""

import hashlib

import numpy as np
import pytest

from modelsel.core.fingerprint import array_digest, canonical, digest


def test_equal_values_are_one_text() -> None:
    assert canonical({"b": 1.0, "a": [2]}) == canonical({"a": (2,), "b": 1}) == '{"a":[2],"b":1}'


def test_a_digest_is_the_sha_256_of_that_text() -> None:
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()[:32]


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"(?i)nan|compliant"):
        canonical(float("nan"))


def test_an_array_is_its_values_type_and_shape() -> None:
    square = np.arange(6.0).reshape(2, 3)
    assert array_digest(square) == array_digest(np.asfortranarray(square))
    tall = np.arange(20_000.0).reshape(10_000, 2)
    assert array_digest(tall) == array_digest(np.asfortranarray(tall))
    others = (square.ravel(), square.astype("f4"), square.T, square + 0.5, None)
    assert len({array_digest(square), *map(array_digest, others)}) == 6
