"""Requests of a study to the gate: what it seals, what it declared, and which model it wants to see tested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from modelsel.core.types import Candidate, Floats, Integers, Outputs, Sealed, Table, Targets, Task
from modelsel.measure.base import BaseMeasure


def target_in(config: Mapping[str, Any]) -> str:
    """The name of the target in a study's settings."""
    dataset = config.get("dataset")
    return str(dataset.get("target") or "") if isinstance(dataset, Mapping) else ""


@dataclass(frozen=True, eq=False)
class TestSetDeclaration:
    """The sealed rows and what is said about them before anybody chose anything.

    `development` are the rows that choose (they count as selection rows), `candidates` the ids of the whole declared
    space, `config` the resolved configuration, from which audits show what changed between two looks.

    A search that goes by the scores names its candidates only when it is over: before, `most` says how many it may ask for, and
    `searched` is the digest of all that they depend on but the development rows; `asked` are the ids, declared ones among them.
    """

    sealed: Sealed
    development: Task
    measure: BaseMeasure
    study: str
    folder: str
    spec_id: str
    config: Mapping[str, Any] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    seed: int = 0
    most: int = 0
    searched: str = ""
    asked: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The name of the target; empty where labels came without one."""
        return target_in(self.config)


@dataclass(frozen=True)
class SelectionSummary:
    """The result of selection for the winner: the candidate's id, its cross-validated score, and from how many rows.

    `cv_error` is the out-of-fold misclassification rate where the measure is another one: it is what the error count is
    predicted from. `tried` counts the candidates of this study. `trained` is the share of the development rows that the
    models of the folds were fitted on, on average; the model that is tested had all of them.
    """

    winner: str
    cv_mean: float
    cv_rows: int
    cv_error: float | None = None
    tried: int = 0
    trained: float = 1.0


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold predictions for development rows, with the labels, units and weights of these rows."""

    outputs: Outputs  # one candidate × rows
    truth: Targets
    units: Integers | None = None
    weights: Floats | None = None


class RecordedLook(Protocol):
    """A look on record, as an exam reads it: its price, and which exam and whose answer it was by measure and settings."""

    @property
    def price(self) -> float: ...
    @property
    def metric(self) -> str: ...
    @property
    def spec_id(self) -> str: ...
    @property
    def config(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, eq=False)
class Sitting:
    """The part of a look that an exam adds: predictions that somebody else made.

    `objection` is asked under the ledger's lock, with all looks at these rows and the highest price of the answer; what it says
    is the reason of a refusal. `earlier` gives the predictions of an earlier answer by the name that the sealing's
    configuration has for it (`handed`).
    """

    objection: Callable[[Sequence[RecordedLook], float], str]
    earlier: Callable[[str], Outputs]


@dataclass(frozen=True, eq=False)
class Handed:
    """An answer of an exam when the exam is closed.

    `base` are the nats that were spent when it was handed in, with those of its index: −ln w_t + spent; None where nothing was
    shown before, and all answers share δ. `certified` says whether an interval may be given.
    """

    name: str
    outputs: Outputs
    base: float | None = None
    certified: bool = True


@dataclass(frozen=True, eq=False)
class LookRequest:
    """A request for a released answer. `predict` sees features only and is called before labels are opened."""

    sealing: TestSetDeclaration
    selected: SelectionSummary
    predict: Callable[[Table], Outputs]  # one candidate × test rows; scores where the measure needs them
    candidate: Candidate | None = None  # whose fit on the development rows, with the seal's seed, predicts; None: who knows
    sitting: Sitting | None = None  # an answer to an exam
    seen: OutOfFold | None = None  # from which the interval of a bounded loss is forecast
    unfinished: Callable[[str], bool] = lambda _folder: False  # whether a run ended before it put its answer on record
