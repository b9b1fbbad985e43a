"""One gate's dealings with its ledger: open, check, seal, select, commit, reveal, and tell the anchors."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property, partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.core.protocols import Anchor
from modelsel.core.types import Finding, Table
from modelsel.guard.access import contacts
from modelsel.guard.access.anchors import AnchorSet
from modelsel.guard.access.authorize import decide, memory_of, position_of
from modelsel.guard.access.closing import CLOSING, closing
from modelsel.guard.access.integrity import checked, judged_of, losses, mark, recovered
from modelsel.guard.access.shared_ledgers import SharedLedgers, registered
from modelsel.guard.access.twin_sets import copy_all
from modelsel.guard.access.unguarded import opened
from modelsel.guard.access.unguarded import shown as shown_unguarded
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import ApprovedLook, PreparedLook, Refused, Replayed
from modelsel.guard.checks.pre_release import LookReview, noticed
from modelsel.guard.findings.ledger_state import entry_quarantined, policy_weakened
from modelsel.guard.findings.rows import overlap_reseed
from modelsel.guard.history.entries import CHOSEN, burned, declared_space, seal_facts, table_sketches, terms_of, weaker, who
from modelsel.guard.history.history import History, is_off
from modelsel.guard.history.quarantine import all_fit
from modelsel.guard.history.stored_rows import keep, keep_all, keep_chosen
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import Handed, LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.guard.matching.other_ledgers import OtherLedgers, joined, key_ids, related
from modelsel.guard.matching.overlap import RowSetIndex, relations
from modelsel.guard.policy.base import Policy
from modelsel.guard.release.mechanisms import LabelSummary, Released
from modelsel.ledger.anchors import LockFile, StateAnchor
from modelsel.ledger.database.engines import same_file, shown, sqlite_url
from modelsel.ledger.database.label_removal import LOOKED_THROUGH, strip
from modelsel.ledger.database.merge import merge
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import Home, IdentityKey
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.matching import Sketch
from modelsel.ledger.rows.row_set import RowSet
from modelsel.ledger.rows.unpacked import RecentRowSets


class LedgerSession:
    """The resources that a gate keeps open: home, key, ledger and anchors."""

    def __init__(self, policy: Policy, runs: Path, anchors: Sequence[Anchor], home: Home) -> None:
        self.policy = policy
        self.home = home
        self.url = url_of(policy.ledger, runs, home)
        own: tuple[Anchor, ...] = (StateAnchor(home), LockFile(runs.absolute().parent, runs=runs.absolute().name))
        self.anchors = tuple(anchor for anchor in (*own, *anchors) if anchor.name in policy.anchors)
        self._kept = RecentRowSets()

    @property
    def place(self) -> str:
        return shown(self.url)

    @cached_property
    def key(self) -> IdentityKey:
        return self.home.key(self.policy.project or self.policy.identity.key)

    @cached_property
    def witnesses(self) -> AnchorSet:
        return AnchorSet(self.anchors, self.key.id)

    @cached_property
    def ledger(self) -> Ledger:
        return self._opened(self.url)

    def _opened(self, url: str) -> Ledger:
        """A ledger without what earlier versions kept of labels."""
        ledger = Ledger.open(url, self.home.replica(url), self.home.signer(), judged_of(self.home))
        if not ledger.marked(LOOKED_THROUGH) and not losses(self.home.state(), ledger, url, ledger.entries()):
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
        """Does the study write into another ledger than the home's, or under another key?"""
        return self.memory is not self.ledger or self.key != self.home.own()

    @cached_property
    def hashes(self) -> HashIndex:
        """The index over stored row sets, in the home."""
        return HashIndex(self.home.folder / "index", self.home.secret("index.key"))

    @cached_property
    def shared(self) -> SharedLedgers:
        """Other ledgers of the registry that hold looks of others."""
        return SharedLedgers.of(self.home, {self.ledger.id, self.memory.id})

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """All that can be asked, this one first."""
        return tuple(dict.fromkeys((self.ledger, self.memory, *self.shared.ledgers)))

    def stored(self, digest: str) -> RowSet:
        """A row set, from whichever ledger has it; one that was read before, from here."""
        return self._kept(digest, self._fetched)

    def ahead(self, digests: Sequence[str]) -> None:
        """Read many row sets at once, those that will be asked for next."""
        missing = [digest for digest in digests if digest not in self._kept]
        for ledger in self.ledgers:
            found = ledger.rowsets(missing) if missing else {}
            missing = [digest for digest in missing if digest not in found]
            for digest in found:
                self._kept(digest, found.__getitem__)

    def _fetched(self, digest: str) -> bytes:
        for ledger in self.ledgers[:-1]:
            with suppress(LedgerError):
                return ledger.rowset(digest)
        return self.ledgers[-1].rowset(digest)

    def other_keys(self) -> list[IdentityKey]:
        """The keys at hand, but for the one in use, under which something was sealed somewhere."""
        used = key_ids(entry for ledger in self.ledgers for entry in History.of(ledger.entries()).entries)
        return [key for id_, key in self.home.keys().items() if id_ in used and key != self.key]

    def check(self) -> list[Finding]:
        """Recompute the chain and compare it with what this home remembers of it, also of the home's own ledger."""
        same = self.memory is self.ledger
        self.ledger, findings = checked(self.home, self.ledger, self.url)
        if same:
            self.memory = self.ledger
            return findings
        self.memory, more = checked(self.home, self.memory, self.memory.url)
        return [*findings, *more]

    def decided(self, ask: PreparedLook, under: RowFingerprints) -> ApprovedLook | Replayed | Refused:
        """Replay, refuse or record an intent, here and in the home: under the locks of both, the home's first."""
        if not self.apart:
            return self.ledger.write(lambda writing: decide(writing, self._asked(ask, ())))

        def outer(home: WriteTransaction) -> ApprovedLook | Replayed | Refused:
            here = self.memory is self.ledger
            asked = self._asked(ask, () if here else home.entries())
            done = decide(home, asked) if here else self.ledger.write(lambda writing: decide(writing, asked))
            self._copy(home, ask.request.sealing, ask.subject, under)
            return done

        return self.memory.write(outer)

    def remember(self, sealing: TestSetDeclaration, subject: RowFingerprints, under: RowFingerprints) -> None:
        """Write what is on record of a sealing into the home, under its own key."""
        if self.apart:
            self.memory.write(lambda home: self._copy(home, sealing, subject, under))
            mark(self.home, self.memory, self.memory.url)

    def _copy(
        self, home: WriteTransaction, sealing: TestSetDeclaration, subject: RowFingerprints, under: RowFingerprints
    ) -> None:
        entries = home.entries() if self.memory is self.ledger else self.ledger.entries()
        mine = [entry for entry in entries if entry.replica == self.ledger.replica]
        copy_all(home, mine, subject, self.key, under, self.home.own(), self.policy, sealing)

    def _asked(self, ask: PreparedLook, home: Sequence[LedgerEntry]) -> PreparedLook:
        """The question with what other ledgers say now."""
        return replace(ask, elsewhere=self._known(ask.elsewhere, home), since=self.home.since)

    def _known(self, elsewhere: OtherLedgers, home: Sequence[LedgerEntry]) -> OtherLedgers:
        entries = (entry for ledger in self.shared.ledgers for entry in History.of(ledger.entries()).entries)
        return replace(
            elsewhere,
            entries=(*History.of(home).entries, *entries),
            load=self.stored,
            ahead=self.ahead,
            unreached=self.shared.unreached,
            hashes=self.hashes,
        )

    def known_tables(self, key: IdentityKey, columns: int) -> Iterator[tuple[tuple[Sketch, ...], Callable[[], Hashes]]]:
        """Sketches of every table of so many columns that was sealed under a key, and the rows stored under its names."""
        history = History.of(entry for ledger in self.ledgers for entry in History.of(ledger.entries()).entries)
        told = [entry.brief for entry in (*history.seals.values(), *history.selections)]
        told = [one for one in told if (one.get("width") or columns) == columns and one["key_id"] == key.id]
        told = [one for one in told if one.get("table") and one.get("development")]
        self.ahead([one["table"] for one in told])
        for facts in told:
            yield table_sketches(self.stored(facts["table"])), partial(self._rows_of, facts)

    def _rows_of(self, facts: Mapping[str, Any]) -> Hashes:
        sides = (facts[name] for name in ("rows", "development") if facts.get(name))
        return np.concatenate([self.stored(digest).arrays["bound"] for digest in sides])

    def seal(self, sealing: TestSetDeclaration, subject: RowFingerprints, declaration: Mapping[str, str]) -> list[Finding]:
        """The first seal of these rows, or what has changed since; where none are sealed, the rows that will choose."""
        terms = terms_of(self.policy, sealing)
        if not len(sealing.sealed):
            self.ledger.write(lambda writing: self._opened_to_choose(writing, sealing, subject))
            return []
        missed = self._recall(subject)
        changed = self.ledger.write(lambda writing: self._seal(writing, sealing, subject, terms, declaration))
        self._mark()
        return [*missed, *([policy_weakened.finding(changed)] if changed else [])]

    def _opened_to_choose(self, writing: WriteTransaction, sealing: TestSetDeclaration, subject: RowFingerprints) -> None:
        """Rows of which none is sealed are on record before they choose: a study may be broken off."""
        keep(writing, self.policy, self.key, subject, "development")
        known = History.of(writing.entries()).selections
        if not any((one.facts["train"], one.facts["spec_id"]) == (subject.train, sealing.spec_id) for one in known):
            facts = {"contact": contacts.OPENED, "rows": subject.train, "n": len(subject.development.bound)}
            contacts.note(writing, {**facts, "key_id": self.key.id, "study": sealing.study, "spec_id": sealing.spec_id})

    def predicted(self, table: Table, folder: str) -> None:
        """Put on record that rows were predicted: here, and in the home."""
        contacts.predicted(self.ledger, table, self.key, folder)
        if self.apart:
            contacts.predicted(self.memory, table, self.home.own(), folder)
            mark(self.home, self.memory, self.memory.url)
        self._mark()

    def select(
        self, sealing: TestSetDeclaration, subject: RowFingerprints, selected: SelectionSummary, predictions: str | None
    ) -> None:
        facts = {"testset": subject.digest, "train": subject.train, "spec_id": sealing.spec_id, "study": sealing.study,
                 "folder": sealing.folder, "key_id": self.key.id, **_measured(terms_of(self.policy, sealing)),
                 **asdict(selected), **({"predictions": predictions} if predictions else {})}  # fmt: skip

        def step(writing: WriteTransaction) -> None:
            known = History.of(writing.entries()).selections
            mine = (
                one for one in known if (one.brief.get("train"), one.brief.get("spec_id")) == (subject.train, sealing.spec_id)
            )
            if not any(all(entry.facts.get(name) == value for name, value in facts.items()) for entry in mine):
                writing.append("selection", {**who(), **facts, **keep_chosen(writing, self.policy, self.key, sealing, subject)})

        self.ledger.write(step)
        self._mark()

    def commit(
        self, sealing: TestSetDeclaration, subject: RowFingerprints, spec_ids: Sequence[str], elsewhere: OtherLedgers
    ) -> None:
        """Indices in the order given, after all that were assigned; what was spent until now is what they pay.

        What is committed to are the predictions that the selection of each study put on record: an id alone fixes nothing.
        """

        def step(writing: WriteTransaction) -> None:
            known = self._known(elsewhere, () if self.memory is self.ledger else self.memory.entries())
            history = joined(History.of(writing.entries()), known, self.key.id)
            found = related(subject, memory_of(writing, history, self.key, known), known)
            charged = tuple(dict.fromkeys((subject.digest, *(one.testset for one in found if one.role == "test"))))
            done, past = history.commits_on(charged), history.looks_at(charged)
            index = 1 + len(done) + sum(1 for look in past if not look.facts.get("commit"))
            spent = sum(look.price for look in past)
            before = {(entry.facts["testset"], entry.facts["spec_id"], entry.facts["train"]) for entry in done}
            fresh = [one for one in spec_ids if (subject.digest, one, subject.train) not in before]
            for offset, spec_id in enumerate(fresh):
                facts = {"testset": subject.digest, "train": subject.train, "spec_id": spec_id, "look": index + offset,
                         "spent": spent, **_on_record(history, subject, spec_id)}  # fmt: skip
                writing.append("commit", {**who(), **facts, "study": sealing.study})

        self.ledger.write(step)
        self._mark()

    def burn(self, sealing: TestSetDeclaration, subject: RowFingerprints) -> list[Finding]:
        """A look that releases everything."""
        price = len(subject.test.bound) * log(max(2, len(sealing.development.classes)))

        def step(writing: WriteTransaction) -> LedgerEntry:
            facts = burned(subject, sealing, price, History.of(writing.entries()))
            intent = writing.append("intent", facts)
            shown = {"symbol": "labels", "score": None, "errors": None, "price": price, "interval": None}
            writing.append("reveal", {**who(), "intent": intent.facts["id"], **shown, "released": None})
            return intent

        return self.witness(self.ledger.write(step), price)

    def noticed(self, ask: PreparedLook) -> tuple[Finding, ...]:
        """List the findings that a look would bring, without making the look."""

        def step(writing: WriteTransaction) -> tuple[Finding, ...]:
            history = History.of(writing.entries())
            position = position_of(writing, self._asked(ask, self._at_home()), history)
            sealing, keys = ask.request.sealing, ask.elsewhere.keys | {self.key.id}
            seen = LookReview(ask.subject, position, sealing.spec_id, {}, ask.metric, ask.measure, "", False, keys, who()["at"],
                        ask.leaks, self.home.since)  # fmt: skip
            return (*_of_these_rows(position, sealing), *noticed(seen))

        return self.ledger.write(step)

    def tell(self, sealing: TestSetDeclaration, subject: RowFingerprints, metric: str, price: float) -> LedgerEntry:
        """The intent of an answer that is about the labels alone, and no predictions."""

        def step(writing: WriteTransaction) -> LedgerEntry:
            facts = burned(subject, sealing, price, History.of(writing.entries()))
            return writing.append("intent", {**facts, "metric": metric, "release": metric, "policy": metric, "flags": []})

        return self.ledger.write(step)

    def told(self, intent: LedgerEntry, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to such an intent: on record before it is shown."""
        nothing = {"score": None, "errors": None, "interval": None, "released": None}
        shown = self.ledger.append("reveal", {**who(), "intent": intent.facts["id"], **nothing, **facts}).facts
        self.witness(intent, float(facts["price"]))
        return shown

    def closing(
        self, ask: PreparedLook, handed: Sequence[Handed], delta: float, share: float
    ) -> tuple[LedgerEntry, Mapping[str, Any] | None]:
        """The intent of closing an exam, once; with what was shown, where that has been done."""

        def step(writing: WriteTransaction) -> tuple[LedgerEntry, Mapping[str, Any] | None]:
            history = History.of(writing.entries())
            known = [look for look in history.looks_at([ask.subject.digest]) if look.facts["metric"] == CLOSING]
            if known:
                return known[0].entry, known[0].answer or None
            position = position_of(writing, self._asked(ask, self._at_home()), history)
            return writing.append("intent", closing(ask, position, handed, delta, share)), None

        return self.ledger.write(step)

    def note(self, facts: Mapping[str, Any]) -> LedgerEntry:
        entry = self.ledger.append("note", {**who(), **facts})
        self._mark()
        return entry

    def _at_home(self) -> Sequence[LedgerEntry]:
        return () if self.memory is self.ledger else self.memory.entries()

    def reveal(self, go: ApprovedLook, released: Released) -> Mapping[str, Any]:
        """Commit the answer; where another process resolved the same intent meanwhile, its answer stands."""
        limits = released.interval(go.facts["n"], go.facts["nats"]) if go.facts["certified"] else None
        facts = {"intent": go.facts["id"], "symbol": released.symbol, "score": released.score, "errors": released.errors,
                 "price": released.price, "interval": limits, "released": asdict(released)}  # fmt: skip

        def step(writing: WriteTransaction) -> Mapping[str, Any]:
            for entry in writing.entries():
                mine = entry.kind == "reveal" and entry.replica == go.intent.replica
                if mine and entry.brief.get("intent") == go.facts["id"]:
                    return entry.facts
            return writing.append("reveal", {**who(), **facts}).facts

        return self.ledger.write(step)

    def contradicted(self, intent: LedgerEntry) -> Finding:
        """Put it on record that the labels say something else than another person's answer."""
        found = entry_quarantined.contradicted(intent.facts["look"], intent.place)
        self.ledger.append("note", {**who(), "code": found.code, "text": found.message})
        return found

    def rule(self, places: Sequence[str], why: str) -> None:
        """Set bad entries aside, if this is the owner's home."""
        if self.ledger.entries().owner != self.home.signer().public:
            fix = "ask the owner, who made the ledger or migrated it"
            raise ConfigurationError(Problem("MSEL-275", "only the owner of a ledger rules on its entries", self.place, fix))
        self.ledger.append("ruling", {**who(), "void": list(places), "why": why})
        self._mark()

    def merge(self, url: str) -> int:
        """Take over what another ledger has and this one lacks: how many entries that were."""
        before = len(self.ledger.entries())
        other = Ledger.existing(url, self.home.signer())
        merge(self.ledger, other, **who())
        count = len(self.ledger.entries()) - before - 1  # the entry of the merge is our own
        strip(self.ledger)
        other.close()
        self._mark()
        return count

    def witness(self, intent: LedgerEntry, price: float) -> list[Finding]:
        """Tell the anchors that this look happened."""
        last = self.ledger.entries().last(self.ledger.replica)
        assert last is not None  # the intent is there
        facts = {"ledger": self.ledger.id, "testset": intent.facts["testset"], "look": str(intent.facts["look"]),
                 "spent": f"{intent.facts['spent'] + price:.6f}", "n": str(intent.facts["n"]), "head": last.place,
                 "policy": intent.facts["policy"], "key": self.key.id}  # fmt: skip
        self._mark()
        return self.witnesses.tell(facts)

    def open_unguarded(
        self, request: LookRequest, subject: RowFingerprints, predictions: str, score: float | None = None
    ) -> LedgerEntry | None:
        """Put an unguarded look on record before labels are opened; None where the same number was shown before."""

        def step(writing: WriteTransaction) -> LedgerEntry | None:
            history = History.of(writing.entries())
            facts = opened(request, subject, predictions, memory_of(writing, history, self.key), score)
            return writing.append("intent", facts) if facts else None

        return self.ledger.write(step)

    def close_unguarded(self, intent: LedgerEntry, found: LabelSummary, sealing: TestSetDeclaration) -> list[Finding]:
        """Record the number that `guard=off` is about to show."""
        self.ledger.append("reveal", shown_unguarded(intent.facts, found, sealing))
        return self.witness(intent, intent.facts["worst"])

    def tell_unremembered(self, study: str) -> list[Finding]:
        """Say in `modelsel.lock` that nothing was kept of a study."""
        return AnchorSet(self.anchors, "").unremembered(study, who()["at"])  # no key is made for it

    def witness_unguarded(self, subject: RowFingerprints) -> list[Finding]:
        facts = {"ledger": "none", "testset": subject.digest, "look": "0", "spent": "0", "n": str(len(subject.test.bound)),
                 "head": f"unguarded:0:{secrets.token_hex(16)}", "policy": "off", "key": self.key.id}  # fmt: skip
        return self.witnesses.tell(facts)

    def _seal(
        self,
        writing: WriteTransaction,
        sealing: TestSetDeclaration,
        subject: RowFingerprints,
        terms: Mapping[str, Any],
        declaration: Mapping[str, str],
    ) -> list[str]:
        history = History.of(writing.entries())
        off, known = is_off(terms), history.seals.get(subject.digest)
        if known is None or (is_off(known.facts["terms"]) and not off):
            facts = seal_facts(subject, sealing, terms, self.key.id, self._space(sealing))
            writing.append("seal", {**facts, **declaration, **keep_all(writing, self.policy, self.key, sealing, subject)})
            return []
        if off:
            return []
        policies = history.policies(subject.digest)
        changed = weaker(policies, terms)
        if any(policies[-1].get(name) != value for name, value in terms.items() if name not in CHOSEN):
            writing.append("policy_change", {**who(), "testset": subject.digest, "terms": dict(terms), "weaker": changed})
        return changed

    def _space(self, sealing: TestSetDeclaration) -> int | None:
        declared = self.policy.declared_space
        if declared == "auto":
            return len(set(sealing.candidates)) or None
        return None if declared is None else declared_space(declared, len(set(sealing.candidates)))

    def _recall(self, subject: RowFingerprints) -> list[Finding]:
        """Looks that anchors saw and the ledger does not know; they are written into it at their highest price."""
        found: list[Finding] = []
        for testset, n in self._kin(subject).items():
            seen, unasked = self.witnesses.asked(testset)
            found += [*unasked, *recovered(self.ledger, testset, n, seen)]
        return list(dict.fromkeys(found))

    def remembered(self) -> list[str]:
        """The test sets of our own anchors that this ledger ought to know: under its key, in no other ledger of this home."""
        return self.witnesses.testsets({id_ for url, id_ in self.home.state().get("places", {}).items() if url != self.url})

    def _kin(self, subject: RowFingerprints) -> dict[str, int]:
        """Return the sizes of this test set and of those sealed here that share rows with it."""
        history = History.of(self.ledger.entries())
        met = relations(
            subject, RowSetIndex(history, lambda digest: self._kept(digest, self.ledger.rowset), self.key, self.hashes)
        )
        others = {one.testset: int(history.seals[one.testset].facts["n"]) for one in met if one.testset in history.seals}
        return {subject.digest: len(subject.test.bound), **others}

    def _mark(self) -> None:
        """Remember how far the ledger has got."""
        mark(self.home, self.ledger, self.url)
        registered(self.home, self.ledger, self.key.id)
        self.hashes.keep()
        self.ledger.keep_judged(all_fit)


def _of_these_rows(position: LookContext, sealing: TestSetDeclaration) -> Iterator[Finding]:
    """The very same rows under another study's seal, or looked at: they are not fresh."""
    first, before = position.history.seals[position.digest].facts, len(position.past)
    if before or first["folder"] != sealing.folder:
        yield overlap_reseed.sealed_before(before, first["study"])


def _measured(terms: Mapping[str, Any]) -> dict[str, Any]:
    return {"measure": terms["metric"], "measured": terms["measure"]}


def _on_record(history: History, subject: RowFingerprints, spec_id: str) -> dict[str, Any]:
    """The latest predictions of a study for these rows, and the measure that it chose by."""
    mine = (entry.facts for entry in history.selections if entry.brief["testset"] == subject.digest)
    noted = [facts for facts in mine if facts["spec_id"] == spec_id and facts.get("predictions")]
    return {"predictions": noted[-1]["predictions"], "measure": noted[-1]["measured"]} if noted else {}


def url_of(setting: str, runs: Path, home: Home) -> str:
    """`user`, `project` or an address."""
    if setting == "user":
        return sqlite_url(home.ledger)
    return sqlite_url(runs.absolute() / "ledger.db") if setting == "project" else setting
