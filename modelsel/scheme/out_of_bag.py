"""Out of bag: each row is judged by the trees of a bagged learner that have not drawn it, so that one fit on all rows serves.

Of T trees about 0.37 T judge a row, so that small forests look worse than they are: numbers of trees are not compared out of
bag, and those under 50 are refused. A row that every tree has drawn is judged by the class shares of all rows, and counted.
The lowest of many out-of-bag errors is too good, as that of any scheme is: the correction for having chosen stands beside it.

`python -m benchmarks.simulations.forests_out_of_bag` measures the bias against 10-fold cross-validation by simulation.

Source: Breiman (1996), *Out-of-bag estimation*; Bylander (2002).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from modelsel.core.spec import kind_of
from modelsel.core.types import Candidate, Fold, Resampling, Task, positions
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored

LEAST = 50  # trees


@dataclass(frozen=True)
class OutOfBag(BaseScheme):
    """One fold: all rows are analysed, and assessed by the trees that have not drawn them."""

    def problems(self, task: Task) -> Iterator[str]:
        yield from groups_ignored(task, self)

    def misfits(self, candidates: Sequence[Candidate]) -> Iterator[str]:
        """Yield reasons why some candidates cannot be compared out of bag."""
        learners = [candidate.learner for candidate in candidates]
        yield from _not_bagged(learners)
        if any(candidate.preparers for candidate in candidates):
            yield "steps before the learner would be fitted on the rows that are judged: leave the preparer out, or take k-fold"
        sizes = sorted({learner.trees for learner in learners if hasattr(learner, "in_every_bag")})
        if sizes and sizes[0] < LEAST:
            yield f"forests of fewer than {LEAST} trees are not judged out of bag, and one has {sizes[0]}"
        if len(sizes) > 1:
            yield f"numbers of trees are not compared out of bag: give one in place of {', '.join(map(str, sizes))}"

    def instantiate(self, task: Task, seed: int) -> Resampling:
        rows = positions(task)
        rows.flags.writeable = False
        return Resampling(kind_of(self), task.fingerprint, (Fold(0, 0, rows, rows),))


def _not_bagged(learners: Sequence[Any]) -> Iterator[str]:
    """Yield why some learners cannot be judged out of bag."""
    others = {
        kind_of(learner)
        for learner in learners
        if not getattr(learner, "looks_at_nothing", False) and not hasattr(learner, "in_every_bag")
    }
    if others:
        yield f"only bagged learners are judged out of bag, not {', '.join(sorted(others))}"
    if any(hasattr(learner, "in_every_bag") and learner.leaf.quantile is not None for learner in learners):
        yield "quantiles of a forest (leaf.statistic) are not judged out of bag: take another scheme"
    if any(getattr(learner, "in_every_bag", False) for learner in learners):
        yield "no row is out of bag where every tree sees all of them (rows: all): take rows: bootstrap, or another scheme"
