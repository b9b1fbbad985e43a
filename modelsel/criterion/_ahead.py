"""Compile ahead all that trees and searches are made of: every kernel, and every criterion's own function."""

from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules

import modelsel.criterion
import modelsel.kernels
from modelsel.core.spec import make
from modelsel.kernels.compiler import function_of, load


def compiled() -> Iterator[tuple[str, bool]]:
    """Files of kernels and of criteria, and whether they are compiled; each is when it is named."""
    for path in sorted(Path(modelsel.kernels.__path__[0]).glob("*.py")):
        if "@kernel" in path.read_text("utf-8"):
            yield path.stem, load(path.stem) is not None
    if load("grow") is None:
        return
    for module in iter_modules(modelsel.criterion.__path__):
        if not module.name.startswith("_"):
            yield f"criterion {module.name}", _functions(module.name)


def _functions(kind: str) -> bool:
    """A criterion's goodness and what features compete with, where they have a compiled form."""
    from modelsel.kernels import types

    criterion = make("criterion", kind)
    if criterion.loop is None:
        return False
    function_of(criterion.loop, types.goodness.signature)
    function_of(criterion.worth_loop, types.worth.signature)
    return True
