"""Compile ahead all that trees and searches are made of: every kernel, and every criterion's own function."""

from collections.abc import Iterator
from pathlib import Path

import modelsel.kernels
from modelsel.core.spec import kinds_of, make
from modelsel.kernels.compiler import function_of, load, sources


def compiled() -> Iterator[tuple[str, bool]]:
    """Files of kernels and of criteria, and whether they are compiled; each is when it is named."""
    for path in sources(Path(modelsel.kernels.__path__[0])):
        if "@kernel" in path.read_text("utf-8"):
            yield path.stem, load(path.stem) is not None
    if load("grow") is None:
        return
    for kind in kinds_of("criterion"):
        yield f"criterion {kind}", _functions(kind)


def _functions(kind: str) -> bool:
    """A criterion's goodness and what features compete with, where they have a compiled form."""
    from modelsel.kernels import types

    criterion = make("criterion", kind)
    if criterion.loop is None:
        return False
    function_of(criterion.loop, types.goodness.signature)
    function_of(criterion.worth_loop, types.worth.signature)
    return True
