"""Stratified group k-fold: whole groups, dealt so that classes and sizes come as near to proportion as greed allows."""

from dataclasses import dataclass

from modelsel.core.types import Codes, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import Grouped, strata_of


@dataclass(frozen=True)
class StratifiedGroupKfold(Grouped, BaseScheme):
    """Groups, largest first, go where the squared deviation from the class proportions grows least."""

    def strata(self, task: Task) -> Codes:
        """Return the classes, which are balanced; of numbers, the quantiles."""
        return strata_of(task, self.folds)
