"""Each contact a second time: in the home's own ledger, under the home's own key, so that looking up needs one key."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelsel.guard.history.stored_rows import keep_all, keep_chosen
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import TestSetDeclaration
from modelsel.guard.policy.base import Policy
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey

COPIED = ("seal", "selection", "commit", "intent", "reveal", "abort")
NOT_ITS_OWN = ("id", "overlap", "seen", "candidates")  # of a copy: what names other entries of the ledger it was made in


def copy_all(
    writing: WriteTransaction,
    entries: Sequence[LedgerEntry],
    subject: RowFingerprints,
    made: IdentityKey,
    under: RowFingerprints,
    key: IdentityKey,
    policy: Policy,
    sealing: TestSetDeclaration,
) -> None:
    """Write what is on record of a sealing (`subject`, by the key `made`) as the home calls it (`under`); once each.

    `entries` are those of the ledger at hand that this home wrote, `writing` the home's own.
    """
    copies = {e.facts["mirror"]["hash"]: e for e in writing.entries() if "mirror" in e.facts}
    intents = {e.facts["id"]: e for e in entries if e.kind == "intent" and e.facts["testset"] == subject.digest}
    for entry in entries:
        mine = entry.facts.get("testset") == subject.digest or entry.facts.get("intent") in intents
        mine = mine and (entry.kind != "selection" or entry.facts["train"] == subject.train)
        if entry.kind in COPIED and mine and "mirror" not in entry.facts and entry.hash not in copies:
            facts = {**_facts(entry, under, key), "mirror": {"hash": entry.hash, "key_id": made.id}}
            if entry.kind == "seal":
                facts |= keep_all(writing, policy, key, sealing, under)
            elif entry.kind == "selection":
                facts |= keep_chosen(writing, policy, key, sealing, under)
            elif entry.kind in ("reveal", "abort"):
                facts["intent"] = copies[intents[entry.facts["intent"]].hash].facts["id"]
            copies[entry.hash] = writing.append(entry.kind, facts)


def _facts(entry: LedgerEntry, under: RowFingerprints, key: IdentityKey) -> dict[str, Any]:
    """Take over the facts of an entry that hold under the home's own key."""
    facts: Mapping[str, Any] = entry.facts
    renamed = {
        "testset": under.digest, "train": under.train, "source": under.source, "names": list(under.names), "key_id": key.id,
        "charged": [under.digest], "predictions": "", "labels": "", "order": None,
    }  # fmt: skip
    return {name: renamed.get(name, value) for name, value in facts.items() if name not in NOT_ITS_OWN}
