"""Batches: the candidates that one fit can answer.

Two candidates share a batch when their preparation steps and the growing specification of their learners are equal: they
differ in path parameters only. A learner that reads feature subsets off its fit (`reads_subsets`, naive Bayes) also shares
it among candidates that differ in the selections (`selects`) which end their preparation. A learner may say what is so dear
after the fit that it is worth a cell of its own (`apart`: widths found by search): it fits again, from the same generator. A
candidate that is made of the answers of others has no batch.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from modelsel.core.fingerprint import digest
from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import Candidate
from modelsel.preparer.base import BasePreparer


@dataclass(frozen=True)
class Batch:
    """`growing` is the digest that the members share; `members` are positions among the plan's candidates, ascending.

    `apart` tells batches of equal growing from each other; empty where nothing keeps learners out of one cell.
    """

    growing: str
    members: tuple[int, ...]
    apart: str = ""

    @property
    def place(self) -> str:
        """The name under which the journal keeps it."""
        return digest([self.growing, self.apart]) if self.apart else self.growing


def batches(candidates: Sequence[Candidate]) -> tuple[Batch, ...]:
    """Group candidates by what their fit depends on, in order of first appearance.

    The canonical digest is taken once per group: what is compared per candidate is the plain JSON text of the same facts.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    steps: dict[tuple[object, ...], list[dict[str, object]]] = {}
    by_text: dict[str, str] = {}
    for position, candidate in enumerate(candidates):
        if candidate.of_others:
            continue
        before = preparation(candidate)
        if before not in steps:
            steps[before] = [resolved(step) for step in before]
        facts = [kind_of(candidate.learner), candidate.learner.fit_key(), steps[before]]
        text = json.dumps(facts, sort_keys=True)
        if text not in by_text:
            by_text[text] = digest(facts)
        apart: dict[str, object] = getattr(candidate.learner, "apart", dict)()
        groups.setdefault((by_text[text], digest(apart) if apart else ""), []).append(position)
    return tuple(Batch(key, tuple(members), apart) for (key, apart), members in groups.items())


def fit_digest(candidate: Candidate) -> str:
    """Digest of what the fit of one candidate depends on: its batch, whatever else is planned."""
    return batches((candidate,))[0].growing


def preparation(candidate: Candidate) -> tuple[BasePreparer, ...]:
    """The preparation steps that the fit depends on: all, but for selections that the learner reads off its fit."""
    steps: tuple[BasePreparer, ...] = candidate.preparers
    if getattr(candidate.learner, "reads_subsets", False):
        while steps and getattr(steps[-1], "selects", False):
            steps = steps[:-1]
    return steps
