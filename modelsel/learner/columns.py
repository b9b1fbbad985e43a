"""A table as an estimator of scikit-learn's wants it: columns fitted on analysis rows, by an encoding or by steps.

Nominal: one column per declared level and one for a missing value (`one_hot`; an undeclared level is all zeros), or the
level's index (`ordinal`; missing −1, undeclared one past the last; `native`, for estimators that take categories themselves:
missing and undeclared are NaN). Ordered: the rank. Numeric and ordered: a missing value becomes the median of the analysis
rows, or stays NaN for estimators that take it. One-hot columns are neither centred nor scaled, so that a matrix of mostly
zeros can be held without them, by rows (CSR), for estimators that answer the same of it.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.lru_cache import LRUCache
from modelsel.core.spec import spec_of
from modelsel.core.types import Feature, Floats, Integers, Table, Task, positions, without_levels
from modelsel.foreign import branches as foreign
from modelsel.foreign.branches import Branch, BranchSpec, Fit, FittedBranches, Rows
from modelsel.foreign.interface import Matrix
from modelsel.foreign.libraries import alike_on_sparse, takes_nan, takes_sparse
from modelsel.foreign.optimum import goes_to_optimum
from modelsel.foreign.stored import load_skops, skops
from modelsel.statistics.sampling import weighted_median

# One matrix of numbers by our own encoding.


ENCODINGS = ("one_hot", "ordinal", "native")
AT_ONCE = 1 << 15  # entries that are encoded together
SPARSE = 0.1  # share of entries that are not 0, up to which the zeros are left out: above it dense sums are as fast


@dataclass(frozen=True, eq=False)
class ColumnEncoding:
    """`middle`, `center` and `scale` have an entry per feature and matter for numbers and ranks only.

    `places` are the positions of the features in the table.
    """

    features: tuple[Feature, ...]
    encoding: str
    middle: Floats
    center: Floats
    scale: Floats
    places: tuple[int, ...]

    @classmethod
    def of(
        cls, task: Task, rows: Integers, encoding: str, missing: str, scale: str, places: Sequence[int] | None = None
    ) -> "ColumnEncoding":
        """Read medians, means and deviations from the analysis rows; of all features, or of some."""
        places = tuple(range(len(task.features)) if places is None else places)
        values, count = task.values[rows][:, list(places)], len(places)
        plain = task.weights is None or (task.weighing is not None and task.weighing.are == "given")
        weights = np.ones(len(rows)) if plain else task.row_weights[rows]
        middle, mean, deviation = _usual_of_all(np.ascontiguousarray(values.T), weights)
        center, spread = (mean, deviation) if scale == "deviation" else (np.zeros(count), np.ones(count))
        keep = np.full(count, np.nan) if missing == "keep" else middle
        features = tuple(task.features[place] for place in places)
        return cls(features, encoding, keep, center, np.where(spread > 0, spread, 1.0), places)

    @property
    def nominal(self) -> tuple[int, ...]:
        """Columns of the matrix that hold level indices, where each feature is one column."""
        return tuple(index for index, feature in enumerate(self.features) if not feature.has_order)

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the matrix that each feature becomes."""
        split = self.encoding == "one_hot"
        return tuple(len(one.levels) + 1 if split and not one.has_order else 1 for one in self.features)

    @property
    def is_sparse(self) -> bool:
        """Say whether zeros are most of the matrix; each feature has one other entry per row."""
        return len(self.features) <= SPARSE * sum(self.widths)

    def sparse_matrix(self, table: Table, rows: Integers) -> Any:
        """The same rows × columns in CSR: an entry per row and feature, none for an undeclared level."""
        from scipy.sparse import csr_matrix

        starts = np.concatenate([[0], np.cumsum(self.widths)])
        shape = (len(rows), len(self.places))
        at, entries, held = np.empty(shape, np.int32), np.ones(shape), np.ones(shape, bool)
        for index, place in enumerate(self.places):
            values, width = table.values[rows, place], self.widths[index]
            if width == 1:
                at[:, index], entries[:, index] = starts[index], self._block(index, values)[:, 0]
                continue
            level = np.where(np.isnan(values), width - 1, values)
            held[:, index] = np.isnan(values) | (level < width - 1)
            at[:, index] = starts[index] + level * held[:, index]
        ends = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        return csr_matrix((entries[held], at[held], ends), shape=(len(rows), int(starts[-1])))

    def matrix(self, table: Table, rows: Integers) -> Floats:
        """Rows × columns, in C order."""
        starts = np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)
        found: Floats = np.empty((len(rows), int(starts[-1])))
        numbers = np.setdiff1d(np.arange(len(self.features)), np.array(self.nominal, np.int64))
        places, many = np.array(self.places, np.int64), max(1, AT_ONCE // max(1, len(rows)))
        for some in (numbers[first : first + many] for first in range(0, len(numbers), many)):
            found[:, starts[some]] = self._numbers(some, table.values[np.ix_(rows, places[some])])
        for index in self.nominal:
            found[:, starts[index] : starts[index + 1]] = self._block(index, table.values[rows, self.places[index]])
        return found

    def _numbers(self, some: Integers, values: Floats) -> Floats:
        """Fill and scale features that are numbers or ranks: rows × as many."""
        filled = np.where(np.isnan(values), self.middle[some], values)
        scaled: Floats = (filled - self.center[some]) / self.scale[some]
        return scaled

    def _block(self, index: int, values: Floats) -> Floats:
        """Encode one feature: filled and scaled numbers, level codes, or a column per level."""
        feature = self.features[index]
        if feature.has_order:
            return self._numbers(np.array([index]), values[:, None])
        if self.encoding == "native":
            return np.where(values < len(feature.levels), values, np.nan)[:, None]
        if self.encoding == "ordinal":
            return np.where(np.isnan(values), -1.0, values)[:, None]
        levels = np.arange(len(feature.levels), dtype=np.float64)
        return np.column_stack([values[:, None] == levels, np.isnan(values)]).astype(np.float64)


def _usual_of_all(columns: Floats, weights: Floats) -> Floats:
    """Median, mean and deviation (3 × columns) of columns × rows, those without a gap at once where no row weighs more."""
    found = np.zeros((3, len(columns)))
    at_once = ~np.isnan(columns).any(axis=1) & bool((weights == 1).all() and len(weights))
    whole = columns if at_once.all() else columns[at_once]
    if len(whole):
        found[:, at_once] = np.median(whole, axis=1), whole.mean(axis=1), whole.std(axis=1)
    for index in np.flatnonzero(~at_once):
        found[:, index] = _usual(columns[index], weights)
    return found


def _usual(column: Floats, weights: Floats) -> tuple[float, float, float]:
    """Median, mean and deviation (population form) of the known values of a column, weighted; 0 where none is known."""
    known = ~np.isnan(column) & (weights > 0)
    column, own = column[known], weights[known]
    if not len(column):
        return 0.0, 0.0, 0.0
    if (own == 1).all():
        return float(np.median(column)), float(column.mean()), float(column.std())
    mean = float(np.average(column, weights=own))
    return weighted_median(column, own), mean, float(np.sqrt(np.average(np.square(column - mean), weights=own)))


# Nominal features as means of the classes (Micci-Barreca 2001), by scikit-learn's TargetEncoder, behind all other columns.
#
# The rows that are fitted on get the means of the other parts of an inner cross-validation, so that no row's own class stands
# in its features; any other row gets those of all analysis rows. A level that the analysis rows do not have gets the overall
# mean.


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """`plain` columns as they are, then those that the encoder makes of the level indices in `coded`."""

    plain: ColumnEncoding
    coded: ColumnEncoding
    encoder: Any

    @classmethod
    def of(cls, task: Task, rows: Integers, missing: str, scale: str, seed: int) -> tuple["TargetColumns", Floats]:
        """Fitted on the analysis rows, and their matrix."""
        nominal = [place for place, feature in enumerate(task.features) if not feature.has_order]
        others = [place for place in range(len(task.features)) if place not in nominal]
        plain = ColumnEncoding.of(task, rows, "one_hot", missing, scale, others)
        coded = ColumnEncoding.of(task, rows, "ordinal", missing, scale, nominal)
        encoder = _encoder(seed) if nominal else None
        made = cls(plain, coded, encoder)
        if encoder is None:
            return made, plain.matrix(task, rows)
        means = encoder.fit_transform(coded.matrix(task, rows), task.target[rows])
        return made, np.column_stack([plain.matrix(task, rows), means])

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features, as the matrix has them."""
        return (*self.plain.features, *self.coded.features)

    @property
    def nominal(self) -> tuple[int, ...]:
        """No column holds level indices."""
        return ()

    def matrix(self, table: Table, rows: Integers) -> Floats:
        """Rows × columns, in C order."""
        plain = self.plain.matrix(table, rows)
        if self.encoder is None or not len(rows):
            return plain
        means = self.encoder.transform(self.coded.matrix(table, rows))
        return np.ascontiguousarray(np.column_stack([plain, means]))


def _encoder(seed: int) -> Any:
    """Five inner folds, shuffled; from scikit-learn 1.9 on the folds are said, and no longer the seed."""
    import sklearn
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import TargetEncoder

    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9):
        return TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=seed))
    return TargetEncoder(random_state=seed)


# By steps: texts, one-hot levels, numbers, sparse where they are.
#
# What does not draw is fitted once per fold, whichever candidates ask for it: by the rows, the columns, and the steps so far.


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
        whole = "" if foreign.draws(specs, plugins) else digest([where, [spec_of(spec) for spec in specs]])
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
    key = (task.fingerprint, digest([spec_of(spec) for spec in specs]), plugins, wants)
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


# Fitted columns as data, and back: what a stored estimator reads its matrix through.

Columns = ColumnEncoding | TargetColumns | BranchColumns


def matrix_for(made: object, columns: Columns, table: Table, rows: Integers) -> Any:
    """The matrix of some rows as this estimator reads it: without zeros where they are most of it and its answers are equal."""
    return _matrix(columns, table, rows, alike_on_sparse(made))


def matrix_to_fit(learner: Any, columns: Columns, table: Table, rows: Integers) -> Any:
    """The matrix of some rows as a learner's estimator is fitted on it."""
    alike = goes_to_optimum(learner.cls, learner.params) or alike_on_sparse(learner.made)
    return _matrix(columns, table, rows, alike)


def _matrix(columns: Columns, table: Table, rows: Integers, alike: bool) -> Any:
    if alike and isinstance(columns, ColumnEncoding) and columns.is_sparse:
        return columns.sparse_matrix(table, rows)
    return columns.matrix(table, rows)


Arrays = dict[str, NDArray[Any]]
NUMBERS = ("middle", "center", "scale")


def write_columns(columns: Columns) -> tuple[dict[str, object], Arrays]:
    """Facts and arrays of fitted columns. Raises NotStoredError for an encoder or a transformer that no safe format takes."""
    if isinstance(columns, BranchColumns):
        return _steps(columns)
    if isinstance(columns, ColumnEncoding):
        return _plain(columns)
    (plain, numbers), (coded, others) = _plain(columns.plain), _plain(columns.coded)
    arrays = {**_under("plain/", numbers), **_under("coded/", others)}
    if columns.encoder is not None:
        arrays["encoder"] = np.frombuffer(skops(columns.encoder), np.uint8)
    return {"plain": plain, "coded": coded}, arrays


def read_columns(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], plugins: tuple[str, ...]) -> Columns:
    """The columns again. Raises ValueError for what is not whole."""
    if "branches" in facts:
        return _read_steps(facts, arrays, plugins)
    if "plain" not in facts:
        return _columns(facts, arrays)
    own = {name: {key.removeprefix(f"{name}/"): a for key, a in arrays.items() if key.startswith(f"{name}/")} for name in facts}
    encoder = load_skops(np.asarray(arrays["encoder"], np.uint8).tobytes()) if "encoder" in arrays else None
    return TargetColumns(_columns(facts["plain"], own["plain"]), _columns(facts["coded"], own["coded"]), encoder)


