"""The types that kernels agree on, so that each is compiled once, for read-only and contiguous arrays."""

from typing import Any

from numba import types

from modelsel.kernels.layout import Limits, Rules

real, whole, nothing = types.float64, types.int64, types.void
reals = types.Array(types.float64, 1, "C")
matrix = types.Array(types.float64, 2, "C")
wholes = types.Array(types.int64, 1, "C")
entries = types.Array(types.int64, 2, "C")
codes = types.Array(types.int32, 1, "C")
flags = types.Array(types.uint8, 1, "C")
fixed_reals = types.Array(types.float64, 1, "C", readonly=True)
fixed_wholes = types.Array(types.int64, 1, "C", readonly=True)
fixed_codes = types.Array(types.int32, 1, "C", readonly=True)
fixed_columns = types.Array(types.int32, 2, "C", readonly=True)
rules = types.NamedUniTuple(types.int64, len(Rules._fields), Rules)
limits = types.NamedUniTuple(types.float64, len(Limits._fields), Limits)

goodness = types.FunctionType(real(matrix))  # branches × classes of weights -> goodness
worth = types.FunctionType(real(real, real, real))  # goodness, cost of the feature, exponent -> what features compete with
threshold_search = types.FunctionType(
    nothing(wholes, reals, reals, whole, rules, limits, fixed_wholes, goodness, matrix, entries, wholes, reals)
)
level_search = types.FunctionType(
    nothing(
        fixed_codes,
        codes,
        fixed_codes,
        reals,
        reals,
        whole,
        rules,
        limits,
        fixed_wholes,
        goodness,
        matrix,
        matrix,
        wholes,
        wholes,
        flags,
        reals,
    )
)


def grown(*arguments: Any) -> Any:
    """Signature of a grower: node records, goodness, class weights, marks of levels."""
    records = types.Array(types.int64, 2, "C")
    return types.Tuple((records, reals, matrix, flags))(*arguments)
