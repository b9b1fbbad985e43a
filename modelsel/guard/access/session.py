"""The ledgers, keys and anchors that a gate keeps open; what is written into them is in `recording`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from modelsel.core.errors import ConfigurationError, LedgerError, ModelselError, Problem
from modelsel.core.surroundings import Anchor
from modelsel.core.types import Finding
from modelsel.guard.access.integrity import check_ledger, judged_of, losses, lost_look, mark
from modelsel.guard.entries import origin
from modelsel.guard.facts import Look, Note, Ruling
from modelsel.guard.findings import ledger_findings
from modelsel.guard.history import History
from modelsel.guard.policy.base import FULL, Policy
from modelsel.guard.quarantine import all_fit, believed_entries
from modelsel.ledger.anchors import AnchoredLook, LockFile, StateAnchor
from modelsel.ledger.database.reading import JudgedEntries, chains_in_file
from modelsel.ledger.database.schema import same_file, sqlite_file, sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.database.upkeep import LOOKED_THROUGH, merge, strip
from modelsel.ledger.entry import Brief, LedgerEntry
from modelsel.ledger.home import Home, IdentityKey, Signer, without_password
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.matching import Sketch, table_sketches
from modelsel.ledger.rows.row_set import RecentRowSets, RowSet

# The anchors of a gate: told of every look, and asked what they saw of a test set.

Seen = list[tuple[str, Mapping[str, str]]]  # name of the anchor, what it holds


@dataclass(frozen=True)
class AnchorSet:
    """All anchors under one key."""

    anchors: Sequence[Anchor]
    key_id: str

    @property
    def names(self) -> list[str]:
        return [anchor.name for anchor in self.anchors]

    def tell(self, facts: Mapping[str, str]) -> list[Finding]:
        """Tell every anchor of a look; those that could not be told are findings."""
        found = []
        for anchor in self.anchors:
            try:
                anchor.witness(facts)
            except OSError as error:
                found.append(ledger_findings.anchor_unreached_not_told(anchor.name, error))
        return found

    def note_unremembered(self, study: str, at: str) -> list[Finding]:
        """Write beside the runs that nothing was kept of a study."""
        found = []
        for anchor in self.anchors:
            try:
                if isinstance(anchor, LockFile):
                    anchor.note_unremembered(study, at)
            except OSError as error:
                found.append(ledger_findings.anchor_unreached_not_told(anchor.name, error))
        return found

    def ask(self, testsets: Sequence[str]) -> tuple[Seen, list[Finding]]:
        """Ask each anchor what it remembers of test sets; report those that cannot be asked or that name other keys."""
        seen: dict[str, Seen] = {testset: [] for testset in testsets}
        found: list[Finding] = []
        for anchor in self.anchors:
            try:
                for testset, known in _recall(anchor, testsets):
                    seen[testset] += [(anchor.name, facts) for facts in known]
                if isinstance(anchor, LockFile) and anchor.keys() - {self.key_id}:
                    found.append(ledger_findings.key_gap_in_anchor(anchor.path))
            except OSError as error:
                found.append(ledger_findings.anchor_unreached_not_asked(anchor.name, error))
        return [one for known in seen.values() for one in known], found

    def testsets(self, others: Collection[str]) -> list[str]:
        """The test sets of our own anchors under this key, but for those of the ledgers named."""
        found: list[str] = []
        for anchor in self.anchors:
            with suppress(OSError):  # said by `asked`
                found += anchor.testsets(self.key_id, others) if isinstance(anchor, StateAnchor | LockFile) else []
        return list(dict.fromkeys(found))


def _recall(anchor: Anchor, testsets: Sequence[str]) -> Iterator[tuple[str, Iterable[Mapping[str, str]]]]:
    """What an anchor knows of each test set; our own are files, and read once."""
    recall = anchor.remembering() if isinstance(anchor, StateAnchor | LockFile) else anchor.recall
    return ((testset, recall(testset)) for testset in testsets)


# The home's registry of ledgers, and those of them that hold looks of others: they are asked whichever ledger is in use.


@dataclass(frozen=True, eq=False)
class SharedLedgers:
    """Ledgers that could be opened, and findings about those that could not."""

    ledgers: tuple[Ledger, ...]
    unreached: tuple[Finding, ...]

    @classmethod
    def of(cls, home: Home, but: Collection[str], judged: JudgedEntries | None = None) -> "SharedLedgers":
        """Open what others have written to as well, but for some; `judged` as of the ledger in use.

        Of what this home alone has written the home's own ledger has copies; where that was lost, all are opened.
        """
        ledgers, unreached = [], []
        lost = bool(home.state().get("generation", {}).get(sqlite_url(home.ledger)))
        for id_, known in home.state().get("registry", {}).items():
            if id_ not in but and (known["others"] or lost or _has_others(home, known["url"])):
                try:
                    ledgers.append(_opened(known["url"], id_, home.signer(), judged))
                except ModelselError as error:
                    if known["others"]:
                        unreached.append(ledger_findings.ledger_unreached(known["url"], error.problems[0].what))
        return cls(tuple(ledgers), tuple(unreached))


def register(home: Home, ledger: Ledger, key_id: str) -> None:
    """Register a ledger with a project's key, and note whether other homes than this one have left marks there."""
    state = home.state()
    others = bool(state.get("marks", {}).get(ledger.id, {}).keys() - home.replicas(ledger.url))
    entry = state.get("registry", {}).get(ledger.id)
    if entry is not None and key_id in entry["keys"] and entry["others"] == others:
        return
    with home.changing() as state:
        known = state.setdefault("registry", {}).setdefault(
            ledger.id, {"url": without_password(ledger.url), "keys": [], "others": False}
        )
        known["keys"] = sorted({*known["keys"], key_id})
        known["others"] = others


