"""Recognise a published experiment: one of the package's own, on the data that its file names, without sealed rows.

It shows what is in the literature and seals nothing; its choice is not written into the ledger. Another data set or split
beside it makes it a study like any other.
"""

from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf

from modelsel.config.folders import Folders, shipped_folder

EXPERIMENT, OWN = "experiment", ("dataset", "split")


def published_name(choices: Mapping[str, object], folders: Folders) -> str:
    """The name of the published experiment that this is; empty where it is none."""
    name = choices.get(EXPERIMENT)
    path = folders.find(EXPERIMENT, str(name)) if name else None
    if path is None or path.parent != shipped_folder() / EXPERIMENT or choices.get("split") != "none":
        return ""
    content: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    said = {key: value for line in content.get("defaults", ()) if isinstance(line, Mapping) for key, value in line.items()}
    return str(name) if all(said.get(f"override /{group}") == choices.get(group) for group in OWN) else ""
