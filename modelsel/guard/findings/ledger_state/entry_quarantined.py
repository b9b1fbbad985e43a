"""An entry is not to be believed; it is counted at its worst."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G079",
    "ENTRY_QUARANTINED",
    "medium",
    "ask who wrote it; the ledger's owner may rule it void (docs/guard/teams.md)",
    loss=True,
)


def finding(why: str) -> Finding:
    return KIND.finding(why)


def contradicted(look: int, place: str) -> Finding:
    return KIND.finding(f"the answer on record of look {look} ({place[:40]}) is not what the labels say")


def forged_row_set(digest: str) -> Finding:
    return KIND.finding(f"under the digest {digest[:16]} stands a row set that it is not the digest of")


def charged(why: str, testset: str, worst: float) -> Finding:
    return KIND.finding(f"{why}: {_price(testset, worst)}")


def _price(testset: str, worst: float) -> str:
    if not testset:
        return "it names no test set, and nothing is certified until it is ruled void"
    return f"counted as a look at test set {testset[:8]} at its highest price, {worst:.2f} nats"
