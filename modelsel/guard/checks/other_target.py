"""Rows that are known by another target: the same measurements of the same things, and labels that nobody has asked for.

Whether a target is another one nobody can see: of labels nothing is kept. So names tell what to ask, and a person says it
(`guard.justify.category=other_target`), on record; not of targets that have one name. Then rows that chose by the other target
are not left out; looks at it count, and the nats spent on it are inherited, since the one may be made of the other. Unsaid,
they are the same rows, and no more.

All combinations of some values are the same rows for everybody who runs this design. By another target they mean nothing.
"""

from collections.abc import Iterator
from dataclasses import replace

from modelsel.core.types import Finding
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import PreparedLook
from modelsel.guard.facts import RecordedSelection
from modelsel.guard.findings import row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History, PastLook
from modelsel.guard.matching import Relation
from modelsel.guard.policy.base import OTHER_TARGET, says_other_target
from modelsel.guard.requests import target_in

FEWEST = 2  # rows that every value of a complete design has


def relations_by_target(
    ask: PreparedLook, history: History, found: tuple[Relation, ...]
) -> tuple[tuple[Relation, ...], tuple[str, ...]]:
    """The relations, marked where they are by another target, and the test sets that are the same complete design."""
    mine, said = ask.request.sealing.target, says_other_target(ask.policy)
    kept, designs = [], []
    for relation in found:
        names = _targets(relation.testset, history, ask.request.sealing.spec_id)
        other = bool(mine and names and mine not in names and "" not in names)
        honoured = said and bool(names) and not (mine and mine in names)
        if other and is_complete_design(ask.subject):
            designs.append(relation.testset)
        elif other or honoured:
            kept.append(replace(relation, other=next(iter(sorted(names))), declared=honoured))
        else:
            kept.append(relation)
    return tuple(kept), tuple(dict.fromkeys(designs))


def _targets(testset: str, history: History, spec_id: str) -> set[str]:
    """The names of the targets by which others than this study chose or looked; empty names where they are not known."""
    chosen = map(RecordedSelection.of, history.selections_for(testset))
    names = [stated.target for stated in chosen if stated.spec_id != spec_id]
    return {*names, *(target_in(look.config) for look in history.looks_at([testset]) if look.spec_id != spec_id)}


def is_complete_design(subject: RowFingerprints) -> bool:
    """Say whether the rows of a table are all combinations of its columns' values."""
    distinct = round(subject.u["bound"] * len(subject))
    many = all(FEWEST * sketch.distinct <= distinct for sketch in subject.sketches)
    return many and subject.room == distinct


def found_by_target(position: LookContext, target: str) -> Iterator[Finding]:
    """Report each set of the same rows by another target once."""
    for testset in position.complete:
        yield row_findings.complete_design(testset)
    others = {one.testset: one for one in position.relations if one.other is not None}
    for testset, relation in others.items():
        yield row_findings.other_target(testset, relation.other or "", target, relation.declared)


def by_other_target(look: PastLook, target: str, declared: bool) -> bool:
    """Say whether a look was by another target than this: by its name, or as it is declared since."""
    before = target_in(look.config)
    if before and target and before != target:
        return True
    reason = look.facts.justify
    return declared and (reason is None or reason.category != OTHER_TARGET)
