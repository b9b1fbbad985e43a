"""The table of a study, and what its columns of dates are for.

Where rows are divided by time and one column holds dates, that column is their time, as `dataset.time` would say. Where every
candidate takes dates in parts (`preparer=dates`), nobody has to be told that they are moments.
"""

from dataclasses import replace

from modelsel.config.compose import Config
from modelsel.core.spec import with_fields
from modelsel.core.types import Finding, Loaded, Task
from modelsel.dataset.columns.settings import TableSettings
from modelsel.preparer.dates import in_parts

AS_MOMENTS = "DATES_AS_NUMBERS"


def load(config: Config) -> tuple[Loaded, Config]:
    """Read the table of a study; the study says which column is the time of its rows where that follows.

    Raises ConfigurationError or DataError with all problems.
    """
    loaded = config.dataset.load()
    if config.foreseen and all(map(in_parts, config.foreseen)):
        left = tuple(finding for finding in loaded.findings if finding.code != AS_MOMENTS)
        return replace(loaded, findings=left), config
    column = _lone_date(config, loaded.task)
    if column is None:
        return loaded, config
    del loaded  # of a large table one copy is enough
    resolved = {**config.resolved, "dataset": {**config.resolved["dataset"], "time": column}}
    config = replace(config, dataset=with_fields(config.dataset, time=column), resolved=resolved)
    loaded = config.dataset.load()
    what = f"rows are divided by time, and '{column}' is the one column of dates: it is their time, and no feature"
    do = f"set dataset.time={column} to say so, or dataset.features.{column}=numeric if it is a feature"
    return replace(loaded, findings=(Finding("TIME_COLUMN", "info", what, do), *loaded.findings)), config


def _lone_date(config: Config, task: Task) -> str | None:
    """The one column of dates, where rows are divided by time and nobody has said anything of it."""
    divided = any(getattr(part, "reads_times", False) for part in (config.split, config.scheme, config.outer))
    if not divided or task.times is not None or not isinstance(config.dataset, TableSettings):
        return None
    found = [feature.name for feature in task.features if feature.dates]
    if len(found) != 1 or found[0] in config.dataset.features or any(map(in_parts, config.foreseen)):
        return None
    return found[0]
