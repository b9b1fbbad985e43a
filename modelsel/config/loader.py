"""Hydra's composition with a guard around it: a configuration file is data, whoever wrote it.

A person's file may hold no key that starts with an underscore, no reference but the allowed ones, and of Hydra's own settings
only `hydra.mode` and `hydra.sweeper.params`: logging, callbacks, launchers, search paths and environment variables all name
code or places. Files are looked through before they are merged; afterwards the hydra node must be the one that the package
and the command line alone would give, so that no detour through packages or defaults lists helps.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, flag_override
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from modelsel.config.folders import Folders, shipped_folder
from modelsel.config.references import unsafe_keys
from modelsel.core.errors import ConfigurationError, Problem

BROKEN = (HydraException, OmegaConfBaseException, YAMLError, ValueError, TypeError, AttributeError, OSError, RecursionError)
GROUPS = ("dataset", "split", "scheme", "measure", "rule", "race", "guard", "pool", "tracking", "experiment")  # of defaults
NO_GROUPS = ("space", "learner")  # their names are read by `expand`, where a list is a union and a learner is a space
OURS = (
    "hydra.output_subdir=null",  # the record of a study is its own folder
    "hydra.run.dir=.",
    "hydra.sweep.dir=''",  # below `runs`, unless it is typed
    "hydra.job.chdir=false",
    "hydra/job_logging=none",  # modelsel logs to stderr by itself
    "hydra/hydra_logging=none",
)
FREE = (
    "mode",
    "sweeper.params",
    "runtime",
    "overrides",
    "job.name",
    "job.config_name",
    "job.override_dirname",
    "job.num",
    "job.id",
)
TAKEN = ("mode", "sweeper")  # what a file may say under `hydra`
_SHIPPED: dict[str, dict[str, ConfigResult | None]] = {}  # files of the package that were read, by their folder


class GuardedLoader(ConfigLoaderImpl):
    """Hydra's loader over the folders of a study. Every configuration that it hands out has been looked through."""

    def __init__(self, folders: Folders, trusted: tuple[str, ...] = ()) -> None:
        """`trusted` are the command line's own `hydra...` overrides."""
        if version.getbase() is None:
            version.setbase("1.3")
        super().__init__(config_search_path=_search_path(folders))
        self.folders, self.trusted = folders, trusted

    def load_configuration(
        self, config_name: str | None, overrides: list[str], run_mode: RunMode, *args: Any, **options: Any
    ) -> DictConfig:
        """Compose by Hydra with our own lines first, refuse code in it, and let typed values win."""
        own = [line for line in OURS if line not in overrides]  # a sweep's jobs come with them
        try:
            config = super().load_configuration(config_name, [*own, *overrides], run_mode, *args, **options)
        except BROKEN as error:
            raise ConfigurationError(problem_of(error)) from error
        if self.folders.own is not None:
            ConfigurationError.raise_if(_foreign(config, self.trusted))
        return _typed_wins(config, overrides)

    def _parse_overrides_and_create_caching_repo(self, config_name: object, overrides: Any, *parsed_before: Any) -> Any:
        """Read the overrides, and give Hydra the folders with what was read of the package's own files before.

        Hydra 1.4 hands over overrides that are parsed already.
        """
        given = next(iter(parsed_before), None)
        repository = _Repository(self.repository)
        parsed = OverridesParser.create().parse_overrides(overrides) if given is None else given
        if self.folders.own is None and not self.trusted:  # nothing but the package's own files
            repository.shipped = _SHIPPED.setdefault(str(shipped_folder()), {})
        return parsed, repository


class _Repository(CachingConfigRepository):
    """Files of the folders: looked through on reading; `space=` and `learner=` are values, not files that Hydra would merge."""

    shipped: dict[str, ConfigResult | None] | None = None

    def group_exists(self, config_path: str) -> bool:
        return config_path not in NO_GROUPS and bool(super().group_exists(config_path))

    def load_config(self, config_path: str) -> ConfigResult | None:
        """Load a file; one of the person's folder is looked through for code.

        Those of the package are read once in a process. Each composition has a copy, as Hydra may change what it gets.
        """
        key = f"config_path={config_path}"
        if self.shipped is not None and key not in self.cache:
            if config_path not in self.shipped:
                self.shipped[config_path] = super().load_config(config_path)
            self.cache[key] = deepcopy(self.shipped[config_path])
        loaded = super().load_config(config_path)
        if loaded is not None and loaded.provider == "own":
            ConfigurationError.raise_if(_file_problems(loaded, config_path))
        return loaded


@contextmanager
def hydra_over(folders: Folders, trusted: tuple[str, ...]) -> Iterator[Hydra]:
    """Hydra over our folders; what it has against a configuration is an error like all others."""
    hydra = Hydra(task_name="modelsel", config_loader=GuardedLoader(folders, trusted))
    GlobalHydra.instance().initialize(hydra)
    try:
        yield hydra
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigurationError(problem_of(error)) from error
    finally:
        GlobalHydra.instance().clear()


def load(folders: Folders, overrides: Sequence[str], trusted: tuple[str, ...] = ()) -> DictConfig:
    """The composed configuration, hydra node included, to be read: what the package's own files make is made once."""
    if folders.own is None and not trusted:
        return _of_the_package(shipped_folder(), tuple(overrides))
    return _compose(folders, overrides, trusted)


