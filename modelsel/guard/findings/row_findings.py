"""Findings about rows: tested before, on both sides, in disguise."""

from collections.abc import Iterable, Sequence

from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding
from modelsel.guard.findings.base import FRESH, LARGE, QUOTE, FindingKind, Severity, of_test_rows

# A group has rows on both sides of the split.

GROUP_SPANS_SPLIT = FindingKind("G032", "GROUP_SPANS_SPLIT", "high", "seal whole groups: split=group and dataset.groups")


def group_spans_split(both: int, groups: int) -> Finding:
    return GROUP_SPANS_SPLIT.finding(f"{both:,} of {groups:,} groups of the test rows have rows on both sides")


def group_spans_split_suspected(column: str, met: float) -> Finding:
    return GROUP_SPANS_SPLIT.finding(
        f"column {column!r} looks like a group: {met:.0%} of the test rows share one with development rows", severity="medium"
    )


# Labels of rows that were looked at are said to be corrected.

LABELS_CHANGED = FindingKind("G015", "LABELS_CHANGED", "medium", f"say what was corrected; {QUOTE}")


def labels_changed(look: int) -> Finding:
    return LABELS_CHANGED.finding(f"labels of these rows were corrected after look {look}, it is said")


# The labels of these rows were given away.

LABELS_RELEASED = FindingKind("G061", "LABELS_RELEASED", "critical", "collect fresh test rows: these are burned")


def labels_released_now() -> Finding:
    return LABELS_RELEASED.finding("the labels of these rows were given away")


def labels_released_before() -> Finding:
    return LABELS_RELEASED.finding("the labels of these rows were given away before")


# Test rows lie nearer to development rows than chance allows.

NEAR_DUPLICATES_DO = "say which rows belong together (dataset.groups=COLUMN split=group), or split before rows are copied"
NEAR_DUPLICATES = FindingKind(
    "G031", "NEAR_DUPLICATES", "medium", "look whether rows were copied or augmented before the split"
)


def near_duplicates_uncertifiable(share: float, examined: int) -> Finding:
    """Report so many near copies that rows cannot be taken as independent."""
    what = f"{share:.0%} of {examined:,} test rows lie far nearer to development rows than independent rows do"
    return NEAR_DUPLICATES.finding(f"{what}: nothing is certified", severity="high", do=NEAR_DUPLICATES_DO)


def near_duplicates_hinder(found: Iterable[Finding]) -> bool:
    """Say whether near copies were found that let nothing be certified."""
    return any(one.code == NEAR_DUPLICATES.code and one.severity == "high" for one in found)


def near_duplicates(excess: float) -> Finding:
    return NEAR_DUPLICATES.finding(
        f"test rows lie nearer to development rows than those to each other, {excess:.0%} more often"
    )


# Test rows were tested before, in another test set or by another study.

OVERLAP_RESEED = FindingKind("G020", "OVERLAP_RESEED", "high", FRESH)


def overlap_reseed(rows: int, n: int, testset: str) -> Finding:
    """Report rows that were tested before in another set; grave where they are many."""
    return OVERLAP_RESEED.finding(
        f"{of_test_rows(rows, n)} were tested before, in test set {testset[:8]}",
        severity="high" if rows / n >= LARGE else "medium",
    )


def overlap_reseed_sealed_before(looks: int, study: str) -> Finding:
    return OVERLAP_RESEED.finding(
        f"these rows were {_overlap_reseed_when(looks)}, by {study}: its terms stay in force, and what was spent is charged"
    )


def _overlap_reseed_when(looks: int) -> str:
    return f"looked at before ({looks})" if looks else "sealed before"


# Other code fitted on sealed rows, alone or among others.

SEALED_ROWS_FITTED = FindingKind(
    "G025", "SEALED_ROWS_FITTED", "high", "fit on development rows alone; these rows can test nothing any more"
)
SEALED_ROWS_IN_DEVELOPMENT = FindingKind(
    "G026", "SEALED_ROWS_IN_DEVELOPMENT", "high", "take the sealed rows out of the table before cross-validation"
)


def sealed_rows_fitted(rows: int, name: str, by: str) -> Finding:
    return SEALED_ROWS_FITTED.finding(f"{by} was fitted on {rows} sealed rows ({name})")


def sealed_rows_in_development(rows: int, n: int, name: str, by: str) -> Finding:
    return SEALED_ROWS_IN_DEVELOPMENT.finding(
        f"sealed rows in development: {rows:,} of {n:,} rows given to {by} are sealed ({name})"
    )


# Test rows are probably those of an earlier study in disguise.

PROBABLE_SAME_ROWS = FindingKind(
    "G022", "PROBABLE_SAME_ROWS", "high", "say which rows these are (dataset.id), or collect fresh test rows"
)
PROBABLE_SAME_ROWS_CHANNELS = {"C2": "a nearly unique column holds the same values", "C4": "the values rank the same"}


def probable_same_rows(rows: int, n: int, testset: str, channel: str) -> Finding:
    return PROBABLE_SAME_ROWS.finding(
        f"{of_test_rows(rows, n)} are probably those of test set {testset[:8]}: {PROBABLE_SAME_ROWS_CHANNELS[channel]}"
    )


def probable_same_rows_same_table(testset: str, role: str) -> Finding:
    """Report that the table is probably one that was seen before, although no row could be matched."""
    return PROBABLE_SAME_ROWS.finding(
        f"this is probably the table of test set {testset[:8]}, which was {_probable_same_rows_used(role)}: "
        "its columns hang together as they did there, nearer than another sample would; no single row could be matched"
    )


