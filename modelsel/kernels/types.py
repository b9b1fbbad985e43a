"""The types that kernels agree on, so that each is compiled once, for read-only and contiguous arrays."""

from numba import types

from modelsel.kernels.layout import GrowthLimits, GrowthRules

real, whole, word, nothing, truth = types.float64, types.int64, types.uint64, types.void, types.boolean
reals = types.Array(types.float64, 1, "C")
matrix = types.Array(types.float64, 2, "C")
cube = types.Array(types.float64, 3, "C")
wholes = types.Array(types.int64, 1, "C")
entries = types.Array(types.int64, 2, "C")
codes = types.Array(types.int32, 1, "C")
fixed_entries = types.Array(types.int64, 2, "C", readonly=True)
flags = types.Array(types.uint8, 1, "C")
fixed_reals = types.Array(types.float64, 1, "C", readonly=True)
strided_reals = types.Array(types.float64, 1, "A", readonly=True)
fixed_wholes = types.Array(types.int64, 1, "C", readonly=True)
fixed_codes = types.Array(types.int32, 1, "C", readonly=True)
fixed_columns = types.Array(types.int32, 2, "C", readonly=True)
fixed_rows = types.Array(types.float64, 2, "C", readonly=True)  # features × rows
fixed_words = types.Array(types.uint64, 2, "C", readonly=True)
fixed_bits = types.Array(types.uint64, 1, "C", readonly=True)
words = types.Array(types.uint64, 2, "C")
bits = types.Array(types.uint64, 1, "C")
columns = types.Array(types.int32, 2, "C")
fixed_bytes = types.Array(types.int8, 1, "C", readonly=True)
fixed_flags = types.Array(types.uint8, 1, "C", readonly=True)
fixed_booleans = types.Array(types.boolean, 1, "C", readonly=True)
fixed_marks = types.Array(types.boolean, 2, "C", readonly=True)
rules = types.NamedUniTuple(types.int64, len(GrowthRules._fields), GrowthRules)
limits = types.NamedUniTuple(types.float64, len(GrowthLimits._fields), GrowthLimits)

goodness = types.FunctionType(real(matrix))  # branches × classes of weights -> goodness
worth = types.FunctionType(real(real, real, real))  # goodness, cost of the feature, exponent -> what features compete with
threshold_search = types.FunctionType(
    nothing(wholes, reals, reals, whole, rules, limits, fixed_wholes, wholes, goodness, matrix, entries, wholes, reals)
)
level_search = types.FunctionType(
    nothing(
        fixed_codes, codes, codes, wholes, whole, reals, reals, whole, rules, limits, fixed_wholes, goodness, matrix, matrix,
        entries, wholes, flags, reals,
    )
)  # fmt: skip
mimics = types.FunctionType(
    nothing(
        entries, fixed_wholes, fixed_columns, fixed_wholes, whole, whole, codes, reals, wholes, whole, flags, rules, codes,
        wholes, wholes, matrix, entries, matrix, wholes,
    )
)  # fmt: skip


def of_grower(*arguments: object) -> object:
    """Signature of a grower: node records, goodness, class weights, marks of levels; surrogates, agreements, sides."""
    records = types.Array(types.int64, 2, "C")
    return types.Tuple((records, reals, matrix, flags, records, reals, wholes))(*arguments)


def grown_numbers(*arguments: object) -> object:
    """Signature of a grower by squared error: node records, goodness, whole sums, sums of squares about the mean."""
    return types.Tuple((entries, reals, entries, reals))(*arguments)


# levels per feature; then per surrogate: first (by node), feature, threshold, flipped, start among sides (−1: numeric), sides
surrogates = types.Tuple((fixed_codes, fixed_codes, fixed_codes, fixed_reals, fixed_flags, fixed_codes, fixed_bytes))

# what a lone row walks by: test, feature, threshold, first, child, where missing values go, majority, start of marks, marks
plain_tree = types.Tuple((
    fixed_bytes, fixed_codes, fixed_reals, fixed_codes, fixed_codes, fixed_codes, fixed_codes, fixed_codes, fixed_flags,
))  # fmt: skip


def late(*arguments: object) -> object:
    """Signature of `find`: records of surrogates and their agreements."""
    return types.Tuple((entries, reals))(*arguments)


def of_packer(*arguments: object) -> object:
    """Signature of `pack`: columns that are tested, children by level."""
    return types.Tuple((wholes, codes))(*arguments)


def forest_tree(*arguments: object) -> object:
    """Signature of a forest's grower.

    Nodes; thresholds and goodness of tests; class weights of leaves (where each leaf's begin, classes, weights); marks.
    """
    return types.Tuple((columns, reals, reals, codes, codes, reals, flags))(*arguments)


def parents(*arguments: object) -> object:
    """Signature of `parents`: two numbers per node."""
    return types.Tuple((codes, codes))(*arguments)


def cuts(*arguments: object) -> object:
    """Signature of `number`: thresholds feature by feature, and how many each has."""
    return types.Tuple((reals, wholes))(*arguments)


def node_lists(*arguments: object) -> object:
    """Signature of `listed`: start and end per node, classes, weights."""
    return types.Tuple((codes, codes, codes, reals))(*arguments)


def of_walk(*arguments: object) -> object:
    """Signature of a walk: owner, leaf and part of each fragment, rows that met an unseen level."""
    return types.Tuple((wholes, codes, reals, types.int64))(*arguments)


def of_ends(*arguments: object) -> object:
    """Signature of `ends`, per tree: a node per node, and the number of leaves."""
    return types.Tuple((columns, wholes))(*arguments)


# what rows walk by when subtrees are raised: test, feature, threshold, first, where missing values go, majority, start of
# marks, marks, levels per feature, nodes per subtree
grown_tree = types.Tuple((
    fixed_bytes, fixed_codes, fixed_reals, fixed_codes, fixed_codes, fixed_codes, fixed_codes, fixed_flags, fixed_codes,
    fixed_codes,
))  # fmt: skip
upper = types.FunctionType(real(real, real, real, types.int32))  # the inverse of the incomplete beta function


def of_raising(*arguments: object) -> object:
    """Signature of pruning with raising: nodes that stand, leaves, parents, class weights, whether any was raised."""
    marks = types.Array(types.boolean, 1, "C")
    return types.Tuple((marks, marks, codes, matrix, types.boolean))(*arguments)
