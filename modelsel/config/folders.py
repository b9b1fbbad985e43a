"""Folders of configuration files: the package's own `conf/`, and a person's folder searched before it.

A checkout has `conf/` beside the package; a wheel carries it inside. `FOLDER/<group>/<name>.yaml` is the option `name` of a
group; it holds plain data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from modelsel.core.errors import ConfigurationError, Problem

ROOT = "config"
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
    numbers: bool = False  # the target is a number: a file NAME_regression stands in for NAME

    @classmethod
    def of(cls, config_dir: str | Path | None = None) -> "Folders":
        """The package's folder, after a person's own when there is one; ConfigurationError when that is no folder."""
        if config_dir is None:
            return cls((shipped_folder(),))
        own = Path(config_dir).absolute()
        if not own.is_dir():
            raise ConfigurationError(
                Problem("MSEL-210", f"there is no folder {str(config_dir)!r}", "--config-dir", "`modelsel init DIR` makes one")
            )
        return cls((own, shipped_folder()))

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
