"""Tags on a run of MLflow that a person keeps open in this process, where there is one."""

import sys
from collections.abc import Mapping
from contextlib import suppress


def tag_open_run(tags: Mapping[str, str]) -> None:
    """Put tags on the open run. MLflow is not imported for it, and a store that cannot be reached stops nothing."""
    mlflow = sys.modules.get("mlflow")
    if mlflow is None:
        return
    with suppress(Exception):  # the ledger has it; the tag is a copy
        if mlflow.active_run() is not None:
            mlflow.set_tags(dict(tags))
