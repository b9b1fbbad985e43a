"""Mutants that no test can kill, since they change no answer, each named by a part of its line and its change, with the reason.

They are left out before a sample is drawn. Where the line is gone, or no longer has such an operator, the run says so.
"""

from collections.abc import Iterator, Sequence

from mutation.operators import ROOT, Mutant

SIGN = "a sign is −1 or 1: to divide by it is to multiply by it, and it is never nought"
CACHE = "it decides what is kept or read again, never what is said"
SPEED = "both ways give the same, from which size on decides about time alone"
TEXT = "the wording of a message"
AGAIN = "what was found sound is judged once more, with the same result"
NOBODY = "what is compared besides agrees with nothing: other tables are left out to save time"
ALIKE = "equal counts cannot be told apart, which is decided before"
ITSELF = "only a seal beside itself has its number, and that declares the same space"
CONTINUOUS = "real numbers (means of squares, seconds, widths of intervals, noise) do not meet their limit"
EXACT = "two to the 24th is itself exact in single precision"
PLENTY = "of just so many all are taken either way"
MASK = "a mask and its opposite tell the same rows apart"
FURTHER = "more are drawn than asked for, and the first of them are the same"
NOWHERE = "any number that is as far says as little"
BEST = "nothing agrees better than wholly"
NOTHING = "where nothing came but something changed, what is compared besides differs too: all are examined either way"
COUNTED = "what it lets by is counted exactly afterwards"
IMPOSSIBLE = "it stands where nothing is possible, and nought is put in its place"
EMPTY = "a branch without rows gets none, visited or not"
UNLIKE = "any text that no other column has says the same"
INFINITE = "δ of 0 has no finite number of nats, which is a fault besides"
NOISE = "noise falls to either side alike"
MARGIN = "a few pixels of margin beside those that the scale leaves itself"
GOLDEN = "the golden ratio and its reciprocal have the same fraction"
EITHER = "where both are equal, either is the same"
BOTH = "what has one of them has the other: a sparse matrix of SciPy"
ENOUGH = "a node of less than twice the least leaf has no test that leaves both branches enough"
ZERO = "minus nought was made nought before: no number has just this bit"

