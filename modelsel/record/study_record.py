"""The data that a finished study hands to the recorder: plain values, free of how they were computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from modelsel.core.outcome import StudySummary
from modelsel.core.selection import Selection
from modelsel.core.types import Description, Feature, Floats, Resampling, Table, Task
from modelsel.guard.reporting.report import AuditShape
from modelsel.record.documents import ExplanationShape, NothingShape, PairShape


@dataclass(frozen=True, eq=False)
class FinalModel:
    """The winner fitted on all development rows, as data.

    `learner` and `steps` are what `Model.describe` and `Prepared.describe` returned; `features` are those of the raw table
    that goes in; `example` holds a few development rows without labels (signature and input example of the pyfunc).
    `estimator` is a fitted scikit-learn estimator that is to be stored beside the recipe;
    `pickled` one that no safe format takes, where the person allows a pickle. `types` and `label_type` say how the source's
    columns were read (bool, int, float, str or date).
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    learner: Description
    steps: tuple[Description, ...]
    example: Table
    estimator: object = None
    pickled: object = None
    types: Mapping[str, str] = field(default_factory=dict)
    label_type: str = "str"


class UnseenRows(NamedTuple):
    """Rows that a fold's model has not seen: how strange each is to it, and what it counts (those of a unit 1 together)."""

    strangeness: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class StudyRecord:
    """The whole study as it goes on record.

    `audit` has the shape of `modelsel audit --json`, with two keys beside it where the guard knows them: `state` (its policy
    in words) and `next` ({"price": nats, "interval": [low, high]} of one more look at these rows). `command` are the words
    that were typed. Findings come from `outcome.findings`, which holds those of the data and of the selection.
    """

    outcome: StudySummary
    selection: Selection
    config: Mapping[str, object]
    task: Task  # development rows
    resampling: Resampling
    final: FinalModel | None = None
    audit: AuditShape | NothingShape = field(default_factory=lambda: NothingShape())
    pairs: tuple[PairShape, ...] = ()
    command: tuple[str, ...] = ()
    shows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name to what it shows, plain data
    times: Mapping[str, float] = field(default_factory=dict)  # candidate to seconds for the prediction of 1,000 rows
    folds: tuple[tuple[FinalModel, UnseenRows], ...] = ()  # the model of each fold, of the choice repeated
    explained: ExplanationShape = field(default_factory=lambda: ExplanationShape())  # reasons and weak spots, plain data
