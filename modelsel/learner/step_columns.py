"""Columns as steps make them, for an estimator: texts, one-hot levels, numbers, sparse where they are.

What does not draw is fitted once per fold, whichever candidates ask for it: by the rows, the columns, and the steps so far.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.lru_cache import LRUCache
from modelsel.core.spec import resolved
from modelsel.core.types import Feature, Integers, Table, Task, positions, without_levels
from modelsel.foreign import branches as foreign
from modelsel.foreign.branches import Branch, BranchSpec, Fit, FittedBranches, Rows
from modelsel.foreign.interface import Matrix
from modelsel.foreign.libraries import takes_nan, takes_sparse
from modelsel.foreign.stored import load_skops, skops

TRIED = 2_000  # rows on which steps are tried before a study
STEPS: LRUCache[Fit] = LRUCache(16)
MATRICES: LRUCache[object] = LRUCache(4)
TRIALS: LRUCache[tuple[str, ...]] = LRUCache(64)


@dataclass(frozen=True, eq=False)
class BranchColumns:
    """Fitted branches, and the features of the table that they were fitted on, by place; texts without their levels.

    `shared` names all that the fit depends on, where candidates share it.
    """

    features: tuple[Feature, ...]
    branches: FittedBranches
    shared: str = ""

    @classmethod
    def of(
        cls, task: Task, rows: Integers, specs: Sequence[BranchSpec], seed: int, plugins: tuple[str, ...]
    ) -> tuple["BranchColumns", Matrix]:
        """Fitted on the analysis rows, and their matrix."""
        where = digest([task.fingerprint, array_digest(rows)])
        whole = "" if foreign.draws(specs, plugins) else digest([where, [resolved(spec) for spec in specs]])
        data = Rows(task.features, task.values[rows], task.target[rows])
        branches, matrix = foreign.fit(specs, data, seed, plugins, lambda key, fit: STEPS.get((where, key), fit))
        return cls(without_levels(task.features), branches, whole), matrix

    @property
    def nominal(self) -> tuple[int, ...]:
        """No column holds level indices."""
        return ()

    def matrix(self, table: Table, rows: Integers) -> object:
        """Rows × columns; rows of a task that candidates are judged on are kept for the next that asks."""
        if not self.shared or not isinstance(table, Task):
            return self._made(table, rows)
        key = (self.shared, table.fingerprint, array_digest(rows))
        return foreign.own_copy(MATRICES.get(key, lambda: foreign.read_only(self._made(table, rows))))

    def _made(self, table: Table, rows: Integers) -> object:
        return self.branches.matrix(table.features, table.values[rows])


# Tried before any fold: what does not fit the columns is a problem of the plan.


def trouble(task: Task, specs: Sequence[BranchSpec], plugins: tuple[str, ...], made: object) -> tuple[str, ...]:
    """Why the steps cannot be fitted on these rows, or the estimator cannot read what they make; tried once per task."""
    if found := tuple(foreign.misfits(specs, task.features)):
        return found
    wants = (takes_nan(made), takes_sparse(made))
    key = (task.fingerprint, digest([resolved(spec) for spec in specs]), plugins, wants)
    return TRIALS.get(key, lambda: tuple(_try_branches(task, specs, plugins, wants)))


def _try_branches(task: Task, specs: Sequence[BranchSpec], plugins: tuple[str, ...], wants: tuple[bool, bool]) -> Iterator[str]:
    """Fit each branch on some rows; on all where that fails, since a rare word may need them."""
    some, everyone = np.linspace(0, len(task) - 1, min(TRIED, len(task))).astype(np.int64), positions(task)
    fitted: list[tuple[Branch, Matrix]] = []
    whole = True
    for spec, places in zip(specs, foreign.branch_places(specs, task.features), strict=True):
        try:
            fitted += _fit(task, some, spec, places, plugins)
        except Exception:
            whole = False
            try:
                _fit(task, everyone, spec, places, plugins)
            except Exception as error:
                what = ", ".join(task.features[place].name for place in places)
                yield f"steps of {spec.columns!r} do not fit {what}: {' '.join(str(error).split())[:200]}"
    if whole:
        yield from _unread(foreign.side_by_side(fitted, len(some))[1], *wants)


def _fit(
    task: Task, rows: Integers, spec: BranchSpec, places: tuple[int, ...], plugins: tuple[str, ...]
) -> list[tuple[Branch, Matrix]]:
    """Fit one branch on some rows, quietly."""
    data = Rows(task.features, task.values[rows], task.target[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the folds will say it
        return foreign.fit_branch(spec, places, data, np.random.default_rng(0), plugins)


def _unread(matrix: Any, gaps: bool, sparse: bool) -> Iterator[str]:
    """What an estimator cannot read of a matrix."""
    is_sparse = hasattr(matrix, "nnz")
    if is_sparse and not sparse:
        fix = "end them with TruncatedSVD, or set sparse_output: false"
        yield f"the steps make a sparse matrix, which the estimator does not take: {fix}"
    numbers = matrix.data if is_sparse else matrix
    if numbers.dtype == object:
        yield "the steps leave texts: give them an encoder, as OneHotEncoder"
    elif not gaps and np.isnan(numbers).any():
        yield "the steps leave missing values, which the estimator does not take: add SimpleImputer"


# Fitted steps as data, and back.


def write_columns(columns: BranchColumns) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
    """Facts and arrays. Raises NotStoredError for a transformer that no safe format takes."""
    each = columns.branches.each
    facts = {
        "features": [asdict(feature) for feature in columns.features],
        "branches": [
            {"places": list(one.places), "single": one.single, **({"framed": True} if one.framed else {})} for one in each
        ],
        "sparse": columns.branches.sparse,
    }
    return facts, {"steps": np.frombuffer(skops([list(one.chain) for one in each]), np.uint8)}


def read(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], plugins: tuple[str, ...]) -> BranchColumns:
    """The columns again. Raises ValueError for what is not whole."""
    chains = load_skops(np.asarray(arrays["steps"], np.uint8).tobytes(), plugins)
    features = tuple(Feature(**{**one, "levels": tuple(one["levels"])}) for one in facts["features"])
    each = [
        Branch(tuple(int(place) for place in one["places"]), bool(one["single"]), tuple(chain), bool(one.get("framed")))
        for one, chain in zip(facts["branches"], chains, strict=True)
    ]
    for one in each:
        if not one.places or not all(0 <= place < len(features) for place in one.places):
            raise ValueError("estimator: columns are not whole")
        if not all(hasattr(transformer, "transform") for transformer in one.chain):
            raise ValueError("estimator: a step that is no transformer")
    return BranchColumns(features, FittedBranches(tuple(each), bool(facts["sparse"])))