def _has_others(home: Home, url: str) -> bool:
    """Say whether others may have written to a ledger since this home did: to a file it is seen, of a server it is asked."""
    file = sqlite_file(url)
    return file is None or bool(chains_in_file(file) - home.replicas(url))


def _opened(url: str, id_: str, signer: Signer, judged: JudgedEntries | None) -> Ledger:
    """Open a ledger and check that it is the one that was registered."""
    ledger = Ledger.existing(url, signer, judged)
    if ledger.id != id_:
        raise LedgerError(Problem("MSEL-509", "another ledger stands there", url, "restore the one that was there"))
    ledger.entries()
    return ledger


class LedgerSession:
    """The resources that a gate keeps open: home, key, ledger and anchors."""

    def __init__(self, policy: Policy, runs: Path, anchors: Sequence[Anchor], home: Home) -> None:
        """Find the ledger that the policy names, and those anchors that it wants."""
        self.policy = policy
        self.home = home
        self.url = url_of(policy.ledger, runs, home)
        own: tuple[Anchor, ...] = (StateAnchor(home), LockFile(runs.absolute().parent, runs=runs.absolute().name))
        self.anchors = tuple(anchor for anchor in (*own, *anchors) if anchor.name in policy.anchors)
        self._kept = RecentRowSets()

    @property
    def place(self) -> str:
        return without_password(self.url)

    @cached_property
    def key(self) -> IdentityKey:
        return self.home.key(self.policy.project or self.policy.identity.key)

    @cached_property
    def own(self) -> IdentityKey:
        """The key under which the home remembers every contact."""
        return self.home.own()

    @cached_property
    def witnesses(self) -> AnchorSet:
        return AnchorSet(self.anchors, self.key.id)

    @cached_property
    def ledger(self) -> Ledger:
        return self._opened(self.url)

    def _opened(self, url: str) -> Ledger:
        """A ledger without what earlier versions kept of labels."""
        ledger = Ledger.open(url, self.home.replica(url), self.home.signer(), judged_of(self.home))
        if not ledger.has_mark(LOOKED_THROUGH) and not losses(self.home.state(), ledger, url, ledger.entries()):
            strip(ledger)
        return ledger

    @cached_property
    def memory(self) -> Ledger:
        """The home's own ledger, where every contact is remembered."""
        if same_file(self.url, self.home.ledger):
            return self.ledger
        url = sqlite_url(self.home.ledger)
        return self._opened(url)

    @property
    def apart(self) -> bool:
        """Say whether the study writes into another ledger than the home's, or under another key."""
        return self.memory is not self.ledger or self.key != self.own

    @property
    def store(self) -> str:
        """Say what the ledger at hand stores of rows: in the home's own, under its own key, hashes of all of them."""
        return self.policy.identity.store if self.apart else FULL

    @cached_property
    def hashes(self) -> HashIndex:
        """The index over stored row sets, in the home."""
        return HashIndex(self.home.folder / "index", self.home.secret("index.key"))

    @cached_property
    def shared(self) -> SharedLedgers:
        """Other ledgers of the registry that hold looks of others."""
        return SharedLedgers.of(self.home, {self.ledger.id, self.memory.id}, judged_of(self.home))

    @cached_property
    def unreadable(self) -> tuple[Finding, ...]:
        """That the home's own ledger is another home's, whose keys are not here: of a home that was stripped to its ledger."""
        read = self.memory.entries()
        if read.owner in ("", self.home.signer().public):
            return ()
        seals, keys = History.of(read).of_kind("seal"), {*self.home.keys()}
        kept = {seal.brief.copied for seal in seals if seal.brief.key_id in keys}
        strange = {seal.brief.testset for seal in seals if seal.brief.key_id not in keys and seal.hash not in kept}
        return (ledger_findings.key_gap_of_home(len(strange), self.home.folder),) if strange else ()

    def lost_looks(self) -> tuple[list[LedgerEntry], list[Finding]]:
        """Looks that the state alone tells of since the home's ledger was lost or shortened, to be charged where related.

        And a finding where rows of some are kept nowhere: these may be any rows.
        """
        state = self.home.state()
        if not state.get("generation", {}).get(without_password(self.memory.url)):
            return [], []
        every = [entry for ledger in self.ledgers for entry in believed_entries(ledger.entries())]
        known = {entry.place for entry in every} | {str(entry.facts["head"]) for entry in every if entry.kind == "recovered"}
        hashes = {entry.brief.copied for entry in every if entry.brief.mirror}
        sealed = {entry.brief.testset for entry in every if entry.kind == "seal"}
        told = [AnchoredLook.read(facts) for some in state.get("facts", {}).values() for facts in some]
        gone = {look.head: look for look in told if look.head not in known and look.head.rpartition(":")[2] not in hashes}
        lost = [look for look in gone.values() if not look.unguarded]
        unknown = sum(look.testset not in sealed for look in lost)
        charged = [lost_look(number, look) for number, look in enumerate(lost, start=1) if look.testset in sealed]
        return charged, [ledger_findings.ledger_missing_of_unknown_rows(unknown)] if unknown else []

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """All that can be asked, this one first."""
        return tuple(dict.fromkeys((self.ledger, self.memory, *self.shared.ledgers)))

    def row_set(self, digest: str) -> RowSet:
        """A row set, from whichever ledger has it; one that was read before, from here."""
        return self._kept(digest, self._fetch)

    def stored_here(self, digest: str) -> RowSet:
        """A row set of the ledger at hand."""
        return self._kept(digest, self.ledger.rowset)

    def ahead(self, digests: Sequence[str]) -> None:
        """Read many row sets at once, those that will be asked for next."""
        missing = [digest for digest in digests if digest not in self._kept]
        for ledger in self.ledgers:
            found = ledger.rowsets(missing) if missing else {}
            missing = [digest for digest in missing if digest not in found]
            for digest in found:
                self._kept(digest, found.__getitem__)

    def _fetch(self, digest: str) -> bytes:
        """Read a row set from the first ledger that has it."""
        for ledger in self.ledgers[:-1]:
            with suppress(LedgerError):
                return ledger.rowset(digest)
        return self.ledgers[-1].rowset(digest)

    def other_keys(self) -> list[IdentityKey]:
        """The keys at hand, but for the one in use, under which something was sealed somewhere."""
        used = {id_ for ledger in self.ledgers for id_ in History.of(ledger.entries()).keys}
        return [key for id_, key in self.home.keys().items() if id_ in used and key != self.key]

    def check(self) -> list[Finding]:
        """Recompute the chain and compare it with what this home remembers of it, also of the home's own ledger."""
        same = self.memory is self.ledger
        self.ledger, findings = check_ledger(self.home, self.ledger, self.url)
        if same:
            self.memory = self.ledger
        else:
            self.memory, more = check_ledger(self.home, self.memory, self.memory.url)
            findings = [*findings, *more]
        _ = self.unreadable  # before a lock is held
        return findings

    def known_tables(self, key: IdentityKey, columns: int) -> Iterator[tuple[tuple[Sketch, ...], Callable[[], Hashes]]]:
        """Sketches of every table of so many columns that was sealed under a key, and the rows stored under its names."""
        first, *more = (History.of(ledger.entries()) for ledger in self.ledgers)
        history = History.of(entry for one in (first, *more) for entry in one.entries) if more else first
        told = [entry.brief for entry in (*history.seals.values(), *history.selections)]
        told = [stated for stated in told if (stated.width or columns) == columns and stated.key_id == key.id]
        tables = [(stated.table, stated) for stated in told if stated.table and stated.development]
        self.ahead([table for table, _ in tables])
        for table, stated in tables:
            yield table_sketches(self.row_set(table)), partial(self._rows_of, stated)

    def _rows_of(self, stated: Brief) -> Hashes:
        sides = (digest for digest in (stated.rows, stated.development) if digest)
        return np.concatenate([self.row_set(digest).bound for digest in sides])

    def elsewhere(self) -> list[LedgerEntry]:
        """The entries of the other ledgers at hand that are believed: a look that they know is not lost."""
        return [entry for ledger in self.ledgers[1:] for entry in believed_entries(ledger.entries())]

    def at_home(self) -> Sequence[LedgerEntry]:
        """The entries of the home's own ledger, where that is another one."""
        return () if self.memory is self.ledger else self.memory.entries()

    def witness(self, intent: LedgerEntry, price: float) -> list[Finding]:
        """Tell the anchors that this look happened."""
        last, look = self.ledger.entries().last(self.ledger.replica), Look.of(intent)
        assert last is not None  # the intent is there
        facts = {"ledger": self.ledger.id, "testset": look.testset, "look": str(look.look),
                 "spent": f"{look.spent + price:.6f}", "n": str(look.n), "head": last.place,
                 "policy": str(look.policy), "key": self.key.id}  # fmt: skip
        self.remember_how_far()
        return self.witnesses.tell(facts)

    def remembered_test_sets(self) -> list[str]:
        """The test sets of our own anchors that this ledger ought to know: under its key, in no other ledger of this home."""
        return self.witnesses.testsets(
            {id_ for url, id_ in self.home.state().get("places", {}).items() if url != without_password(self.url)}
        )

    def remember_how_far(self) -> None:
        """Remember how far the ledger has got."""
        mark(self.home, self.ledger, self.url)
        register(self.home, self.ledger, self.key.id)
        self.hashes.keep()
        for ledger in self._open:
            ledger.keep_judged(all_fit)

    @property
    def _open(self) -> tuple[Ledger, ...]:
        """The ledgers that were read; nothing is opened for this."""
        known = [ledger for name in ("ledger", "memory") if (ledger := vars(self).get(name)) is not None]
        return tuple(dict.fromkeys((*known, *(self.shared.ledgers if "shared" in vars(self) else ()))))


