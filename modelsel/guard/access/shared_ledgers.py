"""The home's registry of ledgers, and those of them that hold looks of others: they are asked whichever ledger is in use."""

from collections.abc import Collection
from dataclasses import dataclass

from modelsel.core.errors import LedgerError, ModelselError, Problem
from modelsel.core.types import Finding
from modelsel.guard.findings.ledger_state import ledger_unreached
from modelsel.ledger.database.engines import shown
from modelsel.ledger.database.judged import JudgedEntries
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.home import Home
from modelsel.ledger.signatures import Signer


@dataclass(frozen=True, eq=False)
class SharedLedgers:
    """Ledgers that could be opened, and findings about those that could not."""

    ledgers: tuple[Ledger, ...]
    unreached: tuple[Finding, ...]

    @classmethod
    def of(cls, home: Home, but: Collection[str], judged: JudgedEntries | None = None) -> "SharedLedgers":
        """Open what the registry lists as holding looks of others, but for some; `judged` as of the ledger in use."""
        ledgers, unreached = [], []
        for id_, known in home.state().get("registry", {}).items():
            if known["others"] and id_ not in but:
                try:
                    ledgers.append(_opened(known["url"], id_, home.signer(), judged))
                except ModelselError as error:
                    unreached.append(ledger_unreached.finding(known["url"], error.problems[0].what))
        return cls(tuple(ledgers), tuple(unreached))


def registered(home: Home, ledger: Ledger, key_id: str) -> None:
    """Register a ledger with a project's key, and note whether other homes than this one have left marks there."""
    state = home.state()
    others = bool(state.get("marks", {}).get(ledger.id, {}).keys() - home.replicas(ledger.url))
    entry = state.get("registry", {}).get(ledger.id)
    if entry is not None and key_id in entry["keys"] and entry["others"] == others:
        return
    with home.changing() as state:
        known = state.setdefault("registry", {}).setdefault(ledger.id, {"url": shown(ledger.url), "keys": [], "others": False})
        known["keys"] = sorted({*known["keys"], key_id})
        known["others"] = others


def _opened(url: str, id_: str, signer: Signer, judged: JudgedEntries | None) -> Ledger:
    """Open a ledger and check that it is the one that was registered."""
    ledger = Ledger.existing(url, signer, judged)
    if ledger.id != id_:
        raise LedgerError(Problem("MSEL-509", "another ledger stands there", url, "restore the one that was there"))
    ledger.entries()
    return ledger
