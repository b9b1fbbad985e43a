"""Grow a tree on some rows of a task: by the compiled kernel, or by the NumPy grower where the criterion has no compiled form.

Repeated rows are rows of larger weight, and rows without weight take no part.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import ModuleType

import numpy as np

from modelsel.core.types import ClassTask, Integers
from modelsel.kernels import stop
from modelsel.kernels.compiler import function_of, is_wanted, load_compiled
from modelsel.kernels.layout import ENTROPY, GENERAL, GrowthLimits, GrowthRules
from modelsel.tree.growing.assemble import GrowerOutput, assemble
from modelsel.tree.growing.columns import RankedColumns, WeightedRows, columns
from modelsel.tree.growing.growth import BaseCriterion, GrowthParams, bits_for, same
from modelsel.tree.growing.late_surrogates import Finder, by_surrogates, later
from modelsel.tree.node import DecisionTree

WORD, ENTRY = 63, 32  # bits of an entry, and of one without a code


def grow(task: ClassTask, rows: Integers, criterion: BaseCriterion, growth: GrowthParams) -> DecisionTree:
    """The fully grown tree on `rows` (repeats allowed). Raises `stop.Stopped` when the stop flag is set meanwhile."""
    chosen, ranked = WeightedRows.of(task, rows), columns(task)
    late = growth.missing == "surrogate" and ranked.known and chosen.unit and criterion.loop is not None and is_wanted()
    tree = _grow(chosen, ranked, criterion, replace(growth, missing="node_mode") if late else growth)
    return later(by_surrogates(tree), Finder(chosen, ranked, bits_for(len(chosen.rows)))) if late else tree


def _grow(chosen: WeightedRows, ranked: RankedColumns, criterion: BaseCriterion, growth: GrowthParams) -> DecisionTree:
    """Grow by the compiled grower, or by NumPy's where the criterion has no compiled form."""
    grown = _grow_compiled(chosen, ranked, criterion, growth) if criterion.loop is not None else None
    if grown is None:
        grown = _grow_by_numpy(chosen, ranked, criterion, growth)
    if len(grown.nodes) == 0:
        raise stop.Stopped
    return assemble(grown, chosen.task, ranked, chosen.rows if growth.threshold == "observed" else None)


def _grow_by_numpy(chosen: WeightedRows, ranked: RankedColumns, criterion: BaseCriterion, growth: GrowthParams) -> GrowerOutput:
    from modelsel.tree.growing.numpy_grower import grow as by_numpy

    return by_numpy(chosen, ranked, criterion, growth)


def _grow_compiled(
    chosen: WeightedRows, ranked: RankedColumns, criterion: BaseCriterion, growth: GrowthParams
) -> GrowerOutput | None:
    """Records of the compiled grower that is enough; None where it cannot be compiled."""
    fused = criterion.fused if chosen.integral else GENERAL
    plain = ranked.known and chosen.unit and criterion.worth_loop is same
    if fused != GENERAL and plain:
        settings = _settings(chosen, fused, criterion, growth)
        if settings[0].id_bits + settings[0].class_bits < ENTRY and (kernel := load_compiled("grow_counted")):
            return _grow_counted(kernel, chosen, ranked, *settings)
    kernel = load_compiled("grow")
    if kernel is None:
        return None
    return _grow_general(kernel, chosen, ranked, criterion, *_settings(chosen, fused, criterion, growth))


def _settings(
    chosen: WeightedRows, fused: int, criterion: BaseCriterion, growth: GrowthParams
) -> tuple[GrowthRules, GrowthLimits, Integers]:
    """Return a kernel's settings, and its table."""
    n = len(chosen.rows)
    units, scale = _units(fused, int(chosen.weight.sum()))
    rules = growth.rules(
        n, chosen.unit, fused=fused, formula=criterion.fused, boundary=int(criterion.boundary), convex=int(criterion.convex),
        ratio=int(criterion.ratio), average=int(criterion.average), penalty=int(criterion.penalty),
        class_bits=bits_for(len(chosen.task.classes)),
    )  # fmt: skip
    return rules, growth.limits(n, criterion.exponent, scale), units


def _grow_counted(
    kernel: ModuleType, chosen: WeightedRows, ranked: RankedColumns, rules: GrowthRules, limits: GrowthLimits, units: Integers
) -> GrowerOutput:
    """Grow by the kernel for complete columns and rows of weight one."""
    rows = chosen.rows.astype(np.int32)
    return GrowerOutput(*kernel.grow(
        ranked.order, ranked.codes, ranked.levels, chosen.task.target, rows, chosen.counts, units, rules, limits, stop.FLAG
    ))  # fmt: skip


def _grow_general(
    kernel: ModuleType,
    chosen: WeightedRows,
    ranked: RankedColumns,
    criterion: BaseCriterion,
    rules: GrowthRules,
    limits: GrowthLimits,
    units: Integers,
) -> GrowerOutput:
    """Grow by the general kernel."""

    from modelsel.kernels import types
    from modelsel.kernels.growth import levels, surrogates
    from modelsel.kernels.splits import presort, threshold

    assert criterion.loop is not None
    task, n = chosen.task, len(chosen.rows)
    check_word(ranked, rules.id_bits + rules.class_bits)
    entries = presort.pack(
        ranked.order, ranked.codes, ranked.sorted_features, ranked.levels, task.target, chosen.number, n,
        rules.id_bits, rules.class_bits,
    )  # fmt: skip
    cost = np.array([feature.cost for feature in task.features if criterion.worth_loop is not same])
    return GrowerOutput(*kernel.grow(
        entries, chosen.rows.astype(np.int32), chosen.weight.copy(), chosen.counts, ranked.slot, ranked.codes, ranked.levels,
        task.target, cost, units, rules, limits, _function(criterion.loop, types.goodness),
        _function(criterion.worth_loop, types.worth), threshold.search, levels.search, surrogates.mimics, stop.FLAG,
    ))  # fmt: skip


def _function(plain: Callable[..., float], kind: object) -> object:
    return function_of(plain, kind.signature)  # type: ignore[attr-defined]


def check_word(ranked: RankedColumns, low: int) -> None:
    """Check that a rank, a class and a row fit into one sorted word."""
    values = max((len(values) for values in ranked.values), default=0)
    if low + bits_for(values + 1) > WORD:
        raise ValueError(
            f"too many rows, classes and distinct values for one {WORD}-bit entry ({low} + {bits_for(values + 1)} bits)"
        )


@lru_cache(maxsize=4)
def _units(fused: int, total: int) -> tuple[Integers, float]:
    """n·log2 n as whole numbers of 1/scale, or n², for n = 0 … total; sums of them are exact."""
    if fused == GENERAL:
        return _read_only(np.zeros(1, np.int64)), 1.0
    n = np.arange(total + 1, dtype=np.float64)
    if fused != ENTROPY:
        return _read_only(np.square(n).astype(np.int64)), 1.0
    n[0] = 1.0
    terms = n * np.log2(n)
    scale = 2.0 ** math.floor(61 - math.log2(max(terms[-1], 1.0)))
    return _read_only(np.rint(terms * scale).astype(np.int64)), scale


def _read_only(table: Integers) -> Integers:
    table.flags.writeable = False
    return table
