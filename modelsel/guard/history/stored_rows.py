"""Row sets that a ledger stores for sealed rows: both sides, the whole table, the declared space.

How much is asked of the session: the home's own ledger keeps hashes of all rows, whatever others store (`LedgerSession.store`).
"""

from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history.entries import space_set, table_set
from modelsel.guard.history.statements import Statement, packed_units
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.row_set import FULL


def keep_all(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """Digests of everything that a seal stores, by name; None for what the policy does not store."""
    n = len(subject.test.bound)
    table = table_set(subject.sketches, n + len(subject.development.bound))
    space = space_set(sealing.candidates) if sealing.candidates else None
    drawn = subject.portrait.stored() if subject.portrait else None
    rows = store != "digest_only"
    return {
        "rows": keep(writing, store, key, subject, "test"),
        "development": keep(writing, store, key, subject, "development"),
        "table": writing.keep(table.pack(), key.id, n, "table") if rows else None,
        "portrait": writing.keep(drawn.pack(), key.id, n, "portrait") if drawn else None,
        "candidates": writing.keep(space.pack(), key.id, len(space), "space") if space else None,
        **_keep_units(writing, store, key, sealing, subject),
    }


def _keep_units(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """The digest of the units of sealed rows, and the same where they are stored; nothing where each row is one."""
    said, n = Statement.of(sealing, subject), len(subject.test.bound)
    packed = packed_units(sealing, subject) if said.assignment else None
    if packed is None:
        return {}
    whole = store == "full" and n <= FULL
    stored = writing.keep(packed, key.id, n, "units") if whole else None
    return {"assignment": said.assignment, "units": stored}


def keep_chosen(
    writing: WriteTransaction, store: str, key: IdentityKey, sealing: TestSetDeclaration, subject: RowFingerprints
) -> dict[str, str | None]:
    """Digests of the rows that chose, of the candidates that a search asked for, and of the table where no seal keeps it."""
    kept = {"development": keep(writing, store, key, subject, "development")}
    if sealing.asked:
        space = space_set(sealing.asked)
        kept["candidates"] = writing.keep(space.pack(), key.id, len(space), "space")
    if len(sealing.sealed) or store == "digest_only":
        return kept
    n = len(subject.development.bound)
    return {**kept, "table": writing.keep(table_set(subject.sketches, n).pack(), key.id, n, "table")}


def keep(writing: WriteTransaction, store: str, key: IdentityKey, subject: RowFingerprints, side: str) -> str | None:
    """Digest of the stored rows of one side, `test` or `development`, in the form that is asked for."""
    if store == "digest_only":
        return None
    rows = (subject.test if side == "test" else subject.development).stored(subject.names, key)
    rows = rows.sketch(most=0) if store == "sketch" else rows
    return writing.keep(rows.pack(), key.id, len(rows), side)
