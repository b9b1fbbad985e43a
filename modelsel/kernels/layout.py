"""The numbers that compiled code and Python share: kinds of tests, policies for missing values, columns of node records."""

from typing import NamedTuple

LEAF, THRESHOLD, EQUALITY, MULTIWAY, SUBSET = range(5)
NODE_MODE, CLASS_MODE, FRACTIONAL, BRANCH, SURROGATE = range(5)
GENERAL, ENTROPY, GINI = range(3)  # what the grower evaluates by itself, in constant time per cut
SQUARED, DEVIANCE, PINBALL = range(3)  # of trees of numbers: squared error, Poisson deviance, the loss of a quantile

# Where a row goes whose value is missing, when it is not one certain child: into all, or by surrogates, and where none is
# known to child c, written as BY_SURROGATES − c
DIVIDED, BY_SURROGATES = -1, -2
SURROGATES = 5  # kept per node
EXHAUSTIVE = 10  # levels up to which every subset is tried
TIE = 1e-12  # goodness closer than this is equal, and the first test wins

# A node record of the grower, in the order in which nodes are made
PARENT, DEPTH, START, END, TEST, FEATURE, LEFT, RIGHT, FIRST, BRANCHES, MISSING_TO, LEVELS = range(12)
RECORD = 12
MIMIC = 6  # numbers of a surrogate: node, feature, code, next code, flipped, start among the sides (−1: numeric)

# What a search found for one feature
VALUE, CODE, NEXT, CUTS, INFORMATION, SIDE, ABSENT = range(7)
# What a search for a surrogate found
AGREED, WHOLE, MAJORITY, FLIPPED, KNOWN = 0, 3, 4, 5, 6  # CODE and NEXT as above; KNOWN: weight known in both features
# What a leaf is charged beyond its errors: nothing, Wilson's limit, the binomial limit
NOTHING_MORE, BY_DEVIATE, BY_BETA = range(3)
NOTHING = -1.0  # CODE where no test is admissible; CUTS where the feature is constant among the rows


class GrowthRules(NamedTuple):
    """Settings of growing as whole numbers (truth values are 0 and 1)."""

    missing: int  # NODE_MODE … SURROGATE
    nominal: int  # EQUALITY, MULTIWAY or SUBSET
    fused: int  # GENERAL, ENTROPY, GINI: what is evaluated from tables of whole numbers
    formula: int  # the same, whatever the weights
    boundary: int  # the best cut lies between two classes (Fayyad & Irani 1992)
    convex: int  # for two classes the best subset is a prefix of the levels in order of class share
    ratio: int  # divide by split information between features
    average: int  # only features of at least average gain compete
    penalty: int  # numeric gain less log2(cuts)/N
    unit: int  # all weights are one
    cautious: int  # min_leaf_rule: c45
    max_depth: int
    id_bits: int  # an entry is code | class | number of the row in its node
    class_bits: int
    by_count: int  # surrogates compete by the weight that they send the same way, not by its share of what they know


class GrowthLimits(NamedTuple):
    """Settings of growing as real numbers."""

    least: float  # weight that a branch must have, less what rounding may have lost of it
    room: float  # weight from which a node may be divided, likewise
    exponent: float  # the criterion's own parameter
    scale: float  # units of the n·log2 n table
    rows: float  # of the whole training set
