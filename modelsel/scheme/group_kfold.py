"""Group k-fold cross-validation: rows of one group (a patient, a document) are never on both sides of a fold."""

from dataclasses import dataclass

from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import Grouped


@dataclass(frozen=True)
class GroupKfold(Grouped, BaseScheme):
    """Whole groups are dealt into `folds` parts of nearly equal numbers of rows."""
