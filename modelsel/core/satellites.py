"""What packages beside the core bring: commands, names, outputs and parts, found by their entry points when they are asked for.

A package offers them in `pyproject.toml`, in these groups:

- `modelsel.commands`: a command's name, and its module with `main(words)` and `HELP`, the line of `modelsel --help`;
- `modelsel.names`: a name of `modelsel`, and the object;
- `modelsel.outputs`: any name, and a mapping like `OUTPUTS` of `modelsel.manual.schemas`;
- `modelsel.findings`: any name, and a module of `FindingKind`s;
- `modelsel.parts`: what a setting of the core asks (`exam`), and the module that answers.

Standard library only, so that help and completion answer at once.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem

COMMANDS, NAMES, OUTPUTS, FINDINGS, PARTS = (
    f"modelsel.{kind}" for kind in ("commands", "names", "outputs", "findings", "parts")
)
OWN = {  # what our own packages offer, by name: the extra that brings it
    **dict.fromkeys(("exam", "gate", "create_exam", "create_gate"), "exam"),
    **dict.fromkeys(("watch", "watching"), "watch"),
}


@cache
def offers_of(group: str) -> Mapping[str, EntryPoint]:
    """Return what installed packages offer in a group, by name.

    A package may be named in what is installed and be absent: a wheel that was built without it names it still.
    """
    there: dict[str, bool] = {}
    found = {}
    for entry in entry_points(group=group):
        package = entry.module.partition(".")[0]
        if package not in there:
            there[package] = find_spec(package) is not None
        if there[package]:
            found[entry.name] = entry
    return found


def install_line(name: str) -> str | None:
    """Return how to install what offers a name, where one of our packages does.

    >>> install_line("exam")
    "pip install 'modelsel[exam]'"
    >>> install_line("run") is None
    True
    """
    return f"pip install 'modelsel[{OWN[name]}]'" if name in OWN else None


def part(name: str) -> Any:
    """Load what a setting of the core asks. Raises ConfigurationError, with how to install it, where it is absent."""
    return _load(PARTS, name, f"{name}=")


def command(name: str) -> Any:
    """Load the module of a command of another package. Raises ConfigurationError as `part` does."""
    return _load(COMMANDS, name, f"modelsel {name}")


def every(group: str) -> list[Any]:
    """Load everything that is offered in a group."""
    return [entry.load() for entry in offers_of(group).values()]


def folders() -> list[str]:
    """Return the folders of the packages that offer something, for what reads sources."""
    names = {entry.module.partition(".")[0] for group in (COMMANDS, NAMES, PARTS) for entry in offers_of(group).values()}
    specs = (find_spec(name) for name in sorted(names))
    return [place for spec in specs if spec for place in spec.submodule_search_locations or ()]


def _load(group: str, name: str, where: str) -> Any:
    """Load an entry point of a group; the error says how to install what is absent."""
    entry = offers_of(group).get(name)
    if entry is None:
        fix = install_line(name) or "install the package that offers it"
        raise ConfigurationError(Problem("MSEL-260", f"{name} is not installed", where, fix))
    return entry.load()
