"""The final model of a run, ready to answer: as it was recorded, or, where only a recipe was kept, fitted again.

A recipe (scikit-learn's models) is fitted on the development rows that the recorded configuration describes: the same data,
read and split again. Their fingerprint has to be that of the record; whatever is fitted again is said.

Fitting again and answering are jobs as the cells of the study were, under its limits: what is not this package's own code may
crash, stall or fill the memory there, and the command says so and lives.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from modelsel.config.build import reopen
from modelsel.config.settings import LimitSettings
from modelsel.core.errors import ConfigurationError, DataError, NoCandidateError, Problem
from modelsel.core.reading import TableReading
from modelsel.core.types import Outputs, Table, Task
from modelsel.dataset.targets import AUTO, read_as
from modelsel.dataset.weights import weigh_as_recorded
from modelsel.record.folder import RunFolder
from modelsel.record.model import Predictor, describe, load
from modelsel.runner.evaluation.limits import UNLIMITED, CellLimits
from modelsel.runner.execution.executors import IN_THIS_PROCESS, Pool
from modelsel.runner.execution.single_job import Arguments, Failure, Returned, run_in_pool
from modelsel.runner.final_fit import outputs

Say = Callable[[str], object]
OBJECT = "object"  # the learner that reads a source
NATIVE = ("sklearn", "estimator", OBJECT)  # learners that call other people's compiled code


def ready(folder: RunFolder, say: Say, development: Task | None = None) -> Predictor:
    """The model of a run; `development` spares reading the rows again where they are at hand.

    Raises DataError where the model is damaged or a recipe's rows or versions are others, ConfigurationError where its rows
    cannot be read, NoCandidateError where the fit fails.
    """
    predictor = as_read(folder, load(folder.model, tuple(folder.config().get("plugins") or ())))
    if not predictor.is_recipe:
        return predictor
    rows = development_rows(folder) if development is None else development
    fitted = _refit(folder, predictor, rows)
    again = f"fitted again on the {len(rows)} development rows of {rows.name}"
    say(f"the record holds the recipe of this {predictor.recipe}: {again}")
    return fitted


def as_read(folder: RunFolder, predictor: Predictor) -> Predictor:
    """The model; one that was made before there was a reading reads as its study's settings say."""
    missing = (folder.config().get("dataset") or {}).get("missing")
    if predictor.read_as.decided or missing is None:
        return predictor
    return replace(predictor, reading=replace(TableReading.of(predictor.features, missing), target=predictor.read_as.target))


RECIPE = "only a recipe of the model was kept, and the development rows to fit it on are not at hand"


def development_rows(folder: RunFolder, needed: str = RECIPE) -> Task:
    """The rows that the study chose on, read and split as it did; errors say what needs them."""
    try:
        parts = reopen(folder.config(), "dataset", "split")
    except ConfigurationError as error:
        raise ConfigurationError(
            _what_is_needed(folder, needed, "put the data back where config.yaml says"), *error.problems
        ) from error
    with read_as(str(folder.config().get("task", AUTO))):
        task: Task = parts.dataset.load().task
    if any(row.learner == OBJECT for row in folder.candidates()):
        from modelsel.dataset.in_memory import read_as_given

        task = read_as_given(task)
    on_record = folder.outcome().task
    development: Task = weigh_as_recorded(task.take(parts.split.partition(task).development), on_record.weights)
    if development.fingerprint != on_record.fingerprint:
        changed = Problem("MSEL-626", "the data are not those of the study", task.name)
        raise DataError(_what_is_needed(folder, needed, "put the data of the study back, or run it again"), changed)
    return development


def _what_is_needed(folder: RunFolder, what: str, fix: str) -> Problem:
    return Problem("MSEL-625", what, str(folder.path), fix)


def _refit(folder: RunFolder, predictor: Predictor, development: Task) -> Predictor:
    """A recipe fitted again. Raises DataError for other rows or versions, NoCandidateError where the fit fails."""
    found: Predictor = _job(folder, predictor, "could not be fitted again", Predictor.refit, development)
    return found


def ask_model(folder: RunFolder, predictor: Predictor, table: Table, scores: bool) -> Outputs:
    """Classes, and scores where they are wanted. Raises NoCandidateError where the model gives none."""
    return _job(folder, predictor, "gave no answers", outputs, table, scores)


def _job(
    folder: RunFolder, predictor: Predictor, failed: str, function: Callable[[Predictor, *Arguments], Returned],
    *arguments: *Arguments,
) -> Returned:  # fmt: skip
    """Call the function as a job; NoCandidateError where it fails."""
    pool, limits = _place(folder, predictor)
    done = run_in_pool(pool, limits, function, predictor, *arguments)
    if isinstance(done, Failure):
        fix = "the limits of the study hold here too; else mend the learner, and run the study again"
        raise NoCandidateError(Problem("MSEL-709", f"the model {failed}: {done.status}, {done.reason}", str(folder.path), fix))
    return done


def _place(folder: RunFolder, predictor: Predictor) -> tuple[Pool, CellLimits]:
    """A process where the study's pool would have chosen one, or had one; our own code is called in this very thread."""
    config = folder.config()
    kind = str((config.get("pool") or {}).get("kind", "auto"))
    limit = LimitSettings(**(config.get("limit") or {}))
    if kind in IN_THIS_PROCESS or (_is_own_code(predictor, describe(folder.model)) and not limit.any):
        return Pool("sequential"), UNLIMITED
    return Pool("processes", 1), CellLimits(limit.seconds, limit.bytes)


def _is_own_code(predictor: Predictor, facts: Mapping[str, object]) -> bool:
    """Say whether a learner and its steps are modelsel's code alone, without other libraries."""
    parts = (predictor.model, *predictor.steps)
    ours = all(type(part).__module__.startswith("modelsel.") for part in parts)
    return ours and not any(kind in NATIVE for kind in _kinds((facts["learner"], facts["steps"])))


def _kinds(said: object) -> Sequence[str]:
    """All kinds that a description names, at any depth."""
    if isinstance(said, Mapping):
        own = [str(said["kind"])] if "kind" in said else []
        return [*own, *(kind for one in said.values() for kind in _kinds(one))]
    return [kind for one in said for kind in _kinds(one)] if isinstance(said, list | tuple) else []
