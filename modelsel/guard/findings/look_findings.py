"""Findings about looks: first, repeated, changed, unguarded; and about a gate for loops."""

from collections.abc import Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, FindingKind, catalogue

# The study was written down before its score was known.

COMMITTED_LOOK = FindingKind("G013", "COMMITTED_LOOK", "info", "")


def committed_look(look: int) -> Finding:
    return COMMITTED_LOOK.finding(f"this study was committed as look {look} before its score was known")


# No earlier look at these test rows is known to this home.

FIRST_LOOK = FindingKind("G001", "FIRST_LOOK", "info", "")


def first_look(since: str) -> Finding:
    return FIRST_LOOK.finding(f"the first look at these rows known to this home, which remembers since {since}")


# Other code computed a score on these rows.

OUTSIDE_LOOK = FindingKind(
    "G017", "OUTSIDE_LOOK", "high", "collect fresh test rows; until the end judge by cross-validation, or by a gate"
)


def outside_look(metric: str, rows: int, name: str, count: int) -> Finding:
    """Report a score that other code is about to compute, and how many there are now."""
    times = "at least one outside look" if count == 1 else f"at least {count} outside looks"
    return OUTSIDE_LOOK.finding(
        f"{metric} was computed on {rows} sealed rows ({name}): {times} at these rows, and nothing at them is certified now"
    )


def outside_looks(count: int) -> Finding:
    times = "one outside look" if count == 1 else f"{count} outside looks"
    return OUTSIDE_LOOK.finding(f"at least {times}: other code computed scores on these rows, and nothing at them is certified")


# Other code may have computed a score on these rows: too little of it is known to tell.

POSSIBLE_OUTSIDE_LOOK = FindingKind("G018", "POSSIBLE_OUTSIDE_LOOK", "info", "judge by cross-validation on development rows")


def possible_outside_look(metric: str, rows: int, name: str) -> Finding:
    return POSSIBLE_OUTSIDE_LOOK.finding(
        f"{metric} may have been computed on {rows} sealed rows ({name}); that is not sure, and nothing is withdrawn"
    )


# Nothing of this study is kept, so that no later test can know of it.

NOT_REMEMBERED = FindingKind(
    "G004", "NOT_REMEMBERED", "high", "leave guard.remember as it is, and mend the ledger: a later test cannot know of this"
)


def not_remembered_by_setting() -> Finding:
    return NOT_REMEMBERED.finding("guard.remember=false: nothing of this study is kept, no later test can know of it")


def not_remembered_in_audit() -> Finding:
    return NOT_REMEMBERED.finding("guard.remember=false: nothing was kept")


def not_remembered_unwritable(problem: str) -> Finding:
    return NOT_REMEMBERED.finding(f"the ledger could not take what was seen here: {problem}")


def not_remembered_prediction(problem: str) -> Finding:
    """Predictions read no label: that they are not on record is no grave matter."""
    return NOT_REMEMBERED.finding(f"the ledger could not take that rows were predicted: {problem}", severity="low")


# The choice of a published experiment is not written into the ledger.

PUBLISHED_EXPERIMENT = FindingKind("G005", "PUBLISHED_EXPERIMENT", "info", "")


def published_experiment() -> Finding:
    return PUBLISHED_EXPERIMENT.finding("a published experiment: its choice is not written into the ledger")


# The same question was asked again: the stored answer is shown, and no label is read.

REPLAY = FindingKind("G002", "REPLAY", "info", "nothing: the stored answer is shown again and costs nothing")


def replay(look: int) -> Finding:
    return REPLAY.finding(f"the stored answer of look {look} is shown again")


def shown_late(look: int, price: float) -> Finding:
    """Report an answer that no run lived to put on record."""
    what = f"look {look} was made by a run that ended before its answer was on record"
    return REPLAY.finding(f"{what}: computed before, shown first now, at the price of {price:.2f} nats paid then")


# The same study was tested on these rows before, trained on other rows.

SAME_TEST_NEW_TRAIN = FindingKind("G011", "SAME_TEST_NEW_TRAIN", "medium", QUOTE)


def same_test_new_train() -> Finding:
    return SAME_TEST_NEW_TRAIN.finding("the same study was tested on these rows before, trained on other rows")


# The same study predicts something else than at its earlier look.

SAME_TEST_SAME_SPEC = FindingKind(
    "G010", "SAME_TEST_SAME_SPEC", "low", "fix the seed or the library versions: the same study predicted something else"
)


def same_test_same_spec() -> Finding:
    return SAME_TEST_SAME_SPEC.finding("the same study predicts otherwise than at its earlier look")


# The study was changed after an answer on these rows was shown.

SPEC_CHANGED_AFTER_SCORE = FindingKind(
    "G012", "SPEC_CHANGED_AFTER_SCORE", "high", f"{QUOTE}; decide by cross-validation before the next look"
)


def spec_changed_after_score(look: int, keys: Sequence[str]) -> Finding:
    return SPEC_CHANGED_AFTER_SCORE.finding(
        f"the study was changed after look {look}: {_spec_changed_after_score_listed(keys)}"
    )


def _spec_changed_after_score_listed(keys: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(keys[:most]) or "its data or its parts"
    return shown + (f" and {len(keys) - most} more" if len(keys) > most else "")


# The test rows were opened under guard=off.

UNGUARDED = FindingKind("G003", "UNGUARDED", "medium", "run with guard=warn for an interval that stays valid")


def guard_off() -> Finding:
    return UNGUARDED.finding("the test rows were opened without a guard")


# An earlier look was interrupted between record and answer.

UNRESOLVED_INTENT = FindingKind(
    "G060", "UNRESOLVED_INTENT", "medium", "run the interrupted study again: it resolves its own look"
)


def unresolved_intent() -> Finding:
    return UNRESOLVED_INTENT.finding(
        "an earlier look was interrupted between record and answer; it is counted at its highest price"
    )


def unresolved_intent_told(text: str) -> Finding:
    return UNRESOLVED_INTENT.finding(text)


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