@lru_cache(maxsize=32)
def _of_the_package(_folder: Path, overrides: tuple[str, ...]) -> DictConfig:
    """What overrides make of the package's files: studies in one process mostly ask for the same groups."""
    made = _compose(Folders.of(), overrides, ())
    OmegaConf.set_readonly(made, True)
    return made


def _compose(folders: Folders, overrides: Sequence[str], trusted: tuple[str, ...]) -> DictConfig:
    return GuardedLoader(folders, trusted).load_configuration(folders.name, list(overrides), RunMode.RUN, from_shell=False)


def problem_of(error: Exception) -> Problem:
    """Put an error of Hydra, OmegaConf or YAML about a configuration into one line."""
    if (mark := getattr(error, "problem_mark", None)) is not None:
        what = f"this is not YAML ({getattr(error, 'problem', '')})"
        return Problem("MSEL-211", what, f"{mark.name}, line {mark.line + 1}", "mend the file")
    lines = [line.strip() for cause in (error, error.__cause__) if cause for line in str(cause).splitlines() if line.strip()]
    what = lines[0].rstrip(".") if lines else type(error).__name__
    return Problem("MSEL-212", what, "configuration", "`modelsel run --info defaults` shows its files")


def _typed_wins(config: DictConfig, overrides: list[str]) -> DictConfig:
    """Let typed overrides replace what an experiment's file sweeps under the same key."""
    params = config.hydra.sweeper.get("params")
    if not params:
        return config
    fixed = {line.lstrip("+").partition("=")[0].removesuffix(".kind") for line in overrides}
    said: Any = OmegaConf.to_container(params, resolve=False)
    named = {str(key).lstrip("+"): value for key, value in said.items()}
    with flag_override(config.hydra.sweeper, ["struct", "readonly"], [False, False]):
        config.hydra.sweeper.params = {
            _as_override(key, (*named, *fixed)): value for key, value in named.items() if key not in fixed
        }
    return config


def _as_override(key: str, others: Collection[str]) -> str:
    """A swept key of a file as Hydra takes it: what is not a file is set, and a part's name stands above its settings."""
    if key.split(".")[0] == "hydra" or key in GROUPS:
        return key
    return f"++{key}.kind" if any(other.startswith(f"{key}.") for other in others) else f"++{key}"


def _search_path(folders: Folders) -> ConfigSearchPathImpl:
    """Order the places that Hydra searches: its own, the person's folder, the package's, plug-ins."""
    path = ConfigSearchPathImpl()
    path.append("hydra", "pkg://hydra.conf")
    if folders.own is not None:
        path.append("own", f"file://{folders.own}")
    path.append("main", f"file://{shipped_folder()}")
    for plugin in Plugins.instance().discover(SearchPathPlugin):
        plugin().manipulate_search_path(path)  # type: ignore[attr-defined]
    path.append("schema", "structured://")
    return path


def _file_problems(loaded: ConfigResult, name: str) -> Iterator[Problem]:
    """Yield the problems of one file in a person's folder."""
    if name.startswith("hydra/"):
        yield _not_yours(name)
    content: object = OmegaConf.to_container(loaded.config, resolve=False)
    yield from unsafe_keys(content, name)
    node = content.get("hydra") if isinstance(content, Mapping) else None
    if node is None:
        return
    for key in node if isinstance(node, Mapping) else ("",):
        if key not in TAKEN:
            yield _not_yours(f"{name}: hydra.{key}".rstrip("."))
    sweeper = node.get("sweeper") if isinstance(node, Mapping) else None
    params = sweeper.get("params") if isinstance(sweeper, Mapping) else None
    for key in params if isinstance(params, Mapping) else ():
        if str(key).lstrip("+~").startswith("hydra"):
            yield _not_yours(f"{name}: hydra.sweeper.params.{key}")


def _foreign(config: DictConfig, trusted: tuple[str, ...]) -> Iterator[Problem]:
    """Settings of Hydra's own that came out other than the package and the command line make them."""
    found, ours = _flat(_node(config)), _settings_of_hydra(trusted)
    for key in sorted(found.keys() | ours.keys()):
        if found.get(key) != ours.get(key) and not any(key == name or key.startswith(f"{name}.") for name in FREE):
            yield _not_yours(f"hydra.{key}")


def _not_yours(where: str) -> Problem:
    return Problem("MSEL-231", "a configuration file may not set this", where, "remove it: it can name code or places")


@cache
def _settings_of_hydra(overrides: tuple[str, ...]) -> Mapping[str, object]:
    return _flat(_node(load(Folders.of(), list(overrides), overrides)))


def _node(config: DictConfig) -> Mapping[str, object]:
    node: Any = OmegaConf.to_container(config.hydra, resolve=False)
    return dict(node)


def _flat(node: Mapping[Any, object], prefix: str = "") -> dict[str, object]:
    """Flatten nested mappings to dotted names."""
    out: dict[str, object] = {}
    for key, value in node.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            out.update(_flat(value, f"{name}."))
        else:
            out[name] = value
    return out
