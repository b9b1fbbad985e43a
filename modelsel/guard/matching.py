"""Find remembered sets that share rows with the ones now sealed, and decide whether that is more than chance.

Where all rows are distinct, and not by luck, equal values mean the same row. Elsewhere values coincide by chance, and they
count only where they are more than that (`_chance`); where they are, and nearly all are distinct (u ≥ .95), a row whose values
were there was there. What the rows themselves (C1) do not show, the other channels may (`ledger.rows.channels`).
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log, sqrt

import numpy as np
from scipy.special import gammaln

from modelsel.core.fingerprint import generator
from modelsel.core.types import Booleans, Floats, Integers
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History
from modelsel.guard.joining import OtherLedgers
from modelsel.ledger.entry import Brief, LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.designs import TableSketch, equal_by_chance
from modelsel.ledger.portraits.likeness import Halves, likeness, may_be_same
from modelsel.ledger.portraits.portrait import Portrait
from modelsel.ledger.portraits.triples import BY_CHANCE, LEAST, shared_by_chance, shared_triples
from modelsel.ledger.portraits.waves import SURE, OwnWaves
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.identity import Hashes, is_among, occurrences, tally
from modelsel.ledger.rows.matching import table_sketches
from modelsel.ledger.rows.row_set import RowSet, containment, shared_rows

# The number of rows that two sets share by chance, where values repeat.
#
# A content stands T times among the n rows and K times in a pool of N; of m rows drawn from the pool H hold it, which is
# hypergeometric. The overlap expected is Σ E min(T, H), and its variance at most Σ Var min(T, H): such counts, each of which
# leaves less room to the others, are negatively associated (Joag-Dev & Proschan 1983). It is reckoned by contents, not by
# draws, so that it is the same under every key that hashed them.

MARGIN = 0.02


def expected_overlap(rows: Hashes, pool: Hashes, size: int) -> tuple[float, float]:
    """Mean and standard deviation of the share of rows that stand in `size` rows of the pool, each as often as there.

    >>> expected_overlap(np.array([7, 7, 9], np.uint64), np.array([7, 8], np.uint64), 1)
    (0.16666666666666666, 0.16666666666666666)
    """
    contents, times = tally(rows)
    starts = np.cumsum(times) - times
    held, size = np.repeat(occurrences(contents, pool), times), min(size, len(pool))
    turn = np.arange(len(rows)) - np.repeat(starts, times)
    probability = _hypergeometric(turn, held, len(pool), size)
    summed = np.cumsum(probability)
    above = 1 - (summed - np.repeat((summed - probability)[starts], times))  # P(H > 0), P(H > 1), … of each content
    mean, square = np.add.reduceat(above, starts), np.add.reduceat((2 * turn + 1) * above, starts)
    variance = max(0.0, float(np.sum(square - mean**2)))
    return float(mean.sum()) / len(rows), sqrt(variance) / len(rows)


def more_than_chance(rows: Hashes, stored: Hashes, own: Hashes, margin: float = MARGIN, judged: bool | None = None) -> bool:
    """Say whether rows stand in a stored set more often than a fresh sample of the same kind would.

    With q the share that `own` rows, as many as are stored, would repeat, and s its deviation, more is above
    q + max(margin, 3 s, 3 √(q (1 − q) / n)). Of a stored set larger than `own` as many rows as `own` has are thought drawn:
    what still more rows would repeat, nobody knows. Without rows of one's own (an exam of the whole table) chance cannot be
    judged, and any row that stands there counts; `judged` says so where `own` is a part in which none may lie, and then chance
    repeats none.
    """
    n, size = len(rows), min(len(stored), len(own))
    if not (len(own) if judged is None else judged):
        return bool(np.isin(rows, stored).any())
    if not n or not len(stored):
        return False
    mean, deviation = expected_overlap(rows, own, size) if size else (0.0, 0.0)
    q = (mean * n + 1) / (n + 2)  # not quite nought in a small set
    return expected_overlap(rows, stored, size or len(stored))[0] > q + max(margin, 3 * deviation, 3 * sqrt(q * (1 - q) / n))


def _hypergeometric(value: Integers, held: Integers, pool: int, size: int) -> Floats:
    """P(H = value) for `size` of `pool` rows, `held` of which are of one content."""
    possible = (value <= held) & (size - value <= pool - held) & (value <= size)
    h = np.where(possible, value, np.maximum(0, size - (pool - held)))
    log = _choose(held, h) + _choose(pool - held, size - h) - _choose(np.asarray(pool), np.asarray(size))
    result: Floats = np.where(possible, np.exp(log), 0.0)
    return result


def _choose(n: Integers, k: Integers) -> Floats:
    result: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result


SAME = 0.9  # shared rows per rows of either set from which two sets are one with a few rows more or less
ALIKE = 0.5  # shared column names from which equal declared identities mean equal rows
MORE = 1.5  # times as many rows by which a less telling channel is the stronger one
DESIGN = "design"
AS_LIKELY = 5.0  # times as many equal rows as by chance, from which they are more than measurements that happen to agree
QUASI, FEWEST = 0.2, 10  # share and number of a column's values that must be met again


@dataclass(frozen=True, eq=False)
class Relation:
    """A remembered set that shares rows: in which role it was used, how many rows, which ones, and how that is known."""

    testset: str
    role: str  # test or selection; or design, where days, places or persons are the same and the measurements are not
    rows: int
    share: float
    seen: Booleans  # per test row
    same: bool = False
    exact: bool = True  # False where only a sketch was kept: `seen` is then incomplete
    channel: str = "C1"
    other: str | None = None  # the name of the target there (empty: unknown), where that is another one
    declared: bool = False  # is it said that it is

    @property
    def linked(self) -> bool:
        """Say whether the table was recognised without any of its rows."""
        return self.rows == 0

    def facts(self) -> dict[str, object]:
        return {"with": self.testset, "as": self.role, "rows": self.rows, "share": round(self.share, 6), "by": self.channel}


@dataclass(frozen=True, eq=False)
class RowSetIndex:
    """The data that a set is compared with.

    The history, the stored row sets, the key that hashed them, and an index of hashes where there is one.
    """

    history: History
    load: Callable[[str], RowSet]
    key: IdentityKey
    hashes: HashIndex | None = None
    ahead: Callable[[Sequence[str]], None] | None = None  # reads many row sets at once, before they are asked for

    def comparable_rows(self, digest: str | None, subject: RowFingerprints) -> RowSet | None:
        """A stored set that has to be compared; None where none is kept, or it certainly shares no hash."""
        if digest is None or self.hashes is None:
            return None if digest is None else self.load(digest)
        what = ("apart", self.key.id)
        if what not in subject.met:
            columns = ((values, _enough(values)) for values in subject.remembered(self.key).values())
            subject.met[what] = self.hashes.without((np.concatenate([*subject.test.arrays.values()]), 1), *columns)
        if digest in subject.met[what]:
            return None
        stored = self.load(digest)
        self.hashes.take(digest, stored)
        return stored


def relations(subject: RowFingerprints, memory: RowSetIndex) -> tuple[Relation, ...]:
    """All remembered sets that share rows with these: the same set first, then by share."""
    found = [*_tests(subject, memory), *_selections(subject, memory)]
    return tuple(sorted(found, key=lambda relation: (not relation.same, -relation.share, relation.testset)))


def _tests(subject: RowFingerprints, memory: RowSetIndex) -> Iterable[Relation]:
    """Yield the relations between these rows and each set that was sealed or looked at."""
    n = len(subject.test.bound)
    if subject.digest in memory.history.seals or memory.history.looks_at([subject.digest]):
        yield Relation(subject.digest, "test", n, 1.0, np.ones(n, bool), same=True)
    for stated in (entry.brief for entry in memory.history.descriptions):
        if stated.testset != subject.digest and stated.key_id == memory.key.id:
            what = ("test", stated.testset, str(stated.rows), str(stated.portrait))
            relation = _once(subject, what, partial(_test, stated.testset, stated, subject, memory))
            if relation is not None:
                yield relation


def _test(testset: str, stated: Brief, subject: RowFingerprints, memory: RowSetIndex) -> Relation | None:
    """Compare with one sealed set: by its rows, and by values of nearly unique columns."""
    stored = memory.comparable_rows(stated.rows, subject)
    rows, otherwise = _by_rows(testset, "test", subject, stored), _otherwise(testset, subject, stored, memory.key)
    found = _stronger(rows, otherwise)
    return found and _unless_a_design(found, rows, subject, stated, memory)


def _unless_a_design(
    found: Relation, rows: Relation | None, subject: RowFingerprints, stated: Brief, memory: RowSetIndex
) -> Relation | None:
    """The relation itself; of tables that share a design alone, what rows are equal beyond chance, else that it is a design."""
    chance = None if found.same and found is rows else chance_of_design(subject, stated, memory)
    if chance is None:
        return found
    if rows is not None and rows.rows > AS_LIKELY * chance * len(rows.seen) + MARGIN * len(rows.seen):
        return rows
    return replace(found, role=DESIGN)


def chance_of_design(subject: RowFingerprints, stated: Brief, memory: RowSetIndex) -> float | None:
    """The chance that rows of a design are equal, where two tables share one alone; None where they do not, or nobody knows."""
    if not stated.table:
        return None
    portrait = Portrait.of(memory.load(stated.portrait)) if stated.portrait else None
    theirs = TableSketch(table_sketches(memory.load(stated.table)), stated.rows_in_all, portrait)
    return equal_by_chance(TableSketch(subject.sketches, len(subject), subject.portrait), theirs)


def _once(subject: RowFingerprints, what: tuple[str, ...], compare: Callable[[], Relation | None]) -> Relation | None:
    """Return the result of a comparison with a stored set, computing it once: a stored set does not change."""
    if what not in subject.met:
        subject.met[what] = compare()
    found: Relation | None = subject.met[what]
    return found


def _selections(subject: RowFingerprints, memory: RowSetIndex) -> Iterable[Relation]:
    """Sets that chose something. What the study's own development rows repeat is a duplicate, not a memory."""
    done = {subject.train}
    for entry in memory.history.selections:
        stated = entry.brief
        if stated.train in done or stated.key_id != memory.key.id or not stated.development:
            continue
        done.add(stated.train)
        what = ("selection", stated.testset, stated.development)
        relation = _once(subject, what, partial(_selection, stated, subject, memory))
        if relation is not None:
            yield relation


