"""Folders of configuration files: the package's own `conf/`, and a person's folder searched before it.

A checkout has `conf/` beside the package; a wheel carries it inside. `FOLDER/<group>/<name>.yaml` is the option `name` of a
group; it holds plain data.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]
from yaml import compose as compose_yaml

from modelsel.core.errors import ConfigurationError, Problem

ROOT = "config"
PACKAGE = "pkg://"
TWIN = "_regression"  # what a file is called that stands in for another where the target is a number


def shipped_folder() -> Path:
    """The package's `conf/`, in a checkout or in an installed wheel."""
    package = Path(__file__).parents[1]
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


@dataclass(frozen=True)
class Folders:
    """The folders that options are looked up in, first come first served."""

    roots: tuple[Path, ...]
    name: str = ROOT  # of the root file
    numbers: bool = False  # the target is a number: a file NAME_regression stands in for NAME

    @classmethod
    def of(cls, config_dir: str | Path | None = None, config_name: str | None = None) -> "Folders":
        """The package's folder, after a person's own (a path, or `pkg://a.package`) when there is one.

        `config_name` is a root file in that folder, composed on top of the package's own by `defaults: [config, _self_]`.
        Raises ConfigurationError where there is no such folder or file.
        """
        name = (config_name or ROOT).removesuffix(".yaml")
        if config_dir is None:
            if name != ROOT:
                raise ConfigurationError(
                    Problem("MSEL-210", f"{name!r} is looked for in a folder", "--config-name", "give --config-dir DIR too")
                )
            return cls((shipped_folder(),))
        own = _in_package(str(config_dir)) if str(config_dir).startswith(PACKAGE) else Path(config_dir).absolute()
        if not own.is_dir():
            raise ConfigurationError(
                Problem("MSEL-210", f"there is no folder {str(config_dir)!r}", "--config-dir", "`modelsel init DIR` makes one")
            )
        ConfigurationError.raise_if(_traps(own))
        if config_name is not None and (name == ROOT or not (own / f"{name}.yaml").is_file()):
            what = "a root file of one's own has another name than config" if name == ROOT else f"there is no {name}.yaml"
            fix = f"write {own / 'NAME.yaml'} that begins with `defaults: [config, _self_]`"
            raise ConfigurationError(Problem("MSEL-210", what, "--config-name", fix))
        return cls((own, shipped_folder()), name)

    def for_numbers(self) -> "Folders":
        """Return these folders as a study of numbers sees them: NAME_regression.yaml stands in for NAME.yaml."""
        return replace(self, numbers=True)

    @property
    def own(self) -> Path | None:
        return self.roots[0] if len(self.roots) > 1 else None

    def groups(self) -> tuple[str, ...]:
        """Names of all groups."""
        found = {path.name for root in self.roots for path in root.iterdir() if path.is_dir()}
        return tuple(sorted(name for name in found if name.isidentifier() and name != "hydra"))

    def options(self, group: str) -> tuple[str, ...]:
        """Names of a group's files; one that begins with an underscore is what others begin from."""
        return tuple(sorted({path.stem for root in self.roots for path in (root / group).glob("[!_]*.yaml")}))

    def find(self, group: str, name: str) -> Path | None:
        """The file of an option, or None. A name never leaves its group's folder."""
        if not name or Path(name).name != name:
            return None
        if self.numbers and (twin := replace(self, numbers=False).find(group, f"{name}{TWIN}")) is not None:
            return twin
        return next((path for root in self.roots if (path := root / group / f"{name}.yaml").is_file()), None)

    def read(self, group: str, name: str) -> Mapping[str, object] | None:
        """Read an option's file over those of its folder that its `defaults` name; None when there is no such file."""
        path = self.find(group, name)
        if path is None:
            return None
        own = dict(read_yaml(path))
        below = [self.read(group, str(each)) or {} for each in own.pop("defaults", ()) if each != "_self_"]
        return {key: value for each in (*below, own) for key, value in each.items()}


def _in_package(address: str) -> Path:
    """The folder of `pkg://a.package.folder`; ConfigurationError where there is none on disk."""
    name = address.removeprefix(PACKAGE).replace("/", ".")
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        what = f"there is no package {name!r}"
        raise ConfigurationError(Problem("MSEL-210", what, "--config-dir", "install it, or give the path of a folder"))
    return Path(places[0])


MOST_VALUES = 100_000  # of a file of settings, its aliases written out


def _traps(folder: Path) -> Iterator[Problem]:
    """Yield the files whose aliases, written out, are more than anybody wrote: reading them would take all memory."""
    for path in (*folder.glob("*.yaml"), *folder.glob("*/*.yaml")):
        with suppress(OSError, YAMLError, UnicodeDecodeError):  # such a file is complained of where it is read
            text = path.read_text("utf-8")
            if "&" in text and "*" in text and _values(compose_yaml(text), {}) > MOST_VALUES:
                what = f"its aliases stand for more than {MOST_VALUES:,} values"
                yield Problem("MSEL-211", what, str(path), "write out what is meant")


def _values(node: Any, known: dict[int, float]) -> float:
    """Count the values of a node with its aliases written out; one that holds itself has no end."""
    if id(node) not in known:
        known[id(node)] = inf
        parts = node.value if isinstance(node.value, list) else ()
        inner = (one for part in parts for one in (part if isinstance(part, tuple) else (part,)))
        known[id(node)] = 1 + sum(_values(one, known) for one in inner)
    return known[id(node)]


def line_of(path: Path, key: str) -> int | None:
    """The line of a dotted key in a YAML file, from 1; None where it is not there.

    A file that is no YAML is complained of elsewhere.
    """
    try:
        node = compose_yaml(path.read_text("utf-8"))
    except (YAMLError, OSError, UnicodeDecodeError):
        return None
    line = None
    for part in key.split("."):
        found = next(
            (pair for pair in getattr(node, "value", ()) or () if isinstance(pair, tuple) and pair[0].value == part), None
        )
        if found is None:
            return line
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The mapping in a YAML file, references (`${...}`) left as they are; ConfigurationError when it is none."""
    return _read_mapping(path, path.stat().st_mtime_ns)


@cache
def _read_mapping(path: Path, _changed: int) -> Mapping[str, object]:
    """Read a YAML file as a mapping; what it holds otherwise is an error with its line."""
    try:
        data = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    except (YAMLError, OmegaConfBaseException, UnicodeDecodeError, OSError) as error:
        first, *_ = str(error).strip().splitlines() or [""]
        place = f", line {mark.line + 1}" if (mark := getattr(error, "problem_mark", None)) else ""
        reason = getattr(error, "problem", None) or first
        raise ConfigurationError(
            Problem("MSEL-211", f"this is not YAML ({reason})", f"{path}{place}", "mend the file")
        ) from error
    if not isinstance(data, dict):
        raise ConfigurationError(Problem("MSEL-211", "this file should hold a mapping", str(path), "write `key: value` lines"))
    return {str(key): value for key, value in data.items()}
