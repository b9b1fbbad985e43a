"""The source code that a cell runs, as a digest: what was computed by other code is computed again.

Of this package whole folders count, because kernels and kinds are imported by name, where no reader of import statements
sees it. Of a part from elsewhere its whole package counts; of one that was typed into a session, its own text.
"""

import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from uuid import uuid4

from modelsel.core.spec import classes_in
from modelsel.core.types import Candidate

PACKAGE = Path(__file__).parents[1]
ROOMS = (
    "core", "statistics", "kernels", "tree", "forest", "criterion", "pruner", "softener", "distance", "learner", "preparer",
    "foreign", "sharing", "calibrator", "decision", "measure", "planning", "runner",
)  # fmt: skip

LEARNER, STEPS = attrgetter("learner"), attrgetter("preparers")


def code(candidates: Sequence[Candidate]) -> str:
    """Compute the digest of the code that the cells of a batch run.

    Our rooms, every part from elsewhere at any depth, and the versions of libraries that they name as their `source`.
    """
    steps = [*map(LEARNER, candidates), *chain.from_iterable({id(each): each for each in map(STEPS, candidates)}.values())]
    kinds = classes_in(steps)
    foreign = (kind for kind in kinds if not kind.__module__.startswith("modelsel."))
    texts = sorted({_text_of(kind) for kind in foreign})
    libraries = sorted({getattr(step, "source", "") for step in steps[len(candidates) - 1 :]})  # one fit, one learner's
    return hashlib.sha256("\0".join((own_digest(), *texts, *libraries)).encode()).hexdigest()[:32]


@cache
def own_digest() -> str:
    """Compute the digest of the package's own modules that a cell runs."""
    return _digest(file for room in ROOMS for file in _files(PACKAGE / room))


@cache
def _text_of(kind: type) -> str:
    """Digest of the package that a class comes from, or of the class where there is no file; nothing equals unknown text."""
    top = kind.__module__.partition(".")[0]
    module = import_module(top)
    own = getattr(sys.modules[kind.__module__], "__file__", None)
    around = [folder for folder in getattr(module, "__path__", ()) if own and Path(own).is_relative_to(folder)]
    if around:  # a namespace package lies in several folders, in an order that depends on how Python was started
        return _digest(_files(Path(around[0])))
    if own:
        return _digest([Path(own)])
    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
    except (OSError, TypeError):
        return uuid4().hex


def _files(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.rglob("*.py")))


def _digest(files: Iterable[Path]) -> str:
    """Hash names and contents of files."""
    state = hashlib.sha256()
    for file in files:
        state.update(f"{file.name}\0".encode() + file.read_bytes())
    return state.hexdigest()
