"""A kernel compiled at once answers as plain Python does, and Numba is afterwards as it was."""

import functools
import gc
import operator

import numba
import numpy as np
import pytest
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig

from modelsel.kernels.at_once import KNOWN, at_once

known_version = pytest.mark.skipif(not numba.__version__.startswith(KNOWN), reason="Numba compiles in its own way")
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def pieces_and_whole():
    """A kernel, the piece that it calls, and the piece that this one calls; not compiled."""

    @numba.njit(**INNER)
    def known(value):
        if value < 0.0:
            raise ValueError("a value below zero")
        return value

    @numba.njit(**INNER)
    def sums(values):
        found = np.zeros(len(values))
        for i in range(len(values)):
            found[i] = known(values[i]) + (found[i - 1] if i else 0.0)
        return found

    @numba.njit(error_model="numpy")
    def mean(values):
        return sums(values)[-1] / len(values)

    return known, sums, mean


def _library(dispatcher) -> JITCodeLibrary:
    return next(iter(dispatcher.overloads.values())).library


def sum_in_order(values: list[float]) -> float:
    return functools.reduce(operator.add, values)  # `sum` of floats compensates


@known_version
def test_only_the_whole_becomes_machine_code_and_answers_to_the_last_bit() -> None:
    values = np.random.default_rng(0).random(1_000)
    known, sums, whole = pieces_and_whole()
    with at_once():
        whole.compile((types.Array(types.float64, 1, "C"),))
    assert whole(values) == sum_in_order(values.tolist()) / 1_000
    assert [_library(each).made for each in (known, sums, whole)] == [False, False, True]
    with pytest.raises(ValueError, match="a value below zero"):
        whole(-values)


def test_numba_is_as_it_was_whatever_happened_meanwhile() -> None:
    codegen = cpu_target.target_context.codegen()
    before = TargetConfig.values, TargetConfig.__eq__, codegen._library_class, codegen.set_env
    with pytest.raises(TypingError), at_once():
        numba.njit(lambda x: x.no_such_thing).compile((types.float64,))
    assert before == (TargetConfig.values, TargetConfig.__eq__, codegen._library_class, codegen.set_env)
    assert gc.isenabled()


def test_another_version_of_numba_compiles_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba, "__version__", "9.9.0")
    codegen = cpu_target.target_context.codegen()
    with at_once():
        assert codegen._library_class is JITCodeLibrary


@pytest.mark.slow
def test_a_piece_that_was_left_as_it_is_serves_another_caller() -> None:
    known, _, whole = pieces_and_whole()
    with at_once():
        whole.compile((types.Array(types.float64, 1, "C"),))
    assert numba.njit(lambda x: known(x) + 1)(1.0) == 2.0
