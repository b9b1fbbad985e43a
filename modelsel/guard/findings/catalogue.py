"""All kinds of findings, found in their files."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from modelsel.guard import findings
from modelsel.guard.findings.base import FindingKind


@cache
def catalogue() -> Mapping[str, FindingKind]:
    """Return each kind by its code.

    >>> catalogue()["G071"].name
    'LEDGER_ROLLED_BACK'
    """
    kinds = [
        import_module(found.name).KIND
        for found in walk_packages(findings.__path__, f"{findings.__name__}.")
        if found.name.count(".") == findings.__name__.count(".") + 2
    ]
    return {kind.code: kind for kind in sorted(kinds, key=lambda kind: kind.code)}


def losses() -> tuple[str, ...]:
    """Return the codes that say that something of the record was changed, cut off or is gone.

    >>> losses()
    ('G070', 'G071', 'G072', 'G079')
    """
    return tuple(code for code, kind in catalogue().items() if kind.loss)