EQUIVALENT: tuple[tuple[str, str, str, str], ...] = (
    ("modelsel/ledger/portraits/likeness.py", "turned = np.where(pairing.signs[:, None] < 0", "Lt -> LtE", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "(left * turned[:, :, None, None] * turned - right)", "Mult -> Div", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "within = (diagonal(left) * turned", "Mult -> Div", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "if mean[worst] <= FIT", "LtE -> Lt", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "self.near < NEAR and self.nats > SURE", "Lt -> LtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "self.near < NEAR and self.nats > SURE", "Gt -> GtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "< FIT:", "Lt -> LtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "np.where(pairing.signs < 0, self._with_turned", "Lt -> LtE", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "np.where(pairing.signs < 0, self._with_turned", "Mult -> Div", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "self._apart(one, right) - unknown", "Mult -> Div", SIGN),
    ("modelsel/ledger/portraits/portrait.py", "@lru_cache(maxsize=", "Mult -> Div", CACHE),
    ("modelsel/ledger/rows/identity.py", ">= MANY", "GtE -> Gt", SPEED),
    ("modelsel/ledger/rows/hash_index.py", "if len(other.halves) < 2 * len(part.halves)", "Mult -> Div", CACHE),
    ("modelsel/ledger/rows/hash_index.py", "if len(other.halves) < 2 * len(part.halves)", "Lt -> LtE", CACHE),
    ("modelsel/ledger/rows/hash_index.py", "<= LARGE and digest not in self._fresh", "LtE -> Lt", CACHE),
    ("modelsel/ledger/rows/row_set.py", "while self._size > MOST", "Gt -> GtE", CACHE),
    ("modelsel/ledger/database/reading.py", "max(FEWEST, self._kept + FURTHER)", "Lt -> LtE", CACHE),
    ("modelsel/ledger/database/reading.py", "if base is None and self._judged is not None", "Is -> IsNot", CACHE),
    ("modelsel/ledger/portraits/likeness.py", "if len(drawn) < count:", "Lt -> LtE", CACHE),
    ("modelsel/guard/matching.py", 'if testset != subject.digest and facts["key_id"]', "And -> Or", NOBODY),
    ("modelsel/guard/access/authorize.py", "0 <= _age(", "LtE -> Lt", CONTINUOUS),
    ("modelsel/ledger/database/schema.py", 'connection.engine.url.database or ""', "Or -> And", TEXT),
    ("modelsel/ledger/rows/matching.py", "for group in groups.values() if len(group) > 1", "Gt -> GtE", NOBODY),
    ("modelsel/guard/quarantine.py", 'again = any(entry.kind == "seal" and', "And -> Or", AGAIN),
    ("modelsel/guard/matching.py", "np.maximum(0, size - (pool - held))", "Sub -> Add", IMPOSSIBLE),
    ("modelsel/guard/matching.py", "if not (last > first).any()", "Gt -> GtE", SPEED),
    ("modelsel/guard/quarantine.py", "if answer.price < least - 1e-6", "Lt -> LtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "np.float32 if rows < EXACT", "Lt -> LtE", EXACT),
    ("modelsel/ledger/portraits/likeness.py", "variance > 0.02", "Gt -> GtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "if probed.near > FAR", "Gt -> GtE", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "& (pairing.signs > 0)", "Gt -> GtE", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "for _ in range(min(step, count - start))", "Sub -> Add", FURTHER),
    ("modelsel/ledger/portraits/likeness.py", "right, NOWHERE / 2)", "Div -> Mult", NOWHERE),
    ("modelsel/ledger/portraits/likeness.py", "_squares(means[0] * sign, means[1]) / scale", "Mult -> Div", SIGN),
    ("modelsel/ledger/portraits/likeness.py", "best <= SLACK", "LtE -> Lt", CONTINUOUS),
    ("modelsel/ledger/portraits/likeness.py", "pairs <= SLACK", "LtE -> Lt", CONTINUOUS),
    ("modelsel/ledger/portraits/variables.py", "if len(found) <= MOST", "LtE -> Lt", PLENTY),
    ("modelsel/ledger/portraits/variables.py", "has == has[0]", "Eq -> NotEq", MASK),
    ("modelsel/ledger/rows/channels.py", "enough = DISTINCT * len(table)", "Mult -> Div", COUNTED),
    ("modelsel/ledger/rows/channels.py", ".max() < REGULAR", "Lt -> LtE", CONTINUOUS),
    ("modelsel/ledger/rows/identity.py", "bits >= SIGN", "GtE -> Gt", ZERO),
    ("modelsel/ledger/rows/matching.py", "if score < 1 else 0.0", "Lt -> LtE", BEST),
    ("modelsel/ledger/database/reading.py", "not 0 < len(fresh) <= MANY", "Lt -> LtE", NOTHING),
    ("modelsel/ledger/database/reading.py", "not 0 < len(fresh) <= MANY", "LtE -> Lt", SPEED),
    ("modelsel/ledger/database/reading.py", "not 0 < sum(grown.values()) <= MANY", "Lt -> LtE", NOTHING),
    ("modelsel/ledger/database/reading.py", "not 0 < sum(grown.values()) <= MANY", "LtE -> Lt", SPEED),
    ("modelsel/statistics/certificate.py", "return end if excess(edge) <= 0", "LtE -> Lt", CONTINUOUS),
    ("modelsel/statistics/certificate.py", "if nats <= DEEP else inf", "LtE -> Lt", SPEED),
    ("modelsel/guard/release.py", "<= 4 / sqrt(self.n) + noise[0]", "LtE -> Lt", CONTINUOUS),
    ("modelsel/guard/access/apart.py", "1 if better > worse else 2", "Gt -> GtE", ALIKE),
    ("modelsel/guard/checks/declared_space.py", "other.seq > seal.seq", "Gt -> GtE", ITSELF),
    ("modelsel/guard/reporting/forecast.py", "return (high - low) / 2 > width", "Gt -> GtE", CONTINUOUS),
    ("modelsel/tree/routing.py", "for each in np.flatnonzero((np.diff(starts) > 0)", "Gt -> GtE", EMPTY),
    ("modelsel/dataset/profile.py", "if marks[column.mark] > 1 else str(column.mark)", "Gt -> GtE", UNLIKE),
    ("modelsel/certificates/verifier.py", "type(one.delta) is float and 0 < one.delta <= 0.5", "Lt -> LtE", INFINITE),
    ("modelsel/comparison/bbc.py", "able |= (mean[:, out] <=", "LtE -> Lt", CONTINUOUS),
    ("modelsel/reporting/sections/slices.py", "up, across = Scale.of([low, high], BOTTOM - 4, TOP + 4", "Add -> Sub", MARGIN),
    ("modelsel/reporting/sections/slices.py", "fraction = index * 0.618", "Mult -> Div", GOLDEN),
    ("modelsel/reporting/charts.py", "if m * power >= rough * 0.999", "GtE -> Gt", CONTINUOUS),
    ("modelsel/reporting/dossier.py", 'if one["adjusted"] < 0.05', "Lt -> LtE", CONTINUOUS),
    ("modelsel/tree/growing/assemble.py", "np.where((low <= middle) & (middle < high), middle, low)", "LtE -> Lt", EITHER),
    ("modelsel/sharing/lightgbm.py", "for value in values if value > len(leaves)", "Gt -> GtE", EITHER),
    ("modelsel/tree/growing/numpy_grower.py", "room = max(growth.min_split, 2 * growth.min_leaf)", "Mult -> Div", ENOUGH),
    ("modelsel/distance/search.py", 'if "tree" in possible and features <= 4', "LtE -> Lt", SPEED),
    ("modelsel/runner/evaluation/context.py", 'if hasattr(data, "tocsr") and hasattr(data, "nnz")', "And -> Or", BOTH),
    ("modelsel/ledger/database/store.py", 'cause = getattr(error, "orig", None) or error', "Or -> And", TEXT),
)


def without(found: Sequence[Mutant]) -> list[Mutant]:
    """The mutants but for the equivalent ones; ValueError where one that is named is not among them."""
    named = {one: [mutant for mutant in found if _is(mutant, one)] for one in EQUIVALENT}
    gone = [one for one, there in named.items() if not there and any(mutant.place == one[0] for mutant in found)]
    if gone:
        raise ValueError(f"no such operator any more: {gone}")
    known = {mutant for there in named.values() for mutant in there}
    return [mutant for mutant in found if mutant not in known]


def _is(mutant: Mutant, named: tuple[str, str, str, str]) -> bool:
    place, part, change, _ = named
    return (mutant.place, mutant.change) == (place, change) and any(part in line for line in _lines(mutant))


def _lines(mutant: Mutant) -> Iterator[str]:
    text = (ROOT / mutant.place).read_text("utf-8").splitlines()
    yield from text[mutant.first - 1 : mutant.last]
