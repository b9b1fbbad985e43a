"""The data that a show may read when a study ends: development rows, the selection, the final model. Never the sealed rows."""

from dataclasses import dataclass

from modelsel.core.selection import Selection
from modelsel.core.types import Candidate, Task
from modelsel.learner.trees.model import NumberTreeModel, TreeModel
from modelsel.runner.final_fit import Final
from modelsel.runner.results import Results


@dataclass(frozen=True, eq=False)
class SectionContext:
    """A finished study in memory."""

    task: Task
    selection: Selection
    final: Final
    seed: int
    measure: str
    results: Results  # the cells fold by fold

    @property
    def winner(self) -> Candidate:
        return self.selection.candidates[self.selection.winner]

    @property
    def tree(self) -> TreeModel | NumberTreeModel | None:
        """The final model where it is a tree."""
        return self.final.model if isinstance(self.final.model, TreeModel | NumberTreeModel) else None


def no_tree(studied: SectionContext) -> dict[str, str]:
    """Give the reason why a show of a tree has nothing to show."""
    return {"reason": f"the winner is no tree ({studied.final.kind})"}
