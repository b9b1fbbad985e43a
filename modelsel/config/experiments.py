"""Experiments: the knobs of one, and whether it is a published one.

Knobs are `experiment.NAME`, values that its file names once and its settings refer to (`${experiment.NAME}`). They are data
without a schema: the settings that refer to them check the value. What no setting refers to is unknown.

A published experiment is one of the package's own, on the data that its file names, without sealed rows. It shows what is in
the literature and seals nothing; its choice is not written into the ledger. Another data set or split beside it makes it a
study like any other.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import OmegaConf

from modelsel.config.folders import Folders, shipped_folder
from modelsel.config.suggest import near
from modelsel.core.errors import Problem

EXPERIMENT, OWN = "experiment", ("dataset", "split")
_KNOB = re.compile(r"\$\{\s*experiment\.(\w+)\s*\}")


def unknown_knobs(settings: Mapping[str, object]) -> Iterator[Problem]:
    """Knobs that nothing refers to, in settings whose references have not been followed.

    >>> settings = {"experiment": {"scale": 1, "size": 2}, "dataset": {"scale": "${experiment.scale}"}}
    >>> [problem.what for problem in unknown_knobs(settings)]
    ["unknown setting 'size'"]
    """
    knobs = settings.get(EXPERIMENT)
    used = set(_KNOB.findall(repr({key: value for key, value in settings.items() if key != EXPERIMENT})))
    for name in knobs if isinstance(knobs, Mapping) else ():
        if name not in used:
            yield Problem("MSEL-203", f"unknown setting {name!r}", f"{EXPERIMENT}.{name}", near(str(name), used))


def published_name(choices: Mapping[str, object], folders: Folders) -> str:
    """The name of the published experiment that this is; empty where it is none."""
    name = choices.get(EXPERIMENT)
    path = folders.find(EXPERIMENT, str(name)) if name else None
    if path is None or path.parent != shipped_folder() / EXPERIMENT or choices.get("split") != "none":
        return ""
    content: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    said = {key: value for line in content.get("defaults", ()) if isinstance(line, Mapping) for key, value in line.items()}
    return str(name) if all(said.get(f"override /{group}") == choices.get(group) for group in OWN) else ""
