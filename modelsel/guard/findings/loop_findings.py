"""Findings about a gate for loops: an evaluation that was changed, rows that judged and say too much."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind, catalogue

# What evaluates proposals is not what the terms of the gate name.

EVALUATION_CHANGED = FindingKind(
    "G027", "EVALUATION_CHANGED", "high", "put the files back as they were, or make a new gate on fresh rows"
)


def evaluation_changed(what: str) -> Finding:
    return EVALUATION_CHANGED.finding(f"the evaluation was changed: {what}")


# The rule of this package, or the measure's code, is not that of the terms.

SCORER_CHANGED = FindingKind("G029", "SCORER_CHANGED", "medium", "install the version of modelsel that made the gate")


def scorer_changed() -> Finding:
    return SCORER_CHANGED.finding(
        "the code that judges is not that of the terms: another version of modelsel, or it was edited"
    )


# The best of a loop is much better on the rows that judged than on the sealed ones.

JUDGED_BETTER = FindingKind(
    "G028",
    "JUDGED_BETTER",
    "medium",
    "quote the sealed score alone; see whether the loop knew labels, or demand a larger gain",
)


def judged_better_than_sealed(own: int, m: int, errors: int, n: int, proposals: int) -> Finding:
    return JUDGED_BETTER.finding(
        f"{own} errors on the {m} rows that judged, {errors} on {n} sealed rows: more than {proposals} verdicts can teach"
    )


def finding_of_note(code: str, text: str) -> Finding:
    """A finding of any kind as a note has it."""
    kind = catalogue().get(code)
    return kind.finding(text) if kind else Finding(code, "medium", text, "")
