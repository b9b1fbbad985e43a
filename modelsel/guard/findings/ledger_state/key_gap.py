"""Rows were hashed under a key that is not at hand."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G074", "KEY_GAP", "medium", "use the key that the earlier rows were hashed with; overlap with them is unknown"
)


def finding(keys: int) -> Finding:
    return KIND.finding(f"{keys} other key(s) hashed rows in this ledger: overlap with those rows is unknown")


def merged_apart(looks: int, testset: str) -> Finding:
    """Report that merged looks cannot be compared with these rows."""
    return KIND.finding(
        f"{looks} look(s) of another ledger that was merged in did not know of those at test set {testset[:8]}, and their rows "
        "cannot be compared with it (stored as a digest only, or under another key): if they are the same rows, its intervals "
        "are too narrow"
    )


def in_anchor(path: object) -> Finding:
    return KIND.finding(f"{path} counts looks made with another key: overlap is unknown")
