"""One candidate of a recorded study: its specification, its scores and predictions on record, its fit on all rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.api.results import frames
from modelsel.api.results.model import StudyClassifier
from modelsel.api.results.specification import candidate, plugins_of
from modelsel.core.types import Candidate
from modelsel.record.candidates import Row
from modelsel.record.folder import RunFolder


@dataclass(frozen=True, eq=False)
class StudyCandidate:
    """A candidate of a study, by `outcome.candidate(id)`.

    Examples
    --------
    >>> outcome.candidate().scores.shape
    (10,)
    """

    row: Row
    folder: RunFolder
    labels: Callable[[], NDArray[np.generic]]
    fitted: Callable[[Candidate], StudyClassifier]

    @property
    def id(self) -> str:
        """The candidate's id: a digest of its specification.

        Examples
        --------
        >>> len(outcome.candidate().id)
        16
        """
        return self.row.id

    @property
    def learner(self) -> str:
        """The kind of its learner.

        Examples
        --------
        >>> outcome.candidate().learner
        'tree'
        """
        return self.row.learner

    @property
    def specification(self) -> dict[str, Any]:
        """The learner with every setting fixed, as `conf/learner/` writes it.

        Examples
        --------
        >>> outcome.candidate().specification["max_depth"]
        1
        """
        return dict(candidate(self.row, plugins_of(self.folder)).spec)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score on each fold.

        Examples
        --------
        >>> outcome.candidate().scores.shape
        (10,)
        """
        return np.array(self.row.folds)

    @property
    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions, where they are on record; KeyError otherwise.

        Examples
        --------
        >>> outcome.candidate().predictions["predicted"].head(2).tolist()
        ['No', 'No']
        """
        return frames.predictions(self.folder, self.labels(), self.id)

    def fit(self) -> StudyClassifier:
        """Fit the candidate on all development rows of the study.

        Returns
        -------
        StudyClassifier
            A scikit-learn estimator that reads tables as the study did.

        Raises
        ------
        ConfigurationError
            Where the study's table was in memory and was not handed over again.

        Examples
        --------
        >>> outcome.candidate().fit().predict(frame.head(2)).tolist()
        ['No', 'No']
        """
        return self.fitted(candidate(self.row, plugins_of(self.folder)))

    def __repr__(self) -> str:
        return f"<Candidate {self.id}: {self.row.label}, mean {self.row.mean:.4g}>"
