"""Declarative model selection whose choice can be checked."""

from typing import Any

_HOMES = {"run": "modelsel.study", "classifier": "modelsel.estimator", "read_table": "modelsel.dataset._table"}


def __getattr__(name: str) -> Any:
    """`run`, `classifier`, `read_table` and `__version__`, each found on first use: importing modelsel costs nothing."""
    import importlib
    import importlib.metadata

    if name == "__version__":
        return importlib.metadata.version("modelsel")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'modelsel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES, "__version__"]
