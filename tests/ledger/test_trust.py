"""Which entries are believed: those on their chain up to a signature, and those of before that the migration vouches for."""

from dataclasses import replace
from pathlib import Path

from modelsel.ledger.entry import KINDS, LedgerEntry, follow
from modelsel.ledger.home import SALT, Home, chain_of
from modelsel.ledger.trust import MIGRATION, WEIGHTY, LedgerTerms, TrustedEntries, examine, extend


def chain(replica: str, length: int) -> list[LedgerEntry]:
    entries: list[LedgerEntry] = []
    for number in range(length):
        entries.append(follow(entries[-1] if entries else None, replica, "note", {"text": f"entry {number}"}))
    return entries


def stated(entries: list[LedgerEntry]) -> LedgerEntry:
    return follow(None, MIGRATION, "migration", {"heads": {entries[-1].replica: [len(entries), entries[-1].hash]}})


def test_entries_of_before_are_believed_up_to_the_heads_that_the_migration_states() -> None:
    before = chain("old", 3)
    head = stated(before)
    read = examine([*before, head], {}, LedgerTerms("owner", head.hash))
    assert list(read) == [*before, head]
    assert not read.bad
    assert not read.lost
    assert read.before == tuple(sorted((head.hash, before[-1].hash)))
    longer = [*before, follow(before[-1], "old", "note", {"text": "later"})]
    later = examine([*longer, head], {}, LedgerTerms("owner", head.hash))
    assert [one.entry for one in later.bad] == [longer[-1]]


def test_another_entry_cannot_say_that_it_is_the_migration() -> None:
    before = chain("old", 3)
    head = stated(before)
    for terms in (LedgerTerms("owner"), LedgerTerms("owner", "f" * 64), LedgerTerms("owner", before[0].hash)):
        read = examine([*before, head], {}, terms)
        assert not read
        assert len(read.bad) == 4
    other = follow(None, "another", "migration", {"heads": {"old": [3, before[-1].hash]}})
    assert not examine([*before, other], {}, LedgerTerms("owner", other.hash))


def test_a_head_that_is_gone_is_lost(tmp_path: Path) -> None:
    before = chain("old", 3)
    head = stated(before)
    assert examine([*before[:2], head], {}, LedgerTerms("owner", head.hash)).lost == ((before[-1].hash, ""),)
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 2)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    assert not examine(mine, signed, LedgerTerms()).lost
    assert examine(mine[:1], signed, LedgerTerms()).lost == ((mine[1].hash, signer.public),)
    forged = {**signed, mine[1].hash: [(signer.public, signer.sign(mine[0].hash))]}
    assert not examine(mine[:1], forged, LedgerTerms()).lost


def test_what_plainly_follows_is_added_and_all_else_is_examined(tmp_path: Path) -> None:
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 4)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    read = examine(mine[:2], {one.hash: signed[one.hash] for one in mine[:2]}, LedgerTerms())
    further = extend(read, mine[2:], signed)
    assert further is not None
    assert list(further) == mine
    assert further.last(mine[0].replica) == mine[-1]
    assert further.last("~") is None
    read = examine(mine[:2], {one.hash: signed[one.hash] for one in mine[:2]}, LedgerTerms())
    assert extend(read, mine[3:], signed) is None  # one is missing
    assert extend(read, mine[2:], {mine[2].hash: signed[mine[2].hash]}) is None  # one is not signed
    assert extend(read, [replace(mine[2], body='{"text":"another"}')], signed) is None
    assert extend(read, chain("stranger", 1), {}) is None
    merged = follow(mine[1], mine[0].replica, "merge", {"vouched": []})
    assert extend(read, [merged], {merged.hash: [(signer.public, signer.sign(merged.hash))]}) is None


def test_an_entry_that_borrows_the_hash_of_a_sound_one_is_not_believed(tmp_path: Path) -> None:
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 2)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    borrowed = replace(mine[1], body='{"text":"another"}')
    read = examine([*mine, borrowed], signed, LedgerTerms())
    assert borrowed not in read
    assert [one.entry for one in read.bad] == [borrowed]


def test_the_last_entry_of_every_chain_is_its_head(tmp_path: Path) -> None:
    read = TrustedEntries([*chain("a", 3), *chain("b", 1), *chain("c", 2)])
    assert {replica: entry.seq for replica, entry in read.heads().items()} == {"a": 3, "b": 1, "c": 2}
    assert TrustedEntries().heads() == {}


