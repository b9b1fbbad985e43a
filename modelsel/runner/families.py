"""Families: `alpha: path` declares a candidate per subtree of a pruning sequence, which only a fit can tell.

One fit on the development rows, for all families of equal growing, names the members; only then are the candidates counted.
What a family stands for is a record of the journal, so that a resumed study fits nothing for it. A member is kept as the
settings in which it differs from its family; what is read back has to have the ids that were written.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from modelsel.core.fingerprint import digest, generator
from modelsel.core.lru_cache import LRUCache
from modelsel.core.spec import Part, flat, spec_of, with_fields
from modelsel.core.types import Candidate, Task, positions
from modelsel.learner.base import BaseLearner, Path
from modelsel.learner.transformed_target import TransformedTarget
from modelsel.planning.make import distinct_candidates, fit_digest
from modelsel.planning.sources import code
from modelsel.runner.evaluation.cell_result import CellKey
from modelsel.runner.evaluation.preprocessing import prepare, rows_digest
from modelsel.runner.journal import FAMILY, Journal, JournalRecord

ALL_ROWS = "all rows"  # what stands in the place of a fold

Members = tuple[Candidate, ...]


def resolve(
    candidates: Sequence[Candidate], task: Task, seed: int, journal: Journal | None = None, scores: bool = True
) -> Members:
    """The candidates with every family replaced, where it stood, by its members; those that cannot differ are merged.

    `scores` says whether anything reads class scores. With a journal a family that it knows is not fitted, and one that it does
    not know is written down.
    """
    distinct: dict[str, Candidate] = {}
    paths: LRUCache[Path] = LRUCache(4)
    for candidate in candidates:
        for member in _members(candidate, task, seed, paths, journal) if is_family(candidate) else (candidate,):
            distinct.setdefault(member.id, member)
    return knowing_others(distinct_candidates(tuple(distinct.values()), task.features, scores))


def knowing_others(candidates: Members) -> Members:
    """The candidates, of which an ensemble knows the others: which they are is part of what it is."""
    if not any(one.of_others for one in candidates):
        return candidates
    others = digest([candidate.id for candidate in candidates if not candidate.of_others])
    return tuple(replace(one, learner=replace(one.learner, among=others)) if one.of_others else one for one in candidates)


def is_family(candidate: Candidate) -> bool:
    """Say whether a candidate stands for several that only a fit can name."""
    return bool(getattr(candidate.learner, "is_family", False))


def path_of(candidate: Candidate, task: Task, seed: int) -> Path:
    """The candidate's path on all rows of the task: every twin of equal growing is answered by it."""
    rows = positions(task)
    _, ready = prepare(candidate.preparers, task, rows, seed)
    path: Path = candidate.learner.fit_path(ready, rows, generator(seed, rows_digest(task, rows), fit_digest(candidate)))
    return path


def _members(family: Candidate, task: Task, seed: int, paths: LRUCache[Path], journal: Journal | None) -> Members:
    """Make the members of a family: read from the journal, or from a fit on all rows."""
    shared = fit_digest(family)
    key = CellKey(task.fingerprint, ALL_ROWS, digest([shared, family.id]), seed, code((family,)))
    known = _read_members(family, key, journal) if journal else None
    if known is not None:
        return known
    path: Any = paths.get(shared, lambda: path_of(family, task, seed))
    members = tuple(replace(family, learner=learner) for learner in path.members(family.learner))
    if journal:
        place = journal.own.append(_facts(key, family, members), {})
        journal.note(key, place)
    return members


def _facts(key: CellKey, family: Candidate, members: Members) -> dict[str, object]:
    """Describe a family's members by what they have changed."""
    common = flat(spec_of(family.learner))
    own = [flat(spec_of(member.learner)) for member in members]
    changes = [{name: value for name, value in one.items() if common.get(name) != value} for one in own]
    ids = [member.id for member in members]
    return {"kind": FAMILY, "key": key.text, "cell": key.facts, "members": changes, "ids": ids}


def _read_members(family: Candidate, key: CellKey, journal: Journal) -> Members | None:
    """Read the members of a family from the journal; copied into the run's own when an older one has them."""
    for place, own in journal.records_of(key):
        record = journal.record(place)
        members = _members_of(family, record) if record else None
        if members and (own or journal.adopt(key, place)):
            return members
    return None


def _members_of(family: Candidate, record: JournalRecord) -> Members | None:
    """The members that a record names; None when they are not those that it was written for."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        changes, ids = record.facts["members"], record.facts["ids"]
        members = tuple(replace(family, learner=_change_settings(family.learner, change)) for change in changes)
        if [member.id for member in members] == ids:
            return members
    return None


def _change_settings(learner: BaseLearner, settings: Mapping[str, object]) -> BaseLearner:
    """The learner with some dotted settings changed.

    >>> from modelsel.core.spec import make
    >>> tree = make("learner", "tree", pruner=make("pruner", "cost_complexity", alpha="path"))
    >>> _change_settings(tree, {"pruner.alpha": 0.25, "min_split": 8}).pruner.alpha
    0.25
    """
    if isinstance(learner, TransformedTarget):
        return replace(learner, base=_change_settings(learner.base, settings))
    for name, value in settings.items():
        learner = _with(learner, name.split("."), value)
    return learner


def _with(part: Part, path: Sequence[str], value: object) -> Part:
    first, *rest = path
    return with_fields(part, **{first: _with(getattr(part, first), rest, value) if rest else value})
