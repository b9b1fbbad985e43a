"""The plain sections: the data, the looks, how to do it again, and what the page does not show."""

from collections.abc import Iterable

import yaml  # type: ignore[import-untyped]

from modelsel.core.outcome import FindingShape
from modelsel.core.reading import moment
from modelsel.guard.reporting.report import NextLookShape
from modelsel.record.documents import DataShape, FeatureShape, audit_of
from modelsel.reporting.sections.view import View
from modelsel.reporting.verdict import further
from modelsel.reporting.words import interval, number, percent, score

FEATURES = 60
SEVERITY = ("critical", "high", "medium", "low", "info")


def data(view: View) -> dict[str, object]:
    """Kinds, missing values, quartiles or levels, class balance."""
    facts: DataShape = view.details.get("data", {})
    features = facts.get("features", [])
    total = sum(one["rows"] for one in facts.get("classes", [])) or 1
    return {
        **facts,
        "missing_words": percent(facts.get("missing", 0)),
        "balance": [
            {**one, "share": one["rows"] / total, "words": percent(one["rows"] / total)} for one in facts.get("classes", [])
        ],
        **({"target": _feature(facts["target"])} if "target" in facts else {}),
        "table": [_feature(one) for one in features[:FEATURES]],
        "more": len(features) - FEATURES + facts.get("not_shown", 0) if len(features) > FEATURES else facts.get("not_shown", 0),
    }


def findings(view: View) -> list[FindingShape]:
    """The findings, the gravest first."""
    every = (*view.outcome.findings, *view.disagreements)
    return sorted(every, key=lambda one: SEVERITY.index(one["severity"]) if one["severity"] in SEVERITY else len(SEVERITY))


def looks(view: View) -> dict[str, object]:
    """Every look that the ledger knows at these rows, and what one more would cost."""
    audit = audit_of(view.details)
    rows = [
        {
            "at": str(look.get("at", ""))[:19].replace("T", " "),
            "study": look.get("study", ""),
            "kind": "replay" if look.get("replay") else "look",
            "score": f"step {score(look['step'])}" if look.get("step") is not None else score(look.get("score")),
            "interval": interval(look.get("interval")),
            "price": number(look.get("price")),
            "overlap": ", ".join(f"{percent(one['share'])} of {one['with']}" for one in look.get("overlap", ())),
            "flags": ", ".join(map(str, look.get("flags", ()))),
        }
        for test_set in (audit.get("test_sets", ()) if audit else ())
        for look in test_set.get("looks", ())
    ]
    return {
        "rows": rows,
        "ledger": audit["ledger"] if audit else {},
        "state": audit.get("state", "") if audit else "",
        "flags": audit.get("flags", []) if audit else [],
        "next": _next_look(upcoming) if audit and (upcoming := audit.get("next")) else "",
    }


def _next_look(upcoming: NextLookShape) -> str:
    said = further(upcoming)
    return f"{said[0].upper()}{said[1:]}."


def how_to_repeat(view: View) -> dict[str, object]:
    """Command, configuration, versions and fingerprints."""
    outcome, details = view.outcome, view.details
    prints = {
        "specification": outcome.spec_id,
        "data": outcome.task.get("fingerprint", ""),
        "folds": outcome.scheme.get("fingerprint", ""),
        "winner": outcome.winner["id"],
        "commit": details.get("commit", ""),
    }
    return {
        "command": _as_typed(details.get("command", ())),
        "config": yaml.safe_dump(view.config, sort_keys=False, allow_unicode=True, width=100),
        "versions": details.get("environment", {}),
        "fingerprints": {name: value for name, value in prints.items() if value},
        "failures": [dict(one) for one in outcome.failures][:50],
        "seconds": {name: number(value) for name, value in outcome.seconds.items()},
    }


def limits(view: View) -> list[str]:
    """List the questions of a careful reader that this page cannot answer, in sentences that fit the study."""
    outcome = view.outcome
    said = [
        "How the model does on rows that differ from these: another time, place, instrument or population.",
        "That one hyper-parameter causes a difference: the slices show one at a time while the others vary along.",
        "That the winner is the right choice: those marked ≈ did equally well as far as these rows can say.",
    ]
    if outcome.test is None or outcome.test.refused:
        said.append("A score on untouched rows: every number here comes from rows that also chose the winner.")
    else:
        said.append(
            "The sealed labels: only the released answer is shown, so no confusion matrix and no curve of the test rows."
        )
        said.append("Looks that were taken outside of modelsel: whoever has the data file can evaluate elsewhere.")
    if not outcome.winner.get("corrected"):
        said.append("How optimistic the cross-validated score is for having been picked as the best: it was not estimated.")
    if outcome.measure == "error":
        said.append("What errors cost: all count the same under this measure.")
    return said


def _feature(one: FeatureShape) -> dict[str, object]:
    """Describe a feature by quartiles or levels."""
    if "quartiles" in one:
        spread = " · ".join(map(moment if one.get("dates") else number, one["quartiles"]))
    else:
        spread = ", ".join(f"{level['name']} ({level['rows']:,})" for level in one.get("levels", ()))
    return {**one, "missing_words": percent(one["missing"]) if one["missing"] else "", "spread": spread}


def _as_typed(words: Iterable[str]) -> str:
    """The command as it can be pasted into a shell."""
    import shlex

    return " ".join(shlex.quote(str(word)) for word in words)
