"""What modelsel takes from Hydra's inside is in the Hydra that is installed, and is called and overridden as Hydra has it."""

import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser

from modelsel.cli.application import REFUSED
from modelsel.config.loader import GuardedLoader, _Repository

PACKAGE = Path(__file__).resolve().parents[2] / "modelsel"
HELD = {  # all that this file holds
    "hydra._internal.config_loader_impl import ConfigLoaderImpl",
    "hydra._internal.config_repository import CachingConfigRepository",
    "hydra._internal.config_search_path_impl import ConfigSearchPathImpl",
    "hydra._internal.hydra import Hydra",
    "hydra._internal.utils import get_args_parser",
}


def test_nothing_else_is_taken_from_the_inside() -> None:
    found = {
        taken for path in PACKAGE.rglob("*.py") for taken in re.findall(r"hydra\._internal[^\n]*", path.read_text("utf-8"))
    }
    assert found == HELD


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(GuardedLoader, ConfigLoaderImpl), (_Repository, CachingConfigRepository)],
    ids=["loader", "repository"],
)
def test_what_is_overridden_is_a_method_of_hydra_with_the_same_arguments(ours: type, theirs: type) -> None:
    """A hook that Hydra renamed would never be called, and files would be merged that nobody looked through."""
    names = [name for name, value in vars(ours).items() if callable(value) and name != "__init__"]
    assert names
    for name in names:
        named = [
            each.name for each in signature(getattr(ours, name)).parameters.values() if each.kind == each.POSITIONAL_OR_KEYWORD
        ]
        assert [*signature(getattr(theirs, name)).parameters][: len(named)] == named, name


@pytest.mark.parametrize(
    ("function", "words", "options"),
    [
        (ConfigLoaderImpl, ("search path",), ()),
        (ConfigLoaderImpl.load_configuration, ("self", "name", [], "mode"), ("from_shell", "validate_sweep_overrides")),
        (CachingConfigRepository, ("repository",), ()),
        (ConfigSearchPathImpl.append, ("self", "provider", "path"), ()),
        (Hydra, (), ("task_name", "config_loader")),
        (Hydra.multirun, ("self", "name", "function", []), ("with_log_configuration",)),
        (Hydra.shell_completion, ("self", "name", []), ()),
        (Hydra.show_cfg, ("self", "name", [], "job", "package", True), ()),
        (Hydra.show_info, ("self", "defaults", "name", []), ()),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_what_is_called_takes_what_it_is_given(
    function: Callable[..., Any], words: tuple[Any, ...], options: tuple[str, ...]
) -> None:
    signature(function).bind(*words, **dict.fromkeys(options))


def test_the_parser_of_hydra_knows_every_option_that_is_read_or_refused() -> None:
    read = {"help", "cfg", "info", "shell_completion", "multirun", "config_dir", "package", "resolve", "overrides"}
    assert {*read, *REFUSED} <= {action.dest for action in get_args_parser()._actions}
