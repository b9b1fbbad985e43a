"""Records about a ledger as a whole: notes, rulings of its owner, another ledger that is taken over."""

from collections.abc import Mapping, Sequence

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.history.entries import origin
from modelsel.ledger.database.label_removal import strip
from modelsel.ledger.database.merge import merge
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import LedgerEntry


def note(session: LedgerSession, facts: Mapping[str, object]) -> LedgerEntry:
    """Record a note."""
    entry = session.ledger.append("note", {**origin(), **facts})
    session.remember_how_far()
    return entry


def rule(session: LedgerSession, places: Sequence[str], why: str) -> None:
    """Set bad entries aside, if this is the owner's home."""
    if session.ledger.entries().owner != session.home.signer().public:
        fix = "ask the owner, who made the ledger or migrated it"
        raise ConfigurationError(Problem("MSEL-275", "only the owner of a ledger rules on its entries", session.place, fix))
    session.ledger.append("ruling", {**origin(), "void": list(places), "why": why})
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
