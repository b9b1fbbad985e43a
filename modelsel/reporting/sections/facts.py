"""The plain sections: the data, the looks, how to do it again, and what the page does not show."""

from collections.abc import Iterable

import yaml  # type: ignore[import-untyped]

from modelsel.core.outcome import FindingFacts
from modelsel.core.reading import moment
from modelsel.guard.reporting.report import NextLook
from modelsel.record.documents import FeatureFacts
from modelsel.reporting.sections.view import View
from modelsel.reporting.verdict import further
from modelsel.reporting.words import interval, number, percent, score

FEATURES = 60
SEVERITY = ("critical", "high", "medium", "low", "info")


def data(view: View) -> dict[str, object]:
    """Kinds, missing values, quartiles or levels, class balance."""
    facts = view.details.data
    features = facts.features
    total = sum(one.rows for one in facts.classes) or 1
    return {
        **facts,
        "missing_words": percent(facts.missing),
        "balance": [{**one, "share": one.rows / total, "words": percent(one.rows / total)} for one in facts.classes],
        **({"target": _feature(facts.target)} if facts.target else {}),
        "table": [_feature(one) for one in features[:FEATURES]],
        "more": len(features) - FEATURES + facts.not_shown if len(features) > FEATURES else facts.not_shown,
    }


def findings(view: View) -> list[FindingFacts]:
    """The findings, the gravest first."""
    every = (*view.outcome.findings, *view.disagreements)
    return sorted(every, key=lambda one: SEVERITY.index(one.severity) if one.severity in SEVERITY else len(SEVERITY))


def looks(view: View) -> dict[str, object]:
    """Every look that the ledger knows at these rows, and what one more would cost."""
    audit = view.details.audited
    rows = [
        {
            "at": str(look.at)[:19].replace("T", " "),
            "study": look.study,
            "kind": "replay" if look.replay else "look",
            "score": f"step {score(look.step)}" if look.step is not None else score(look.score),
            "interval": interval(look.interval),
            "price": number(look.price),
            "overlap": ", ".join(f"{percent(one['share'])} of {one['with']}" for one in look.overlap),
            "flags": ", ".join(map(str, look.flags)),
        }
        for test_set in (audit.test_sets if audit else ())
        for look in test_set.looks
    ]
    return {
        "rows": rows,
        "ledger": audit.ledger if audit else {},
        "state": audit.state if audit else "",
        "flags": audit.flags if audit else [],
        "next": _next_look(upcoming) if audit and (upcoming := audit.next) else "",
    }


def _next_look(upcoming: NextLook) -> str:
    said = further(upcoming)
    return f"{said[0].upper()}{said[1:]}."


def how_to_repeat(view: View) -> dict[str, object]:
    """Command, configuration, versions and fingerprints."""
    outcome, details = view.outcome, view.details
    prints = {
        "specification": outcome.spec_id,
        "data": outcome.task.fingerprint,
        "folds": outcome.scheme.fingerprint,
        "winner": outcome.winner.id,
        "commit": details.commit,
    }
    return {
        "command": _as_typed(details.command),
        "config": yaml.safe_dump(view.config, sort_keys=False, allow_unicode=True, width=100),
        "versions": details.environment,
        "fingerprints": {name: value for name, value in prints.items() if value},
        "failures": outcome.failures[:50],
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
    if not outcome.winner.corrected:
        said.append("How optimistic the cross-validated score is for having been picked as the best: it was not estimated.")
    if outcome.measure == "error":
        said.append("What errors cost: all count the same under this measure.")
    return said


def _feature(one: FeatureFacts) -> dict[str, object]:
    """Describe a feature by quartiles or levels."""
    if one.states("quartiles"):
        spread = " · ".join(map(moment if one.dates else number, one.quartiles))
    else:
        spread = ", ".join(f"{level.name} ({level.rows:,})" for level in one.levels)
    return {**one, "missing_words": percent(one.missing) if one.missing else "", "spread": spread}


def _as_typed(words: Iterable[str]) -> str:
    """The command as it can be pasted into a shell."""
    import shlex

    return " ".join(shlex.quote(str(word)) for word in words)
