"""The final model of a run, ready to answer: as it was recorded, or, where only a recipe was kept, fitted again.

A recipe (scikit-learn's models) is fitted on the development rows that the recorded configuration describes: the same data,
read and split again. Their fingerprint has to be that of the record; whatever is fitted again is said.
"""

from collections.abc import Callable

from modelsel.config.reopen import reopen
from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.types import Task
from modelsel.record.folder import RunFolder
from modelsel.record.model.model import Predictor, load

Say = Callable[[str], object]


def ready(folder: RunFolder, say: Say, development: Task | None = None) -> Predictor:
    """The model of a run; `development` spares reading the rows again where they are at hand.

    Raises DataError where the model is damaged or a recipe's rows or versions are others, ConfigurationError where its rows
    cannot be read.
    """
    predictor = load(folder.model, tuple(folder.config().get("plugins") or ()))
    if not predictor.is_recipe:
        return predictor
    rows = development_rows(folder) if development is None else development
    fitted = predictor.refit(rows)
    again = f"fitted again on the {len(rows)} development rows of {rows.name}"
    say(f"the record holds the recipe of this {predictor.recipe}: {again}")
    return fitted


def development_rows(folder: RunFolder) -> Task:
    """The rows that the study chose on, read and split as it did; errors name the recipe that needs them."""
    try:
        parts = reopen(folder.config(), "dataset", "split")
    except ConfigurationError as error:
        raise ConfigurationError(_needed(folder, "put the data back where config.yaml says"), *error.problems) from error
    task: Task = parts.dataset.load().task
    development = task.take(parts.split.partition(task).development)
    if development.fingerprint != folder.outcome().task["fingerprint"]:
        changed = Problem("MSEL-626", "the data are not those of the study", task.name)
        raise DataError(_needed(folder, "put the data of the study back, or run it again"), changed)
    return development


def _needed(folder: RunFolder, fix: str) -> Problem:
    what = "only a recipe of the model was kept, and the development rows to fit it on are not at hand"
    return Problem("MSEL-625", what, str(folder.path), fix)