def _plain(columns: ColumnEncoding) -> tuple[dict[str, Any], Arrays]:
    features = [asdict(feature) for feature in columns.features]
    facts = {"features": features, "encoding": columns.encoding, "places": list(columns.places)}
    return facts, {name: getattr(columns, name) for name in NUMBERS}


def _columns(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]) -> ColumnEncoding:
    """Check stored columns and rebuild their encoding."""
    features = tuple(Feature(f["name"], f["kind"], tuple(f["levels"]), float(f["cost"])) for f in facts["features"])
    places = tuple(int(place) for place in facts["places"])
    numbers = [np.asarray(arrays[name], np.float64) for name in NUMBERS]
    whole = all(one.shape == (len(features),) for one in numbers) and len(places) == len(features)
    if not whole or min(places, default=0) < 0 or facts["encoding"] not in ENCODINGS:
        raise ValueError("estimator: columns are not whole")
    return ColumnEncoding(features, str(facts["encoding"]), numbers[0], numbers[1], numbers[2], places)


def _under(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def _steps(columns: BranchColumns) -> tuple[dict[str, object], Arrays]:
    """Facts and arrays of fitted steps."""
    each = columns.branches.each
    facts = {
        "features": [asdict(feature) for feature in columns.features],
        "branches": [
            {"places": list(one.places), "single": one.single, **({"framed": True} if one.framed else {})} for one in each
        ],
        "sparse": columns.branches.sparse,
    }
    return facts, {"steps": np.frombuffer(skops([list(one.chain) for one in each]), np.uint8)}


def _read_steps(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], plugins: tuple[str, ...]) -> BranchColumns:
    """Check stored steps and rebuild their columns."""
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
            raise ValueError("estimator: a step that is not a transformer")
    return BranchColumns(features, FittedBranches(tuple(each), bool(facts["sparse"])))
