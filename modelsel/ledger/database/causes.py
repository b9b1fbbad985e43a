"""Why a database refuses: the causes that people can mend are told apart, each with its code and its remedy.

A server says why by its SQLSTATE, SQLite by its result code; before there is a connection a server has words alone. What is
none of these and no fault of the surroundings is a ledger that is damaged.
"""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import InterfaceError, OperationalError

from modelsel.core.errors import LedgerError, ModelselError, Problem, StoreError


@dataclass(frozen=True)
class Cause:
    """What went wrong, how it is said and mended, and by what it is known: SQLSTATEs, SQLite's codes, words."""

    code: str
    what: str
    fix: str
    states: tuple[str, ...] = ()  # SQLSTATEs, or their first two characters
    sqlite: tuple[int, ...] = ()
    words: str = "(?!)"  # a pattern of what is said before there is a connection


UNREACHABLE = Cause(
    "MSEL-641",
    "the ledger cannot be reached",
    "mend the address, the network or the file's permissions; no score is shown meanwhile",
    ("08", "57P"),
    (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR),
    "",
)
CAUSES = (
    Cause(
        "MSEL-642",
        "this role may not use the ledger's tables",
        "its owner types: GRANT SELECT, INSERT ON entries, rowsets, signatures, about TO role",
        ("42501",),
        (sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
    ),
    Cause(
        "MSEL-643",
        "the disk under the ledger is full",
        "free some space there; what was written stands, no score is shown meanwhile",
        ("53100",),
        (sqlite3.SQLITE_FULL,),
    ),
    Cause(
        "MSEL-644",
        "the ledger can only be read",
        "name the server that takes writes (this may be a replica), or mend mount or permissions",
        ("25006",),
        (sqlite3.SQLITE_READONLY,),
    ),
    Cause(
        "MSEL-645",
        "the ledger did not answer in time",
        "run the same command again; if it stays so, see what holds its locks",
        ("57014", "55P03", "25P03", "40", "53"),
        (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
    ),
    Cause(
        "MSEL-646",
        "the server does not let this role in",
        "check role and password (~/.pgpass, PGPASSWORD), and the server's pg_hba.conf",
        ("28",),
        words="password|role .* does not exist|pg_hba|authentication",
    ),
    Cause(
        "MSEL-647",
        "there is no such database on the server",
        "mend the name at the end of the address, or type: createdb NAME",
        ("3D000",),
        words="database .* does not exist",
    ),
    Cause(
        "MSEL-648",
        "the server and this machine do not agree on TLS",
        "add ?sslmode=require (or disable) to the address, or mend the certificates",
        words="SSL|TLS|certificate",
    ),
    UNREACHABLE,
)


def error_of(error: BaseException, place: str) -> ModelselError:
    """The error that a person can act on: of the cause where it is known, else of a damaged ledger."""
    cause = _cause(error)
    if cause is None:
        fix = "restore it from a backup; `modelsel doctor` names its anchors"
        return LedgerError(Problem("MSEL-502", f"the ledger is damaged ({reason(error)})", place, fix))
    return StoreError(Problem(cause.code, f"{cause.what} ({reason(error)})", place, cause.fix))


def is_passing(error: BaseException) -> bool:
    """Say whether it may be otherwise in a moment: a server that is away or busy, an entry that another one wrote first."""
    cause = _cause(error)
    return cause is None or cause.code in (UNREACHABLE.code, "MSEL-645")


def _cause(error: BaseException) -> Cause | None:
    """The cause of an error; None where the database works and its contents do not."""
    own: Any = getattr(error, "orig", None) or error
    state, number = getattr(own, "sqlstate", None), getattr(own, "sqlite_errorcode", None)
    if state:
        return next((one for one in CAUSES if str(state).startswith(one.states or "-")), None) or _otherwise(error)
    if number is not None:
        return next((one for one in CAUSES if number & 0xFF in one.sqlite), None) or _otherwise(error)
    if not isinstance(error, OperationalError | InterfaceError | OSError | sqlite3.OperationalError):
        return None
    return next(_by_words(str(own)))


def _by_words(said: str) -> Iterator[Cause]:
    """Of a server that did not let us in: it told why in words, and gave no state."""
    for tls in (False, True):  # a refusal over TLS speaks of it in passing
        yield from (one for one in CAUSES if (one.code == "MSEL-648") == tls and one.words and re.search(one.words, said))
    yield UNREACHABLE


def _otherwise(error: BaseException) -> Cause | None:
    return UNREACHABLE if isinstance(error, OperationalError | InterfaceError | sqlite3.OperationalError) else None


def reason(error: BaseException) -> str:
    """What the database said, in a line: its own words may quote the entry that was to be written only after the first."""
    cause = getattr(error, "orig", None) or error
    said = str(cause).strip().splitlines()
    return said[0] if said else type(cause).__name__
