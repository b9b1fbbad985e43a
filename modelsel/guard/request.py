"""What a study hands to the gate: what it seals, what it declared, and which model it wants to see tested."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from modelsel.core.protocols import Measure
from modelsel.core.types import Candidate, Outputs, Sealed, Table, Task


@dataclass(frozen=True, eq=False)
class Sealing:
    """The sealed rows and what is said about them before anybody chose anything.

    `development` are the rows that choose (they count as selection rows), `candidates` the ids of the whole declared
    space, `config` the resolved configuration, from which audits show what changed between two looks.
    """

    sealed: Sealed
    development: Task
    measure: Measure
    study: str
    folder: str
    spec_id: str
    config: Mapping[str, Any] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class Selected:
    """What selection says of the winner: the candidate's id, its cross-validated score, and from how many rows.

    `cv_error` is the out-of-fold misclassification rate where the measure is another one: it is what the error count is
    predicted from. `tried` counts the candidates of this study.
    """

    winner: str
    cv_mean: float
    cv_rows: int
    cv_error: float | None = None
    tried: int = 0


@dataclass(frozen=True, eq=False)
class LookRequest:
    """One request for a released answer. `predict` sees features only and is called before labels are opened."""

    sealing: Sealing
    selected: Selected
    predict: Callable[[Table], Outputs]  # one candidate × test rows; scores where the measure needs them
    candidate: Candidate | None = None  # whose fit on the development rows, with the seal's seed, predicts; None: who knows
