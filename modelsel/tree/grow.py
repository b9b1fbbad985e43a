"""Grow a tree on some rows of a task: by the compiled kernel, or by the NumPy grower where the criterion has no compiled form.

Repeated rows are rows of larger weight, and rows without weight take no part.
"""

import math
from collections.abc import Callable
from types import ModuleType

import numpy as np

from modelsel.core.types import Integers, Task
from modelsel.kernels import stop
from modelsel.kernels.compiler import function_of, load
from modelsel.kernels.layout import ENTROPY, GENERAL, Limits, Rules
from modelsel.tree.assemble import Grown, assemble
from modelsel.tree.columns import Columns, columns
from modelsel.tree.growth import MISSING, NOMINAL, Criterion, Growth
from modelsel.tree.node import Tree
from modelsel.tree.rows import Rows

WORD = 63  # bits of an entry


def grow(task: Task, rows: Integers, criterion: Criterion, growth: Growth) -> Tree:
    """The fully grown tree on `rows` (repeats allowed). Raises `stop.Stopped` when the stop flag is set meanwhile."""
    chosen, ranked = Rows.of(task, rows), columns(task)
    kernel = load("grow") if criterion.loop is not None else None
    grown = _compiled(kernel, chosen, ranked, criterion, growth) if kernel else _numpy(chosen, ranked, criterion, growth)
    return assemble(grown, task, ranked, chosen.present if growth.threshold == "observed" else None)


def _numpy(chosen: Rows, ranked: Columns, criterion: Criterion, growth: Growth) -> Grown:
    from modelsel.tree.numpy_grower import grow as by_numpy

    return by_numpy(chosen, ranked, criterion, growth)


def _compiled(kernel: ModuleType, chosen: Rows, ranked: Columns, criterion: Criterion, growth: Growth) -> Grown:
    from modelsel.kernels import levels, presort, surrogates, threshold, types

    assert criterion.loop is not None
    task, n = chosen.task, len(chosen.rows)
    id_bits, class_bits = _bits(n), _bits(len(task.classes))
    _check_word(ranked, id_bits + class_bits)
    fused = criterion.fused if chosen.integral and growth.missing != "fractional" else GENERAL
    units, scale = _units(fused, int(chosen.weight.sum()))
    rules = Rules(
        missing=MISSING.index(growth.missing), nominal=NOMINAL[growth.nominal], fused=fused,
        boundary=int(criterion.boundary), convex=int(criterion.convex), ratio=int(criterion.ratio),
        average=int(criterion.average), penalty=int(criterion.penalty),
        unit=int(growth.missing != "fractional" and bool((chosen.weight == 1).all())),
        cautious=int(growth.min_leaf_rule == "c45"),
        max_depth=2**31 if growth.max_depth is None else growth.max_depth, id_bits=id_bits, class_bits=class_bits,
    )  # fmt: skip
    limits = Limits(float(growth.min_leaf), float(growth.min_split), criterion.exponent, scale, float(n))
    number = np.full(len(task), -1, np.int32)
    number[chosen.rows] = np.arange(n, dtype=np.int32)
    entries = presort.pack(
        ranked.order, ranked.codes, ranked.sorted_features, ranked.levels, task.target, number, n, id_bits, class_bits
    )
    cost = np.array([feature.cost for feature in task.features])
    answer = Grown(*kernel.grow(
        entries, chosen.rows.astype(np.int32), chosen.weight.copy(), chosen.counts, ranked.slot, ranked.codes, ranked.levels,
        task.target, cost, units, rules, limits, _function(criterion.loop, types.goodness),
        _function(criterion.worth_loop, types.worth), threshold.search, levels.search, surrogates.mimic_cut,
        surrogates.mimic_levels, stop.FLAG,
    ))  # fmt: skip
    if len(answer.nodes) == 0:
        raise stop.Stopped
    return answer


def _function(plain: Callable[..., float], kind: object) -> object:
    return function_of(plain, kind.signature)  # type: ignore[attr-defined]


def _bits(count: int) -> int:
    """Binary digits that number `count` things from 0."""
    return max(1, math.ceil(math.log2(max(count, 2))))


def _check_word(ranked: Columns, low: int) -> None:
    values = max((len(values) for values in ranked.values), default=0)
    if low + _bits(values + 1) > WORD:
        raise ValueError(
            f"too many rows, classes and distinct values for one {WORD}-bit entry ({low} + {_bits(values + 1)} bits)"
        )


def _units(fused: int, total: int) -> tuple[Integers, float]:
    """n·log2 n as whole numbers of 1/scale, or n², for n = 0 … total; sums of them are exact."""
    if fused == GENERAL:
        return np.zeros(1, np.int64), 1.0
    n = np.arange(total + 1, dtype=np.float64)
    if fused != ENTROPY:
        return np.square(n).astype(np.int64), 1.0
    n[0] = 1.0
    terms = n * np.log2(n)
    scale = 2.0 ** math.floor(61 - math.log2(max(terms[-1], 1.0)))
    return np.rint(terms * scale).astype(np.int64), scale
