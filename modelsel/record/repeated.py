"""A study that is repeated with other settings than when its test rows were last looked at: said before it pays for a look."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from modelsel.core.errors import ModelselError
from modelsel.core.outcome import StudySummary, TaskFacts
from modelsel.core.types import Candidate, Finding, Table, Task
from modelsel.record import facts
from modelsel.record.candidates import is_of_classes, settings_of
from modelsel.record.folder import RunFolder

CODE = "REPEATED_OTHERWISE"
NAMED = 6  # settings that are named


def repeated_otherwise(study: Path, candidates: Sequence[Candidate], task: Task, sealed: Table) -> list[Finding]:
    """Find what differs from a study's newest run that looked at a test set of this table; nothing where its winner is here.

    Parameters
    ----------
    study : Path
        The folder of the study's runs.
    candidates : sequence of Candidate
        Those of now.
    task, sealed : Task, Table
        Development and test rows of now.

    Returns
    -------
    list of Finding
        One at most.
    """
    before = _newest_look(study, facts.task(task, sealed))
    if before is None:
        return []
    now, then = facts.task(task, sealed).weights, before.task.weights
    changed = _other_parameters(before, candidates)
    if now != then:
        changed = {"dataset.weights_are": (_weights(then), _weights(now)), **changed}
    if not changed:
        return []
    some = [f"{name} {old} -> {new}" for name, (old, new) in list(changed.items())[:NAMED]]
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    winner = before.winner.name
    message = f"{Path(before.folder).name} looked at this test set with {winner}; what has changed: {', '.join(some)}{more}"
    fix = "where it predicts otherwise the final test is another look, and is charged: final_test=false leaves it closed"
    return [Finding(CODE, "medium", message, fix)]


def _newest_look(study: Path, told: TaskFacts) -> StudySummary | None:
    """The newest finished run of a study that looked at a test set of such a table."""
    for path in sorted(study.glob("*/study.json"), reverse=True):
        with suppress(ModelselError, OSError, ValueError, KeyError, TypeError):
            found = RunFolder(path.parent).outcome()
            same = _of_table(found.task) == _of_table(told)
            if same and found.test is not None and found.test.refused is None:
                return found
    return None


def _of_table(task: TaskFacts) -> tuple[object, ...]:
    return task.name, task.rows, task.test_rows, task.features, task.kind


def _other_parameters(before: StudySummary, candidates: Sequence[Candidate]) -> dict[str, tuple[object, object]]:
    """Settings in which the winner of then differs from the candidate that is nearest to it now; none where it is one."""
    winner, said = before.winner, dict(before.winner.parameters)
    if any(candidate.id == winner.id for candidate in candidates):
        return {}
    entry = [candidate for candidate in candidates if candidate.entry == winner.entry]
    numbers = before.task.of_numbers
    said = {name: value for name, value in said.items() if not (numbers and is_of_classes(name, value))}  # of older records
    every = [_differences(said, settings_of(candidate, numbers)) for candidate in entry]
    return min(every, key=len, default={"space": (winner.name, "not in it")})


def _differences(then: Mapping[str, object], now: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    names = dict.fromkeys((*then, *now))
    return {name: (then.get(name, "unset"), now.get(name, "unset")) for name in names if then.get(name) != now.get(name)}


def _weights(said: object) -> str:
    return str(said["are"]) if isinstance(said, Mapping) else "as given"