def _selection(stated: Brief, subject: RowFingerprints, memory: RowSetIndex) -> Relation | None:
    """Compare with one set that chose; a study keeps its table with its seal."""
    stored = memory.comparable_rows(stated.development, subject)
    rows = _by_rows(stated.testset, "selection", subject, stored, without=subject.duplicated)
    table = next((one.brief for one in memory.history.sealings([stated.testset]) if one.brief.key_id == stated.key_id), stated)
    found = rows and _unless_a_design(rows, rows, subject, table, memory)
    return None if found is None or found.role == DESIGN else found


def _by_rows(
    testset: str, role: str, subject: RowFingerprints, stored: RowSet | None, without: Booleans | None = None
) -> Relation | None:
    """C0, C1, C4: hashes of rows, the most telling first: a later one decides where it matches many more."""
    best: Relation | None = None
    for channel, name in (("C1", "bound"), ("C0", "id"), ("C1", "unbound"), ("C4", "ranked")):
        if stored is not None and _comparable(name, subject, stored):
            seen = _mask_seen(name, subject, stored)
            if without is not None and subject.identifiable:
                seen = seen & ~without
            if seen.any():
                best = _stronger(best, _relation(testset, role, seen, stored, channel))
    return best


def _stronger(first: Relation | None, second: Relation | None) -> Relation | None:
    """Return the more telling of two matches, unless the other matches many more rows."""
    if first is None or second is None:
        return first or second
    return second if second.rows > MORE * first.rows else first


