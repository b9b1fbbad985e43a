"""A file with the settings of one table, in YAML: `kind: csv`, `path: loans.csv`, `target: default`, and whatever else is said.

`modelsel plan FILE TARGET --write t.yaml` writes one; `modelsel run t.yaml` takes it by its path. In a `conf/dataset/` of
one's own the same file is `dataset=t`.
"""

from functools import partial
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from modelsel.config.overrides import LISTS
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.proposal import write_value


def is_dataset_file(word: str) -> bool:
    """A path to a file of settings of a table, as `modelsel plan FILE TARGET --write t.yaml` writes one."""
    return Path(word).suffix.lower() in (".yaml", ".yml") and "=" not in word and Path(word).is_file()


def lines_of(path: str | Path) -> list[str]:
    """The settings of a dataset file as overrides; ConfigurationError where it holds something else."""
    try:
        said = _pairs(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        what = f"cannot be read ({' '.join(str(error).split())})"
        raise ConfigurationError(Problem("MSEL-210", what, str(path), "correct the file")) from error
    kinds = [value for key, value in said if key == "kind"]
    if len(kinds) != 1 or not isinstance(kinds[0], str):
        fix = "it has a line `kind: csv` and one for each setting, as `modelsel plan FILE TARGET --write t.yaml` writes it"
        raise ConfigurationError(Problem("MSEL-210", "this is not a file of a data set", str(path), fix))
    settings = [(f"dataset.{key}", value) for key, value in said if key != "kind"]
    twice = sorted({key for key, _ in settings if key not in LISTS and [name for name, _ in settings].count(key) > 1})
    if twice:
        raise ConfigurationError(Problem("MSEL-210", f"settings that occur twice: {', '.join(twice)}", str(path), "keep one"))
    return [f"dataset={kinds[0]}", *(f"{key}={write_value(value)}" for key, value in settings)]


def _pairs(text: str) -> list[tuple[str, object]]:
    """The settings of a file in YAML as they stand there; a list of columns may stand there more than once."""
    loader = yaml.SafeLoader(text)
    node = loader.get_single_node()
    if not isinstance(node, yaml.MappingNode):
        return []
    read = partial(loader.construct_object, deep=True)
    return [(str(read(key)), read(value)) for key, value in node.value]
