"""All kinds of findings, found in the files beside this one."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from modelsel.guard import findings
from modelsel.guard.findings.base import FindingKind


@cache
def catalogue() -> Mapping[str, FindingKind]:
    """Return each kind by its code.

    >>> catalogue()["G071"].name
    'LEDGER_ROLLED_BACK'
    """
    files = [import_module(f"{findings.__name__}.{found.name}") for found in iter_modules(findings.__path__)]
    kinds = {value.code: value for file in files for value in vars(file).values() if isinstance(value, FindingKind)}
    return {code: kinds[code] for code in sorted(kinds)}


def losses() -> tuple[str, ...]:
    """Return the codes that say that something of the record was changed, cut off or is gone.

    >>> losses()
    ('G070', 'G071', 'G072', 'G079')
    """
    return tuple(code for code, kind in catalogue().items() if kind.loss)
