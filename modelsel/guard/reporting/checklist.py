"""The items of the REFORMS checklist (Kapoor et al. 2024) that a ledger can answer."""

from collections.abc import Mapping
from typing import Any

from modelsel.guard.reporting.formatting import quoted


def items(one: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Item to answer, for one test set of an audit."""
    looks = [look for look in one["looks"] if not look["replay"]]
    codes = {code for look in looks for code in look["flags"]}
    last = {**(said := quoted(looks)), **(said.get("superseded") or {})} if looks else None
    return {
        "sample size (test)": one["rows"],
        "train-test separation maintained": not codes & {"G020", "G021", "G022"},
        "duplicates between train and test": "G030" in codes or "G031" in codes,
        "groups kept together": "G032" not in codes,
        "model selection: candidates tried": one["candidates"],
        "number of evaluations on the test set": len(looks),
        "performance metric": last and last["metric"],
        "uncertainty estimate": last and last["interval"],
        "uncertainty method": "exact binomial, corrected for all earlier answers" if last and last["interval"] else None,
        "record intact": report["ledger"]["intact"],
    }