def test_what_another_signed_or_signed_for_something_else_is_not_signed(tmp_path: Path) -> None:
    signer, stranger = (Home(tmp_path / name).signer() for name in ("one", "two"))
    mine = chain(chain_of(signer.public, "0" * SALT), 2)
    first, last = (one.hash for one in mine)
    for who, said, believed in (
        (signer, signer.sign(last), 2), (signer, signer.sign(first), 0), (stranger, stranger.sign(last), 0),
        (signer, stranger.sign(last), 0), (signer, "no signature", 0),
    ):  # fmt: skip
        read = examine(mine, {last: [(who.public, said)]}, LedgerTerms())
        assert len(read) == believed
        assert len(read.bad) == 2 - believed
        assert read.signers == ({mine[0].replica: signer.public} if believed else {})
        former = examine(mine[:1], {first: [(signer.public, signer.sign(first))]}, LedgerTerms())
        assert (extend(former, mine[1:], {last: [(who.public, said)]}) is not None) == bool(believed)
    both = [(stranger.public, stranger.sign(last)), (signer.public, signer.sign(last))]
    assert len(examine(mine, {last: both}, LedgerTerms())) == 2
    former = examine(mine[:1], {first: [(signer.public, signer.sign(first))]}, LedgerTerms())
    assert extend(former, mine[1:], {last: both}) is not None


def test_only_the_owners_merge_vouches_for_entries_of_before_elsewhere(tmp_path: Path) -> None:
    owner, stranger = (Home(tmp_path / name).signer() for name in ("one", "two"))
    old = chain("old", 2)
    for who, kind, believed in ((owner, "merge", True), (stranger, "merge", False), (owner, "note", False)):
        said = follow(None, chain_of(who.public, "0" * SALT), kind, {"vouched": [old[-1].hash]})
        read = examine([*old, said], {said.hash: [(who.public, who.sign(said.hash))]}, LedgerTerms(owner.public), "me")
        assert [entry in read for entry in old] == [believed] * 2
        assert read.me == "me"
        assert not read.lost
    said = follow(None, chain_of(owner.public, "0" * SALT), "merge", {"vouched": ["f" * 64]})
    assert not examine([said], {said.hash: [(owner.public, owner.sign(said.hash))]}, LedgerTerms(owner.public)).lost


def test_beside_what_is_bad_or_lost_or_weighty_all_is_examined(tmp_path: Path) -> None:
    signer = Home(tmp_path).signer()
    replica = chain_of(signer.public, "0" * SALT)
    mine = chain(replica, 2)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    stray = chain("stray", 1)
    for entries, signatures in (
        (mine[:1] + stray, signed),
        (mine[:1], signed),
        (mine[:1], {mine[0].hash: signed[mine[0].hash]}),
    ):
        former = examine(entries, signatures, LedgerTerms())
        plain = not former.bad and not former.lost
        assert (extend(former, mine[1:], signed) is not None) == plain
    for kind in KINDS:
        entry = follow(mine[1], replica, kind, {})
        former = examine(mine, signed, LedgerTerms())
        read = extend(former, [entry], {entry.hash: [(signer.public, signer.sign(entry.hash))]})
        assert (read is None) == (kind in WEIGHTY)
        assert read is None or (read.former is former and read.fresh == (entry,))


def test_new_entries_of_several_chains_are_put_in_their_places(tmp_path: Path) -> None:
    signers = [Home(tmp_path / name).signer() for name in "abc"]
    chains = [chain(chain_of(one.public, "0" * SALT), 3) for one in signers]
    signed = {one.hash: [(who.public, who.sign(one.hash))] for who, entries in zip(signers, chains) for one in entries}
    every = sorted((one for entries in chains for one in entries), key=lambda one: (one.replica, one.seq))
    first = [one for one in every if one.seq == 1]
    former = examine(first, {one.hash: signed[one.hash] for one in first}, LedgerTerms())
    read = extend(former, [one for seq in (2, 3) for one in every if one.seq == seq], signed)
    assert read is not None
    assert list(read) == every
    assert {replica: entry.seq for replica, entry in read.heads().items()} == dict.fromkeys(
        (entries[0].replica for entries in chains), 3
    )
    for entries in chains:
        assert read.last(entries[0].replica) == entries[-1]
        assert read.last(entries[0].replica[:-1]) is None
    assert read.last("") is None