def _comparable(name: str, subject: RowFingerprints, stored: RowSet) -> bool:
    """Say whether both sets hold hashes of this kind that can tell rows apart."""
    if name not in stored.arrays or name not in subject.test.arrays:
        return False
    if name == "id":
        ours, theirs = set(subject.names), set(stored.facts["names"])
        return len(ours & theirs) >= ALIKE * len(ours | theirs)
    return name == "bound" or subject.tells(name)


def _relation(testset: str, role: str, seen: Booleans, stored: RowSet, channel: str) -> Relation:
    rows = int(seen.sum())
    same, exact = rows >= SAME * max(len(seen), len(stored)), not stored.is_sketch
    return Relation(testset, role, rows, rows / len(seen), seen, same, exact, channel)


def _mask_seen(name: str, subject: RowFingerprints, stored: RowSet) -> Booleans:
    """Mask the test rows that are in a stored set; none where the overlap is no more than chance."""
    ours, theirs = subject.test.arrays[name], stored.arrays[name]
    telling = name == "id" or subject.tells(name)
    if stored.is_sketch:
        seen = np.arange(len(ours)) < round(containment(ours, theirs) * len(ours))
    else:
        seen = shared_rows(ours, theirs, repetitions=not telling)
    certain = name == "id" or (telling and subject.u[name] == 1 and subject.vast)
    margin = min(MARGIN, 2 * (1 - subject.u[name])) if telling else MARGIN
    counts = certain or enough(ours, subject.development.arrays[name], theirs, stored.is_sketch, margin)
    return seen if counts else np.zeros(len(ours), bool)


