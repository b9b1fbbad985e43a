"""Declarative model selection whose choice can be checked.

The names and their types stand in `__init__.pyi`; each is found on first use, so that importing modelsel costs nothing.
Packages beside this one bring names of their own: `modelsel.core.satellites`.
"""

_RUN, _COMMANDS = "modelsel.api.run", "modelsel.api.commands"
_HOMES = {
    "run": _RUN,
    "plan": _RUN,
    "open_run": _RUN,
    "open_sweep": "modelsel.api.sweep",
    **dict.fromkeys(("classifier", "regressor"), "modelsel.estimator"),
    "read_table": "modelsel.dataset.read_table",
    "ModelselError": "modelsel.core.errors",
    "Outcome": "modelsel.api.outcome",
    "SelectionCV": "modelsel.api.search.selection_cv",
    **dict.fromkeys(("certify", "verify"), f"{_COMMANDS}.certificates"),
    **dict.fromkeys(("test", "audit", "check", "lint"), f"{_COMMANDS}.ledger"),
    **dict.fromkeys(("report", "dossier", "compare", "sync"), f"{_COMMANDS}.record"),
    "ui": f"{_COMMANDS}.ui",
    **dict.fromkeys(("predict", "export"), f"{_COMMANDS}.model"),
    **dict.fromkeys(("doctor", "init", "explain"), f"{_COMMANDS}.setup"),
    "completion": f"{_COMMANDS}.words",
}


def __getattr__(name: str) -> object:
    """Find a public name or `__version__` on first use."""
    import importlib

    if name == "__version__":
        from modelsel.core.system.installed import version_of

        return version_of("modelsel")
    if name in _HOMES:
        from modelsel.core.system.requirements import requirements

        with requirements():
            return getattr(importlib.import_module(_HOMES[name]), name)
    return _of_satellites(name)


def _of_satellites(name: str) -> object:
    """Find a name that another package brings."""
    what = f"module 'modelsel' has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(what)
    from modelsel.core.satellites import NAMES, install_line, offers_of

    if name in offers_of(NAMES):
        return offers_of(NAMES)[name].load()
    line = install_line(name)
    raise AttributeError(f"{what}: {line}" if line else what)


def __dir__() -> list[str]:
    from modelsel.core.satellites import NAMES, offers_of

    return [*_HOMES, *offers_of(NAMES), "__version__"]