def _probable_same_rows_used(role: str) -> str:
    return "looked at" if role == "test" else "used to choose"


# The rows are those of an earlier study, by another target.

SAY_OTHER_TARGET = "say so: guard.justify.category=other_target guard.justify.text='...'; what was spent there is charged"

OTHER_TARGET = FindingKind("G033", "OTHER_TARGET", "medium", SAY_OTHER_TARGET)


def other_target(testset: str, before: str, now: str, declared: bool) -> Finding:
    """Report rows that were tested, or chose, by another target; `declared`: it is said that it is another one."""
    known = f"{before!r} there, {now!r} here" if before and now else "by what is said"
    what = f"same rows, another target: those of test set {testset[:8]} ({known})"
    return OTHER_TARGET.finding(what, do=QUOTE if declared else None)


# The same table was sealed with another split.

SAME_SOURCE_NEW_SPLIT = FindingKind("G023", "SAME_SOURCE_NEW_SPLIT", "medium", "keep the split that was sealed first")


def same_source_new_split() -> Finding:
    return SAME_SOURCE_NEW_SPLIT.finding("the same table was sealed with another split before")


# Another table has the same days, places or persons, and other measurements.

SHARED_DESIGN = FindingKind("G024", "SHARED_DESIGN", "info", "")


def shared_design(testset: str) -> Finding:
    """Report another table of the same days, places or persons."""
    return SHARED_DESIGN.finding(
        f"columns are those of test set {testset[:8]} (the same days, places or persons), and others were measured anew: "
        "taken for another table"
    )


def complete_design(testset: str) -> Finding:
    """Report rows that everybody has who runs this design."""
    return SHARED_DESIGN.finding(
        f"all combinations of the columns' values, as in test set {testset[:8]} by another target: taken for another table"
    )


# Test rows helped to choose a model in an earlier study.

TEST_ROWS_IN_EARLIER_SELECTION = FindingKind("G021", "TEST_ROWS_IN_EARLIER_SELECTION", "critical", FRESH)


def test_rows_in_earlier_selection(rows: int, n: int) -> Finding:
    return TEST_ROWS_IN_EARLIER_SELECTION.finding(
        f"{of_test_rows(rows, n)} helped to choose in an earlier study", severity="critical" if rows / n >= LARGE else "high"
    )


# Test rows stand among the development rows too.

TRAIN_TEST_DUPLICATES = FindingKind(
    "G030", "TRAIN_TEST_DUPLICATES", "low", "remove them, or keep them on one side (scheme.keep_duplicates_together)"
)


def train_test_duplicates(rows: int, n: int, identifiable: bool) -> Finding:
    """Report rows that stand on both sides; grave by their share where rows can be told apart at all."""
    return TRAIN_TEST_DUPLICATES.finding(
        f"{of_test_rows(rows, n)} stand among the development rows too",
        severity=_train_test_duplicates_severity(rows / n) if identifiable else "info",
    )


def _train_test_duplicates_severity(share: float) -> Severity:
    return "low" if share < 0.01 else "medium" if share < LARGE else "high"


def copies_across_the_split(rows: int, n: int, hinder: bool) -> Finding:
    """Report copies on both sides of the split; `hinder`: they are too many for anything to be certified."""
    then = "nothing is certified" if hinder else "they are left out"
    return TRAIN_TEST_DUPLICATES.finding(f"{of_test_rows(rows, n)} are copies of development rows: {then}", severity="high")


def copies_within_test_rows(n: int, different: int, columns: Sequence[str]) -> Finding:
    """Report sealed rows that are copies of each other."""
    what = f"the {n:,} test rows are copies of {different:,} different ones (equal in {_some_of(columns)})"
    do = "seal each row once, or say what belongs together (dataset.unit)"
    return TRAIN_TEST_DUPLICATES.finding(f"{what}: the interval is for {different:,}", severity="high", do=do)


def repeated_rows(columns: Sequence[str]) -> Finding:
    """Report rows that repeat as no independent ones do, with labels of their own: visits, replicates, households."""
    unit = Proposal("dataset.unit", tuple(columns)) if len(columns) <= MOST_NAMED else "dataset.unit=COLUMN"
    return GROUP_SPANS_SPLIT.finding(
        f"rows that are equal in {_some_of(columns)} come more evenly than independent rows do",
        severity="medium", do=f"if they are of one person, place or visit, declare it ({unit})",
    )  # fmt: skip


MOST_NAMED = 4


def _some_of(columns: Sequence[str]) -> str:
    """Name a few columns, or count them."""
    return ", ".join(columns) if len(columns) <= MOST_NAMED else f"{len(columns)} columns"


# These rows were opened without a guard before.

UNGUARDED_RUN_SEEN = FindingKind("G076", "UNGUARDED_RUN_SEEN", "high", "count the unguarded score as a look at full precision")


def unguarded_run_seen(times: int) -> Finding:
    return UNGUARDED_RUN_SEEN.finding(
        f"these rows were opened without a guard {_unguarded_run_seen_times(times)}, and what was shown is charged in full"
    )


def unguarded_run_seen_by_anchor(anchor: str, rows: str) -> Finding:
    return UNGUARDED_RUN_SEEN.finding(f"{anchor} saw {rows} opened without a guard")


def _unguarded_run_seen_times(count: int) -> str:
    return "before" if count == 1 else f"{count} times before"