def enough(rows: Hashes, own: Hashes, stored: Hashes, sketch: bool, margin: float = MARGIN) -> bool:
    """Say whether the overlap is more than chance; a sketch is compared up to its largest hash."""
    last = stored.max() if sketch else np.iinfo(stored.dtype).max
    return more_than_chance(rows[rows <= last], stored, own[own <= last], margin, judged=len(own) > 0)


def _otherwise(testset: str, subject: RowFingerprints, stored: RowSet | None, key: IdentityKey) -> Relation | None:
    """C2: match rows by values of nearly unique columns."""
    seen = _by_columns(subject, stored, key) if stored is not None else np.zeros(0, bool)
    return _relation(testset, "test", seen, stored, "C2") if seen.any() and stored is not None else None


def _by_columns(subject: RowFingerprints, stored: RowSet, key: IdentityKey) -> Booleans:
    """Rows whose value in a nearly unique column stands in any such column of the stored set."""
    best = np.zeros(len(subject.test.bound), bool)
    theirs = [array for name, array in stored.arrays.items() if name.startswith("key:")]
    if not theirs or not subject.test.keys:
        return best
    remembered = subject.remembered(key)
    for name, again in _met_again(list(remembered.items()), theirs):
        tokens = subject.test.keys[name]
        values = tally(tokens)[0][: len(again)][again]
        if is_among(tokens, values).sum() > best.sum():
            best = is_among(tokens, values)
    return best


def _enough(values: Hashes) -> int:
    """Return how many values of a column have to be met again."""
    return max(FEWEST, ceil(QUASI * len(values)))


def _met_again(ours: Sequence[tuple[str, Hashes]], theirs: Sequence[Hashes]) -> Iterator[tuple[str, Booleans]]:
    """Our columns that meet enough of one of theirs, and which of their values: one search in all of them at once."""
    values, columns = np.concatenate(theirs), np.repeat(np.arange(len(theirs)), [len(one) for one in theirs])
    order = np.argsort(values, kind="stable")
    values, columns = values[order], columns[order]
    asked = np.concatenate([hashes for _, hashes in ours])
    first, last = np.searchsorted(values, asked, "left"), np.searchsorted(values, asked, "right")
    if not (last > first).any():
        return
    starts = np.cumsum([0, *(len(hashes) for _, hashes in ours)])
    for (name, hashes), start in zip(ours, starts):
        mine = slice(start, start + len(hashes))
        times = last[mine] - first[mine]
        places = np.repeat(first[mine] - np.cumsum(times) + times, times) + np.arange(times.sum())
        owners = np.bincount(columns[places], minlength=len(theirs))
        for column in np.flatnonzero(owners >= _enough(hashes)):
            again = np.zeros(len(hashes), bool)
            again[np.repeat(np.arange(len(hashes)), times)[columns[places] == column]] = True
            yield name, again


