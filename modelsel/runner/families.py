"""Families: `alpha: path` declares a candidate per subtree of a pruning sequence, which only a fit can tell.

One fit on the development rows, for all families of equal growing, names the members; only then are the candidates counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from modelsel.core.fingerprint import generator
from modelsel.core.protocols import Path
from modelsel.core.types import Candidate, Task, positions
from modelsel.plan.batch import growing
from modelsel.runner.memo import Memo
from modelsel.runner.prepared import prepare, rows_digest


def resolve(candidates: Sequence[Candidate], task: Task, seed: int) -> tuple[Candidate, ...]:
    """The candidates with every family replaced, where it stood, by its members; equal candidates are merged."""
    distinct: dict[str, Candidate] = {}
    paths: Memo[Path] = Memo(4)
    for candidate in candidates:
        for member in _members(candidate, task, seed, paths) if is_family(candidate) else (candidate,):
            distinct.setdefault(member.id, member)
    return tuple(distinct.values())


def is_family(candidate: Candidate) -> bool:
    """Does it stand for candidates that only a fit can name?"""
    return bool(getattr(candidate.learner, "is_family", False))


def _members(candidate: Candidate, task: Task, seed: int, paths: Memo[Path]) -> Iterator[Candidate]:
    shared = growing(candidate)
    path: Any = paths.get(shared, lambda: path_of(candidate, task, seed))
    for learner in path.members(candidate.learner):
        yield replace(candidate, learner=learner)


def path_of(candidate: Candidate, task: Task, seed: int) -> Path:
    """The candidate's path on all rows of the task: every twin of equal growing is answered by it."""
    rows = positions(task)
    _, ready = prepare(candidate.preparers, task, rows, seed)
    path: Path = candidate.learner.fit_path(ready, rows, generator(seed, rows_digest(task, rows), growing(candidate)))
    return path
