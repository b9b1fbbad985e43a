"""Group k-fold cross-validation: rows of one group (a patient, a document) are never on both sides of a fold."""

from dataclasses import dataclass

from modelsel.core.types import Task
from modelsel.scheme.partition import Grouped


@dataclass(frozen=True)
class GroupKfold(Grouped):
    """Whole groups are dealt into `folds` parts of nearly equal numbers of rows."""

    def strata(self, task: Task) -> None:
        """Return None: classes are not balanced."""
