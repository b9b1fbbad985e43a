"""After a sweep each sealed test set is opened once, for the job that cross-validation puts first on it."""

from collections.abc import Sequence

from modelsel.core.errors import OK, worst
from modelsel.core.outcome import Outcome


def open_tests(outcomes: Sequence[Outcome]) -> int:
    """Open the test set of each group of studies that sealed the same rows, for its best; the worst exit code."""
    return worst([_open(best(group)) for group in by_test_set(outcomes)])


def by_test_set(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Studies that may be compared on one look: the same data, the same rows sealed, the same measure."""
    groups: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in outcomes:
        key = (outcome.task["name"], outcome.task["fingerprint"], outcome.task["test_rows"], outcome.measure)
        groups.setdefault(key, []).append(outcome)
    return list(groups.values())


def best(outcomes: Sequence[Outcome]) -> Outcome:
    """The one of the best cross-validated score; ties go to the first."""
    from modelsel.record.folder import RunFolder

    higher = bool(RunFolder.open(outcomes[0].folder).details().get("higher_is_better"))
    return (max if higher else min)(outcomes, key=lambda outcome: outcome.winner["cv"]["mean"])


def _open(outcome: Outcome) -> int:
    if not outcome.task["test_rows"]:
        return OK
    from modelsel.cli.test import opened

    return opened(outcome.folder)
