"""The context that all cells of a run share, and the job and reply of one cell: the unit that pools hand to workers."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.source import Source
from modelsel.core.spec import kind_of, spec_of
from modelsel.core.types import Candidate, Resampling, Task
from modelsel.measure.base import BaseMeasure, tie_scale
from modelsel.planning.make import Cell, Plan
from modelsel.planning.sources import code
from modelsel.runner.evaluation.cell import Reached, evaluate
from modelsel.runner.evaluation.cell_result import CellKey, CellResult
from modelsel.runner.evaluation.limits import UNLIMITED, CellLimits, no_limits


@dataclass(frozen=True)
class CellJob:
    """Some candidates (positions in the plan) of one cell; `one_by_one`: whoever asks will know which of them was reached."""

    cell: Cell
    members: tuple[int, ...]
    one_by_one: bool = False


@dataclass(frozen=True, eq=False)
class RunContext:
    """The study as its cells see it. Everything in it travels to a worker once."""

    task: Task
    resampling: Resampling
    plan: Plan
    measure: BaseMeasure
    seed: int = 0
    limits: CellLimits = UNLIMITED
    rows: bool = True  # keep predictions per row, not only scores
    beside: Mapping[str, BaseMeasure] = field(default_factory=dict)  # what else is said of every candidate
    spare: frozenset[int] = frozenset()  # batches asked for class scores that no measure reads, for whoever wants them later

    @cached_property
    def needs_scores(self) -> bool:
        """Say whether any measure reads class scores, or an ensemble: then every candidate is asked for them."""
        read = any(measure.needs_scores for measure in (self.measure, *self.beside.values()))
        return read or (bool(self.task.class_count) and any(one.of_others for one in self.plan.candidates))

    @cached_property
    def scale(self) -> float:
        """What the rounding of scores is relative to."""
        return tie_scale(self.measure, self.task)

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Digest of the code behind each batch, and of the source where it is read: its table does not say all of it."""
        batches = [[self.plan.candidates[member] for member in batch.members] for batch in self.plan.batches]
        return tuple(digest([code(own), self._source]) if _reads_source(own) else code(own) for own in batches)

    @cached_property
    def _source(self) -> str:
        """Digest of the columns as they were handed over."""
        return "" if self.task.source is None else fingerprint(self.task.source)

    def __getstate__(self) -> dict[str, object]:
        """Keys do not travel: a worker makes those that it needs."""
        return {name: value for name, value in vars(self).items() if name != "_keys"}

    @cached_property
    def _keys(self) -> dict[Cell, CellKey]:
        return {}

    def key(self, cell: Cell) -> CellKey:
        """Return a cell's key, made once: it is asked for when the cell is looked up, written and entered."""
        if (known := self._keys.get(cell)) is None:
            fold, batch = self.resampling.folds[cell.fold], self.plan.batches[cell.batch]
            known = CellKey(self.task.fingerprint, fold.fingerprint, batch.place, self.seed, self.codes[cell.batch])
            self._keys[cell] = known
        return known

    def candidates(self, job: CellJob) -> tuple[Candidate, ...]:
        return tuple(self.plan.candidates[member] for member in job.members)

    def evaluate(self, job: CellJob, reached: Reached | None = None) -> CellResult:
        """Compute one job's cell: see `cell.evaluate`."""
        result = evaluate(
            self.task,
            self.resampling.folds[job.cell.fold],
            self.candidates(job),
            self.plan.batches[job.cell.batch].growing,
            self.seed,
            self.needs_scores,
            self.limits.enforce if self.limits.any else no_limits,
            reached,
            job.cell.batch in self.spare and not job.one_by_one,  # what crashes there would not have crashed without
        )
        return result if self.rows else replace(self.with_scores(job.cell.fold, result), measure=self.measure_id)

    def with_scores(self, fold: int, result: CellResult) -> CellResult:
        """Status and score per candidate, as the run's measure sees them: what a choice is made from."""
        if not result.has_rows:
            return result
        rows = self.resampling.folds[fold].assessment
        weights = None if self.task.weights is None else self.task.weights[rows]
        return result.with_scores(self.measure, self.task.target[rows], weights, self.task.class_count, self.beside)

    def lacking(self, result: CellResult) -> str:
        """Say why a recorded result does not serve this run; empty when it does."""
        if not result.has_rows and self.rows:
            return "only scores were kept, and rows are wanted"
        if not result.has_rows and result.measure != self.measure_id:
            return "only the scores of another measure were kept"
        if result.has_rows and result.scores is None and self.needs_scores:
            return "the measure reads class scores, which were not kept"
        return ""

    @cached_property
    def measure_id(self) -> str:
        """Digest of the measure and its settings, and of those beside it."""
        others = [[name, spec_of(measure)] for name, measure in self.beside.items()]
        return digest([kind_of(self.measure), spec_of(self.measure), *others])


def _reads_source(candidates: Sequence[Candidate]) -> bool:
    return any(getattr(candidate.learner, "reads_source", False) for candidate in candidates)


def fingerprint(source: Source) -> str:
    """The digest of a source: types, categories in their order, and every cell; what its table does not say of it is in it."""
    data = source.data
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        rows = data.tocsr()
        return digest([str(rows.dtype), list(rows.shape), array_digest(rows.data, rows.indices, rows.indptr)])
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        return array_digest(data)
    if isinstance(data, np.ndarray | list | tuple):
        return hashlib.sha256(b"".join(hashlib.sha256(_bytes(row)).digest() for row in data)).hexdigest()[:32]
    import narwhals as nw  # with pandas: few studies need them
    import pandas as pd

    frame = nw.from_native(data, eager_only=True).to_pandas()
    kinds = [
        [str(name), str(kind), [str(one) for one in getattr(kind, "categories", ())]] for name, kind in frame.dtypes.items()
    ]
    cells = [pd.util.hash_pandas_object(frame.iloc[:, place], index=False).to_numpy() for place in range(frame.shape[1])]
    return digest([type(data).__module__, kinds, array_digest(*cells)])


def _bytes(row: object) -> bytes:
    """What a row holds: a text, numbers, or what it shows."""
    if isinstance(row, str):
        return b"text:" + row.encode()
    array = np.asarray(row)
    return array.tobytes() if not array.dtype.hasobject else repr(row).encode()