def url_of(setting: str, runs: Path, home: Home) -> str:
    """`user`, `project` or an address."""
    if setting == "user":
        return sqlite_url(home.ledger)
    return sqlite_url(runs.absolute() / "ledger.db") if setting == "project" else setting


# Records about a ledger as a whole: notes, rulings of its owner, another ledger that is taken over.


def note(session: LedgerSession, facts: Note) -> LedgerEntry:
    """Record a note."""
    entry = session.ledger.append("note", facts.but(**origin()).written())
    session.remember_how_far()
    return entry


def rule(session: LedgerSession, places: Sequence[str], why: str) -> None:
    """Set bad entries aside, if this is the owner's home."""
    if session.ledger.entries().owner != session.home.signer().public:
        fix = "ask the owner, who made the ledger or migrated it"
        raise ConfigurationError(Problem("MSEL-275", "only the owner of a ledger rules on its entries", session.place, fix))
    session.ledger.append("ruling", Ruling(**origin(), void=list(places), why=why).written())
    session.remember_how_far()


def merge_in(session: LedgerSession, url: str) -> int:
    """Take over what another ledger has and this one lacks: how many entries that were."""
    before = len(session.ledger.entries())
    other = Ledger.existing(url, session.home.signer())
    merge(session.ledger, other, **origin())
    count = len(session.ledger.entries()) - before - 1  # the entry of the merge is our own
    strip(session.ledger)
    other.close()
    session.remember_how_far()
    return count