# Sets that are known by another name: those of other ledgers, and those that were sealed under other keys.


def related_sets(subject: RowFingerprints, memory: RowSetIndex, elsewhere: OtherLedgers) -> tuple[Relation, ...]:
    """All sets that share rows, or the table, with a sealing, under whichever key they were remembered; each set once."""
    found = [*relations(subject, memory)]
    found += links(subject, memory, found)
    for other, key in elsewhere.subjects:
        theirs = RowSetIndex(memory.history, memory.load, key, memory.hashes, memory.ahead)
        found += [*_itself(other, memory.history), *relations(other, theirs)]
        found += links(other, theirs, found)
    first: dict[tuple[str, str, bool], Relation] = {}  # of several descriptions of a set the one that shares most
    designs = {one.testset for one in found if one.role == DESIGN}  # where some ranks are the same, others may be by chance
    for relation in (one for one in found if one.channel != "C4" or one.testset not in designs):
        what = (relation.testset, relation.role, relation.linked)
        if what not in first or relation.rows > first[what].rows:
            first[what] = relation
    return tuple(sorted(first.values(), key=lambda relation: (not relation.same, -relation.share, relation.testset)))


def _itself(subject: RowFingerprints, history: History) -> Iterator[Relation]:
    """Find the very same rows, sealed under another key."""
    n = len(subject.test.bound)
    if subject.digest in history.seals:
        yield Relation(subject.digest, "test", n, 1.0, np.ones(n, bool), same=True)


# Tables that are one although their rows cannot be matched: then the rows that are sealed now were there before.
#
# Only what the rows themselves leave unexplained counts: with c rows matched already, two tables may be as near as c rows make
# them. Such a link names no rows. None is dropped, and nothing is certified.

WHOLE, LINK = "C5", "C6"  # by the digest of the whole table, where its rows are not kept; by portraits
EXPLAINED = 0.98  # share from which a set is known by its rows
THOROUGH = 50  # tables nearest in size whose columns are matched in every way, and not by their names alone
ROWS = 3.0  # times as many rows, beyond which portraits tell nothing
MATCHING = ("bound", "id", "unbound", "ranked")


def links(subject: RowFingerprints, memory: RowSetIndex, found: Sequence[Relation]) -> Iterator[Relation]:
    """Sealed tables of this key that looked or chose, and are the one at hand."""
    nowhere = np.zeros(len(subject.test.bound), bool)
    for entry in seals_without_rows(memory.history, {memory.key.id}, subject.digest):
        if entry.brief.source == subject.source:
            yield Relation(entry.brief.testset, _role(entry, memory.history), 0, 0.0, nowhere, exact=False, channel=WHOLE)
    if subject.variables is None:
        return
    known = {relation.testset for relation in found if relation.same and relation.share >= EXPLAINED}
    halves = Halves(subject.variables, subject.source)
    seals = [entry for entry in memory.history.descriptions if _nearly_as_large(subject, entry, memory)]
    seals = [entry for entry in seals if entry.brief.testset not in {subject.digest, *known}]
    seals.sort(key=lambda entry: abs(log(entry.brief.rows_in_all / len(subject))))
    used = [(place, entry, role) for place, entry in enumerate(seals) if (role := _role(entry, memory.history))]
    if memory.ahead is not None:
        memory.ahead([str(entry.brief.portrait) for _, entry, _ in used])
    portraits = [Portrait.of(memory.load(str(entry.brief.portrait))) for _, entry, _ in used]
    if subject.portrait is None or not used:
        return
    near = may_be_same(subject.portrait, portraits)
    waves = OwnWaves(subject.variables, subject.portrait.labels, memory.key, subject.portrait.waves)
    for (place, entry, role), theirs, by_name in zip(used, portraits, near):
        common = partial(_common, subject, entry, memory)
        thorough = place < THOROUGH
        if (
            _is_part(subject, theirs, common)
            or _is_noisy(waves, theirs, common)
            or ((thorough or by_name) and _is_same_table(subject.portrait, halves, theirs, common, thorough, bool(by_name)))
        ):
            role = role if chance_of_design(subject, entry.brief, memory) is None else DESIGN
            yield Relation(entry.brief.testset, role, 0, 0.0, nowhere, exact=False, channel=LINK)


