"""Findings about intervals and budgets: what is certified, and what a further answer would cost."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FRESH, FindingKind

# No information is left in this test set.

BUDGET_EXHAUSTED = FindingKind("G051", "BUDGET_EXHAUSTED", "high", "collect fresh test rows: no information is left in these")


def budget_exhausted() -> Finding:
    return BUDGET_EXHAUSTED.finding("no information is left in this test set")


def budget_exhausted_too_few_rows() -> Finding:
    return BUDGET_EXHAUSTED.finding("these rows are too few to tell anything", severity="medium")


def budget_exhausted_quota_is_used() -> Finding:
    return BUDGET_EXHAUSTED.finding("the quota is used up: no information is left in this test set")


# The interval is nearly as wide as guard.max_halfwidth allows.

BUDGET_LOW = FindingKind("G050", "BUDGET_LOW", "medium", "keep the last looks for what matters")


def budget_low(half: float, most: float) -> Finding:
    return BUDGET_LOW.finding(f"the interval is ±{half:.3f} wide, and guard.max_halfwidth={most:g}")


# The model is one of those declared before the first look.

DECLARED_MODEL = FindingKind("G016", "DECLARED_MODEL", "info", "")


def declared_model(space: int, how: str) -> Finding:
    return DECLARED_MODEL.finding(f"the model is one of the {space} that were declared, {how}")


# The answer has no certified interval.

NOT_CERTIFIED = FindingKind("G052", "NOT_CERTIFIED", "low", "choose measure=error for a certified interval")


def not_certified(metric: str, release: str) -> Finding:
    """Report a measure without a certified interval; of `metric` the kind is named, and not the digest of its settings."""
    return NOT_CERTIFIED.finding(f"{metric.partition(':')[0]}, released as {release}, has no certified interval")


def not_certified_too_few_clean(clean: int, n: int, needed: int) -> Finding:
    return NOT_CERTIFIED.finding(
        f"no interval can be certified: earlier studies leave {clean:,} of {n:,} test rows, and {needed:,} are needed", do=FRESH
    )


def not_certified_outside() -> Finding:
    return NOT_CERTIFIED.finding("no interval can be certified: other code computed scores on these rows", do=FRESH)


def not_certified_shared_unknown() -> Finding:
    return NOT_CERTIFIED.finding(
        "no interval can be certified: which rows are shared with earlier test sets is not known one by one", do=FRESH
    )


def not_certified_by_thresholdout() -> Finding:
    return NOT_CERTIFIED.finding(
        "thresholdout's answers have no certified interval", do="use guard=warn or guard=ladder for one"
    )


NOT_CERTIFIED_WITHHELD = {
    "time": (
        "rows in time",
        "judge it on several later periods: how one period differs from the next, one test set cannot say",
    ),
    "copies": (
        "many test rows are near copies of development rows",
        "say which rows belong together (dataset.groups=COLUMN split=group), or split before rows are copied",
    ),
    "few units": ("fewer than five groups are sealed", "seal more groups (split.test), or gather more of them"),
    "units on record": (
        "these rows were sealed in units before, and cannot be matched with them",
        "declare the units that they were sealed with (dataset.unit, dataset.groups)",
    ),
    "measure": (
        "this measure has no interval for units of rows",
        "choose error, brier, log_loss, cost_matrix, or precision, recall, specificity, f_beta of one class (measure.positive)",
    ),
}


def not_certified_withheld(why: str) -> Finding:
    """Report that rows are not known to be independent, and which of five things says so."""
    reason, do = NOT_CERTIFIED_WITHHELD[why]
    return NOT_CERTIFIED.finding(f"not certified: {reason}", do=do)


# The chosen model pays as one that was not declared.

OUTSIDE_DECLARED_SPACE = FindingKind(
    "G014", "OUTSIDE_DECLARED_SPACE", "medium", "declare all that may be tested before the first look"
)


def outside_declared_space(space: int) -> Finding:
    return OUTSIDE_DECLARED_SPACE.finding(
        f"the chosen model is not one of the {space} that were declared when the rows were sealed"
    )


def outside_declared_space_not_as_declared(why: str) -> Finding:
    """Report that a model is charged as an undeclared one, and why."""
    return OUTSIDE_DECLARED_SPACE.finding(
        f"priced as an undeclared model: {why}",
        severity="info",
        do="declare before the first look, and test with the data and the version declared",
    )


# The quota of exact answers is used up; answers come by the ladder.

QUOTA_USED = FindingKind("G053", "QUOTA_USED", "low", "what is left is worth most for models that cross-validation prefers")


def quota_used(steps: int, why: str) -> Finding:
    return QUOTA_USED.finding(f"the answer comes by the ladder, in steps of 1/{steps}: {why}")


# The test came out better than chance allows.

TEST_BETTER_THAN_CV = FindingKind(
    "G041", "TEST_BETTER_THAN_CV", "medium", "look for leakage: the test came out better than chance allows"
)


def test_better_than_cv(errors: int, foreseen: float, p: float) -> Finding:
    return TEST_BETTER_THAN_CV.finding(f"{errors} errors where cross-validation foresaw {foreseen:.0f}: p = {p:.1g}")


# So many candidates that the best of them may owe its lead to chance.

TOO_MANY_CANDIDATES = FindingKind(
    "G040", "TOO_MANY_CANDIDATES", "medium", "declare fewer candidates, or report the corrected estimate"
)


def too_many_candidates(count: int, rows: int, margin: float, lead: float) -> Finding:
    """Report a lead that chance alone may give to the best of so many candidates."""
    return TOO_MANY_CANDIDATES.finding(
        f"the best of {count:,} candidates on {rows:,} rows may lead by {margin:.3f} by chance, "
        f"and leads the majority class by {max(0.0, lead):.3f}"
    )
