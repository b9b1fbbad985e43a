"""After a sweep each sealed test set is opened once, for the job that cross-validation puts first on it.

With `guard.sweep_test` it is opened for every job: all are committed to before the first answer, and each counts as a look.
"""

from collections.abc import Sequence

from modelsel.core.errors import worst
from modelsel.core.outcome import Outcome
from modelsel.core.spec import kind_of


def open_tests(outcomes: Sequence[Outcome]) -> int:
    """Open the test set of each group of studies that sealed the same rows; the worst exit code."""
    groups = by_test_set([outcome for outcome in outcomes if outcome.task["test_rows"]])
    every = [group for group in groups if _opens_every(group[0])]
    for group in every:
        _commit(group)
    return worst([_open(outcome) for group in groups for outcome in (group if group in every else [best(group)])])


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


def _opens_every(outcome: Outcome) -> bool:
    from modelsel.record.folder import RunFolder

    return bool(RunFolder.open(outcome.folder).config()["guard"]["sweep_test"])


def _commit(outcomes: Sequence[Outcome]) -> None:
    """Write down all studies of one test set while no answer is known: each then pays for its place alone."""
    from modelsel.final_test import resealed
    from modelsel.guard.gate import Gate
    from modelsel.record.folder import RunFolder

    folder = RunFolder.open(outcomes[0].folder)
    parts, sealing = resealed(folder)
    if kind_of(parts.guard) != "off":
        Gate(parts.guard, folder.root).commit(sealing, [outcome.spec_id for outcome in outcomes])


def _open(outcome: Outcome) -> int:
    from modelsel.cli.test import opened

    return opened(outcome.folder)
