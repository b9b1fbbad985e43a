"""Changes of a ledger as a whole: another one is merged in, and what earlier versions kept of labels is removed.

Merging is the union of entries by hash, and an entry that names both heads. Each chain stays as its replica wrote and signed
it. Looks that did not know of each other are found by the heads that every intent names, and audited as if each had come
after the other.
"""

from datetime import UTC, datetime
from hashlib import sha256

from sqlalchemy import Connection, select, text, update

from modelsel.core.errors import LedgerError, Problem
from modelsel.ledger.database.schema import ABOUT, ROWSETS, is_owner, statements
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry, broken, heads
from modelsel.ledger.rows.row_set import RowSet


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


# Remove hashes that depend on labels, which row sets of earlier versions held, when a ledger is opened.
#
# A row set is stored under the digest of its bytes, and entries of the chain name it. So it keeps its name, and a note in the
# chain states the digest of what is left of it. Digests of whole sets of labels stand in seals and intents of that time
# (`order`, `labels`): the chain would break without them, and whoever has key, features and a very good model can try labels
# against them.


TOLD_BY_LABELS = "labelled"
LOOKED_THROUGH = "labels"  # the mark of a ledger in which nothing is left to be removed


def strip(ledger: Ledger) -> int:
    """Remove what depends on labels; how many row sets that were. On a server only the owner of the tables can: else none."""
    count = ledger.write(_strip_labels)
    if count:
        ledger.tidy()
    return count


def _strip_labels(writing: WriteTransaction) -> int:
    """Rewrite row sets that hold hashes of labels, and note their new digests."""
    connection = writing.connection
    rows = connection.execute(
        select(ROWSETS.c.digest, ROWSETS.c.blob).where(ROWSETS.c.kind.in_(("test", "development", "merged")))
    )
    left = {digest: new for digest, blob in rows if (new := _without(bytes(blob))) is not None}
    if left and not is_owner(connection):
        return 0
    if left:
        _rewrite(connection, left)
        facts = {digest: sha256(blob).hexdigest() for digest, blob in left.items()}
        writing.append("note", {"at": datetime.now(UTC).isoformat(timespec="microseconds"), "stripped": facts})
    if connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == LOOKED_THROUGH)).first() is None:
        connection.execute(ABOUT.insert().values(name=LOOKED_THROUGH, value="none"))
    return len(left)


def _without(blob: bytes) -> bytes | None:
    """The row set without the array; None where it has none, or cannot be read (which the audit says)."""
    if b'"labelled"' not in blob.partition(b"\n")[0]:
        return None
    try:
        stored = RowSet.unpack(blob)
    except LedgerError:
        return None
    return RowSet(stored.facts, {name: array for name, array in stored.arrays.items() if name != TOLD_BY_LABELS}).pack()


def _rewrite(connection: Connection, left: dict[str, bytes]) -> None:
    """Put what is left in place; the triggers that refuse this are away meanwhile, within the transaction."""
    lite = connection.dialect.name == "sqlite"
    connection.execute(text("DROP TRIGGER rowsets_no_update" if lite else "DROP TRIGGER rowsets_fixed ON rowsets"))
    for digest, blob in left.items():
        connection.execute(update(ROWSETS).where(ROWSETS.c.digest == digest).values(blob=blob))
    for statement in statements(connection.dialect.name):
        connection.execute(text(statement))
