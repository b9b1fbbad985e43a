"""Hydra's composition with a guard around it: a configuration file is data, whoever wrote it.

Refused: search paths into packages, logging and callbacks (both name classes that Hydra would call), launchers and
environment variables set by a file, and any key that starts with an underscore. The hydra node of what was composed must be
the one that the package's own folder and the command line give; a file may set only `hydra.mode` and `hydra.sweeper.params`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from modelsel.config.folders import ROOT, Folders, shipped
from modelsel.core.errors import ConfigurationError, Problem

BROKEN = (HydraException, OmegaConfBaseException, YAMLError, ValueError, TypeError, AttributeError, OSError, RecursionError)
NO_GROUPS = ("space", "learner")  # their names are read by `expand`, where a list is a union and a learner is a space
FREE = ("mode", "runtime", "overrides", "job", "sweeper.params")


class GuardedLoader(ConfigLoaderImpl):
    """Hydra's loader over the folders of a study. Every configuration that it hands out has been looked through."""

    def __init__(self, folders: Folders, trusted: tuple[str, ...] = ()) -> None:
        """`trusted` are the command line's own `hydra...` overrides."""
        if version.getbase() is None:
            version.setbase("1.3")
        super().__init__(config_search_path=_search_path(folders))
        self.folders, self.trusted = folders, trusted

    def load_configuration(self, *args: Any, **options: Any) -> DictConfig:
        try:
            config = super().load_configuration(*args, **options)
        except BROKEN as error:
            raise ConfigurationError(problem_of(error)) from error
        if self.folders.own is not None:
            ConfigurationError.raise_if(_foreign(config, self.trusted))
        return config

    def _parse_overrides_and_create_caching_repo(self, config_name: Any, overrides: Any) -> Any:
        parsed, repository = super()._parse_overrides_and_create_caching_repo(config_name, overrides)
        return parsed, _Repository(repository)

    def _process_config_searchpath(self, config_name: Any, parsed_overrides: Any, repo: Any) -> None:
        loaded = repo.load_config(config_path=config_name) if config_name else None
        wanted = loaded is not None and OmegaConf.select(loaded.config, "hydra.searchpath")
        if wanted or any(override.key_or_group == "hydra.searchpath" for override in parsed_overrides):
            raise ConfigurationError(
                Problem(
                    "MSEL-230", "search paths are not taken from configuration", "hydra.searchpath", "give --config-dir DIR"
                )
            )


class _Repository(CachingConfigRepository):
    """Takes `space=...` and `learner=...` for values, not for files that Hydra would merge."""

    def group_exists(self, config_path: str) -> bool:
        return config_path not in NO_GROUPS and bool(super().group_exists(config_path))


def load(folders: Folders, overrides: list[str], trusted: tuple[str, ...] = ()) -> DictConfig:
    """The composed configuration, hydra node included."""
    loader = GuardedLoader(folders, trusted)
    return loader.load_configuration(ROOT, overrides, run_mode=RunMode.RUN, from_shell=False)


def _search_path(folders: Folders) -> ConfigSearchPathImpl:
    path = ConfigSearchPathImpl()
    path.append("hydra", "pkg://hydra.conf")
    if folders.own is not None:
        path.append("own", f"file://{folders.own}")
    path.append("main", f"file://{shipped()}")
    for plugin in Plugins.instance().discover(SearchPathPlugin):
        plugin().manipulate_search_path(path)  # type: ignore[attr-defined]
    path.append("schema", "structured://")
    return path


def problem_of(error: Exception) -> Problem:
    """What Hydra, OmegaConf or YAML had against a configuration, in one line."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return Problem(
            "MSEL-211",
            f"this is not YAML ({getattr(error, 'problem', '')})",
            f"{mark.name}, line {mark.line + 1}",
            "mend the file",
        )
    lines = [line.strip() for cause in (error, error.__cause__) if cause for line in str(cause).splitlines() if line.strip()]
    return Problem(
        "MSEL-212",
        lines[0] if lines else type(error).__name__,
        "configuration",
        "`modelsel run --info defaults` shows its files",
    )


def _foreign(config: DictConfig, trusted: tuple[str, ...]) -> list[Problem]:
    """Settings of Hydra's own that a person's folder changed."""
    found, ours = _flat(_node(config)), _trusted(trusted)
    changed = sorted(key for key in found.keys() | ours.keys() if found.get(key) != ours.get(key) and not _free(key))
    return [
        Problem("MSEL-231", "a configuration file may not change this", f"hydra.{key}", "remove it; it can name code to be run")
        for key in changed
    ]


@cache
def _trusted(overrides: tuple[str, ...]) -> Mapping[str, Any]:
    own = Folders.of()
    return _flat(_node(load(own, list(overrides), overrides)))


def _node(config: DictConfig) -> Mapping[str, Any]:
    node: Any = OmegaConf.to_container(config.hydra, resolve=False)
    return dict(node)


def _flat(node: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in node.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            out.update(_flat(value, f"{name}."))
        else:
            out[name] = value
    return out


def _free(key: str) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in FREE) and not key.startswith("job.env")