def seals_without_rows(history: History, keys: Container[str], testset: str) -> Iterator[LedgerEntry]:
    """Seals under these keys, of other sets than this one, that looked or chose and of whose rows no hash is kept."""
    for entry in history.descriptions:
        stated = entry.brief
        if stated.testset != testset and stated.key_id in keys and not stated.rows and _role(entry, history):
            yield entry


def _role(entry: LedgerEntry, history: History) -> str:
    """Return the use of a sealed table's rows (test or selection); empty where they were only sealed."""
    if entry.brief.testset in history.tested:
        return "test"
    return "selection" if entry.brief.train in history.chosen_on else ""


def _nearly_as_large(subject: RowFingerprints, entry: LedgerEntry, memory: RowSetIndex) -> bool:
    """Say whether a sealed table was hashed under the same key and has nearly as many rows."""
    stated = entry.brief
    if stated.key_id != memory.key.id or not stated.portrait:
        return False
    ratio = stated.rows_in_all / len(subject)
    return bool(1 / ROWS <= ratio <= ROWS)


def _is_same_table(
    ours: Portrait, halves: Halves, theirs: Portrait, common: Callable[[], int], thorough: bool, by_name: bool
) -> bool:
    """Say whether two tables are nearer than chance, and nearer than their matched rows alone would make them."""
    if not likeness(ours, halves, theirs, 0, thorough, by_name).same:
        return False
    known = common()
    return known == 0 or likeness(ours, halves, theirs, known, thorough).same


def _is_part(subject: RowFingerprints, theirs: Portrait, common: Callable[[], int]) -> bool:
    """Say whether rows of both tables are the same by their triples, more of them than are matched already."""
    if subject.portrait is None or subject.variables is None:
        return False
    shared = shared_triples(subject.portrait.triples, theirs.triples)
    if shared <= LEAST or shared <= BY_CHANCE * shared_by_chance(subject.variables.table, generator(0, subject.source)):
        return False
    return shared > LEAST + BY_CHANCE * (common() / min(len(subject), theirs.n)) ** 3


def _is_noisy(ours: OwnWaves, theirs: Portrait, common: Callable[[], int]) -> bool:
    """Say whether rows of both tables are the same but for noise, by waves over columns of equal names."""
    if theirs.waves is None or ours.nats(theirs.waves, theirs.n, 0) <= SURE:
        return False
    known = common()
    return known == 0 or ours.nats(theirs.waves, theirs.n, known) > SURE


def _common(subject: RowFingerprints, entry: LedgerEntry, memory: RowSetIndex) -> int:
    """Rows of both tables that are matched, by the kind of hash that matches most."""
    stored = [memory.load(side) for side in (entry.brief.rows, entry.brief.development) if side]
    if not stored:  # a digest alone
        return 0
    names = [name for name in MATCHING if name in subject.test.arrays and all(name in one.arrays for one in stored)]
    stood = {name: np.concatenate([one.arrays[name] for one in stored]) for name in names}
    return max((int(shared_rows(_both(subject, name), stood[name], repetitions=True).sum()) for name in names), default=0)


def _both(subject: RowFingerprints, name: str) -> Hashes:
    return np.concatenate([subject.development.arrays[name], subject.test.arrays[name]])
