"""Which entries are believed: those on their chain up to a signature, and those of before that the migration vouches for."""

from dataclasses import replace
from pathlib import Path

from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Home
from modelsel.ledger.signatures import SALT, chain_of
from modelsel.ledger.trust import MIGRATION, LedgerTerms, TrustedEntries, examined, extended


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
    read = examined([*before, head], {}, LedgerTerms("owner", head.hash))
    assert list(read) == [*before, head]
    assert not read.bad
    assert not read.lost
    assert read.before == tuple(sorted((head.hash, before[-1].hash)))
    longer = [*before, follow(before[-1], "old", "note", {"text": "later"})]
    later = examined([*longer, head], {}, LedgerTerms("owner", head.hash))
    assert [one.entry for one in later.bad] == [longer[-1]]


def test_another_entry_cannot_say_that_it_is_the_migration() -> None:
    before = chain("old", 3)
    head = stated(before)
    for terms in (LedgerTerms("owner"), LedgerTerms("owner", "f" * 64), LedgerTerms("owner", before[0].hash)):
        read = examined([*before, head], {}, terms)
        assert not read
        assert len(read.bad) == 4
    other = follow(None, "another", "migration", {"heads": {"old": [3, before[-1].hash]}})
    assert not examined([*before, other], {}, LedgerTerms("owner", other.hash))


def test_a_head_that_is_gone_is_lost(tmp_path: Path) -> None:
    before = chain("old", 3)
    head = stated(before)
    assert examined([*before[:2], head], {}, LedgerTerms("owner", head.hash)).lost == ((before[-1].hash, ""),)
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 2)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    assert not examined(mine, signed, LedgerTerms()).lost
    assert examined(mine[:1], signed, LedgerTerms()).lost == ((mine[1].hash, signer.public),)
    forged = {**signed, mine[1].hash: [(signer.public, signer.sign(mine[0].hash))]}
    assert not examined(mine[:1], forged, LedgerTerms()).lost


def test_what_plainly_follows_is_added_and_all_else_is_examined(tmp_path: Path) -> None:
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 4)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    read = examined(mine[:2], {one.hash: signed[one.hash] for one in mine[:2]}, LedgerTerms())
    further = extended(read, mine[2:], signed)
    assert further is not None
    assert list(further) == mine
    assert further.last(mine[0].replica) == mine[-1]
    assert further.last("~") is None
    read = examined(mine[:2], {one.hash: signed[one.hash] for one in mine[:2]}, LedgerTerms())
    assert extended(read, mine[3:], signed) is None  # one is missing
    assert extended(read, mine[2:], {mine[2].hash: signed[mine[2].hash]}) is None  # one is not signed
    assert extended(read, [replace(mine[2], body='{"text":"another"}')], signed) is None
    assert extended(read, chain("stranger", 1), {}) is None
    merged = follow(mine[1], mine[0].replica, "merge", {"vouched": []})
    assert extended(read, [merged], {merged.hash: [(signer.public, signer.sign(merged.hash))]}) is None


def test_an_entry_that_borrows_the_hash_of_a_sound_one_is_not_believed(tmp_path: Path) -> None:
    signer = Home(tmp_path).signer()
    mine = chain(chain_of(signer.public, "0" * SALT), 2)
    signed = {one.hash: [(signer.public, signer.sign(one.hash))] for one in mine}
    borrowed = replace(mine[1], body='{"text":"another"}')
    read = examined([*mine, borrowed], signed, LedgerTerms())
    assert borrowed not in read
    assert [one.entry for one in read.bad] == [borrowed]


def test_the_last_entry_of_every_chain_is_its_head(tmp_path: Path) -> None:
    read = TrustedEntries([*chain("a", 3), *chain("b", 1), *chain("c", 2)])
    assert {replica: entry.seq for replica, entry in read.heads().items()} == {"a": 3, "b": 1, "c": 2}
    assert TrustedEntries().heads() == {}
