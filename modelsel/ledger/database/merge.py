"""Two ledgers become one: the union of their entries by hash, and an entry that names both heads.

Each chain stays as its replica wrote and signed it. Looks that did not know of each other are found by the heads that every
intent names, and audited as if each had come after the other.
"""

from modelsel.core.errors import LedgerError, Problem
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry, broken, heads


def merge(into: Ledger, other: Ledger, **about: object) -> LedgerEntry:
    """Take over what `other` has and `into` lacks; the same merge twice adds only its own entry, which states `about` too.

    Bad entries are taken over as what they are. Where the owner merges, that vouches for what `other` held before there were
    signatures. Raises LedgerError (5) where a chain of either does not hold, or where both have another entry at a place.
    """
    sound, foreign, signed = other.entries(), other.everything(), other.signatures()
    blobs = {digest: (key, other.rowset(digest)) for digest, key in other.rowset_keys().items()}
    _refuse([str(one) for one in broken(sound)], other.place)

    def step(writing: WriteTransaction) -> LedgerEntry:
        mine = {(entry.replica, entry.seq): entry for entry in writing.entries()}
        there = {entry.place for entry in writing.everything()}
        _refuse([str(one) for one in broken(mine.values())], into.place)
        forks = [
            entry for entry in sound if mine.get((entry.replica, entry.seq), entry) != entry and entry.replica != "migration"
        ]
        _refuse([f"replica {e.replica}, entry {e.seq}: both ledgers have it, and differ" for e in forks], other.place)
        for entry in foreign:
            if entry.place not in there:
                writing.admit(entry)
        for hash_, signatures in signed.items():
            for signer, signature in signatures:
                writing.sign(hash_, signer, signature)
        for digest, (key, blob) in blobs.items():
            writing.keep(blob, key, 0, "merged", digest)
        both = {replica: top.hash for replica, top in heads([*mine.values(), *sound]).items()}
        return writing.append("merge", {**about, "from": other.id, "heads": both, "vouched": list(sound.before)})

    return into.write(step)


def _refuse(reasons: list[str], where: str) -> None:
    fix = "restore the ledger whose chain was changed from a backup"
    if reasons:
        raise LedgerError(*(Problem("MSEL-505", reason, where, fix) for reason in reasons))
