"""Parts of a recorded study, built again from its config.yaml: what a later look, replay or refit stands on."""

from collections.abc import Mapping
from types import SimpleNamespace

from modelsel.config.build import Builder
from modelsel.config.folders import Folders
from modelsel.config.references import resolve
from modelsel.core.errors import ConfigurationError


def reopen(recorded: Mapping[str, object], *groups: str, config_dir: str | None = None) -> SimpleNamespace:
    """The parts of some groups, by group name. Raises ConfigurationError with all problems (a data file that is gone)."""
    settings, problems = resolve(dict(recorded))
    builder = Builder(Folders.of(config_dir), tuple(settings.get("plugins") or ()), list(problems))
    parts = {group: builder.part(group, settings.get(group), group) for group in groups}
    if parts.get("dataset") is not None:
        builder.problems.extend(parts["dataset"].problems())
    ConfigurationError.raise_if(builder.problems)
    return SimpleNamespace(**parts)
