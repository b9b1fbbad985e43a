"""Steps by columns: each branch is a chain of transformers over some columns, and their matrices stand side by side.

    steps: {age: [StandardScaler], "amount_*": [SimpleImputer], nominal: [OneHotEncoder], text: [TfidfVectorizer], rest: drop}

A branch is named by columns, by patterns, by a kind, or is what is left (`rest`). Every column belongs to one branch, that
which names it most closely: by name, by pattern, by kind, as the rest; of two alike the first. It is what scikit-learn's
ColumnTransformer makes of the same branches, sparse where that is (`sparse_threshold`), bit for bit. Texts with a gap read
as empty, because text transformers take no gaps. skrub's transformers of one column are handed a series of pandas, and what
they make goes on as a matrix.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.column_kind.base import kind_names
from modelsel.core.fingerprint import digest
from modelsel.core.types import Feature, Floats
from modelsel.foreign.allowed import home_of, near
from modelsel.foreign.interface import Matrix, SklearnTransformer
from modelsel.foreign.parameters import (
    Params,
    make_transformer,
    named_parameters,
    reads_a_series,
    transformer_of,
    transformer_problems,
)

REST, DROP, PASSTHROUGH = "rest", "drop", "passthrough"
UNDECLARED = "\0undeclared"  # a level that no row had when levels were declared
SPARSE_BELOW = 0.3  # share of entries, as ColumnTransformer has it


@dataclass(frozen=True)
class Step:
    """A transformer by its name and its parameters; `drop` and `passthrough` alone are words of their own."""

    nested: ClassVar[bool] = True
    transformer: str
    params: Params


@dataclass(frozen=True)
class BranchSpec:
    """`columns` are names or patterns with commas between them, a kind, or `rest`."""

    nested: ClassVar[bool] = True
    columns: str
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, said: Any) -> "BranchSpec":
        """Read a branch as configuration and records write it: `[columns, [step, ...]]`, or its specification."""
        if isinstance(said, BranchSpec):
            return said
        columns, steps = (said["columns"], said["steps"]) if isinstance(said, Mapping) else said
        return cls(str(columns), tuple(Step(one["transformer"], Params(one["params"])) for one in steps))

    @property
    def is_left_out(self) -> bool:
        return any(step.transformer == DROP for step in self.steps)

    @property
    def given(self) -> tuple[Step, ...]:
        """The steps that are transformers."""
        return tuple(step for step in self.steps if step.transformer != PASSTHROUGH)


def reserved_words() -> tuple[str, ...]:
    """The words that name columns by their kind, and those that are left."""
    return (*kind_names(), "text", REST)


def branch_places(branches: Sequence[BranchSpec], features: Sequence[Feature]) -> tuple[tuple[int, ...], ...]:
    """The places of each branch's features; a feature that no branch names is left out.

    >>> rows = [Feature("age", "numeric"), Feature("amount_1", "numeric"), Feature("town", "nominal", ("a", "b"))]
    >>> branch_places([BranchSpec("numeric", ()), BranchSpec("amount_*", ()), BranchSpec("rest", ())], rows)
    ((0,), (1,), (2,))
    """
    owner: dict[int, int] = {}
    for closeness in (_by_name, _by_pattern, _by_kind, _as_rest):
        for number, branch in enumerate(branches):
            for place, feature in enumerate(features):
                if place not in owner and closeness(branch.columns, feature):
                    owner[place] = number
    return tuple(
        tuple(place for place in range(len(features)) if owner.get(place) == number) for number in range(len(branches))
    )


def _by_name(columns: str, feature: Feature) -> bool:
    return columns not in reserved_words() and (columns == feature.name or feature.name in _split_names(columns))


def _by_pattern(columns: str, feature: Feature) -> bool:
    return columns not in reserved_words() and any(fnmatchcase(feature.name, one) for one in _split_names(columns))


def _by_kind(columns: str, feature: Feature) -> bool:
    return columns == ("text" if feature.text else feature.kind)


def _as_rest(columns: str, _: Feature) -> bool:
    return columns == REST


def is_named(name: str, columns: Iterable[str]) -> bool:
    """Say whether names and patterns, with commas between them, name a column.

    >>> is_named("amount_1", ["age, income", "amount_*"]), is_named("town", ["age, income", "amount_*"])
    (True, False)
    """
    return any(name == said or any(fnmatchcase(name, one) for one in _split_names(said)) for said in columns)


def strangers(columns: str, known: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Names and patterns that name no column; what comes nearest is among the columns and some other words."""
    for one in () if columns in known else _split_names(columns):
        if not any(fnmatchcase(name, one) for name in known):
            yield f"steps name a column {one!r} that is not there{near(one, (*known, *words))}"


def _split_names(columns: str) -> list[str]:
    return [one.strip() for one in columns.split(",")]


def problems(branches: Sequence[BranchSpec], plugins: tuple[str, ...] = ()) -> Iterator[str]:
    """Reasons against the steps by themselves."""
    for branch in branches:
        words = [step.transformer for step in branch.steps if step.transformer in (DROP, PASSTHROUGH)]
        if words and len(branch.steps) > 1:
            yield f"steps of {branch.columns!r}: {words[0]} stands alone"
        for step in branch.steps:
            if step.transformer not in (DROP, PASSTHROUGH):
                yield from transformer_problems(step.transformer, step.params, plugins, cross_fitted=True)


def misfits(branches: Sequence[BranchSpec], features: Sequence[Feature]) -> Iterator[str]:
    """Yield columns that a branch names and the table lacks, and columns that no branch names."""
    places, known = branch_places(branches, features), [feature.name for feature in features]
    for branch, own in zip(branches, places, strict=True):
        if branch.columns in reserved_words() or branch.columns in known:
            continue
        yield from strangers(branch.columns, known, reserved_words())
        if not own and all(any(fnmatchcase(name, one) for name in known) for one in _split_names(branch.columns)):
            yield f"steps of {branch.columns!r} are left without a column: branches that stand before it have them all"
    taken = {place for own in places for place in own}
    if left := [feature.name for place, feature in enumerate(features) if place not in taken]:
        shown = ", ".join(left[:5]) + (f", +{len(left) - 5} more" if len(left) > 5 else "")
        yield f"no steps for {shown}: add them, or `rest: drop`, or `rest: passthrough`"


def sources(branches: Iterable[BranchSpec], plugins: tuple[str, ...] = ()) -> Iterator[str]:
    """The distributions, with their versions, that transformers come from."""
    for branch in branches:
        for step in branch.given if not branch.is_left_out else ():
            module = transformer_of(step.transformer, plugins, cross_fitted=True).__module__
            home = home_of(module.partition(".")[0], plugins)
            yield f"{home.distribution} {home.version}"


def draws(branches: Iterable[BranchSpec], plugins: tuple[str, ...] = ()) -> bool:
    """Say whether a step draws numbers of which nobody has said the seed: then its fit is that of one candidate alone."""
    return any(_draws(step, plugins) for branch in branches if not branch.is_left_out for step in branch.given)


def _draws(step: Step, plugins: tuple[str, ...]) -> bool:
    kind = transformer_of(step.transformer, plugins, cross_fitted=True)
    return "random_state" in named_parameters(kind) and step.params.get("random_state") is None


# What transformers are handed: numbers, or names as texts.


def block(features: Sequence[Feature], places: Sequence[int], values: Floats) -> NDArray[np.generic]:
    """Some columns of a matrix as a transformer wants them: floats, or an array of objects where names are among them."""
    own = [features[place] for place in places]
    if all(feature.has_order for feature in own):
        return np.ascontiguousarray(values[:, list(places)])
    columns = [
        texts(feature, values[:, place]) if not feature.has_order else values[:, place].astype(object)
        for feature, place in zip(own, places, strict=True)
    ]
    return np.column_stack(columns)


def texts(feature: Feature, codes: Floats, absent: object = np.nan) -> NDArray[np.generic]:
    """The levels that codes stand for, as texts."""
    levels = np.array([*feature.levels, UNDECLARED, absent], object)
    at = np.where(np.isnan(codes), len(levels) - 1, np.minimum(np.nan_to_num(codes), len(feature.levels))).astype(np.int64)
    found: NDArray[np.generic] = levels[at]
    return found


# Fitted branches.


@dataclass(frozen=True, eq=False)
class Branch:
    """Fitted transformers, one after the other, for the columns at some places.

    `single`: a column as a row of texts; `framed`: as a series of pandas.
    """

    places: tuple[int, ...]
    single: bool
    chain: tuple[SklearnTransformer, ...]
    framed: bool = False

    def given(self, features: Sequence[Feature], values: Floats) -> object:
        """Return the data handed to the first step of the branch."""
        if not self.single:
            found = block(features, self.places, values)
            return np.asfortranarray(found) if found.dtype != object else found  # as frames are: sums round alike
        (place,) = self.places
        feature, column = features[place], values[:, place]
        if feature.has_order:
            own: NDArray[np.generic] = np.ascontiguousarray(column)
        else:
            own = texts(feature, column, absent="" if feature.text else None if self.framed else np.nan)
        return as_series(feature.name, own) if self.framed else own

    def apply(self, features: Sequence[Feature], values: Floats) -> Matrix:
        """The branch's part of the matrix."""
        out = self.given(features, values)
        for transformer in self.chain:
            out = to_array(transformer.transform(out))
        return as_matrix(out)


@dataclass(frozen=True, eq=False)
class FittedBranches:
    """Fitted branches; `sparse`: their matrices stand side by side as a sparse one."""

    each: tuple[Branch, ...]
    sparse: bool

    def matrix(self, features: Sequence[Feature], values: Floats) -> Matrix:
        """Transform rows by the fitted branches."""
        return _beside([branch.apply(features, values) for branch in self.each], len(values), self.sparse)


Fit = tuple[SklearnTransformer, object]  # a fitted transformer, and what it made of the rows of its fit
Shared = Callable[[str, Callable[[], Fit]], Fit]


def share_nothing(_: str, fit: Callable[[], Fit]) -> Fit:
    """Share nothing."""
    return fit()


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows of the branches."""

    features: Sequence[Feature]
    values: Floats
    target: NDArray[np.generic]


def fit(
    branches: Sequence[BranchSpec], rows: Rows, seed: int, plugins: tuple[str, ...] = (), shared: Shared = share_nothing
) -> tuple[FittedBranches, Matrix]:
    """Fit every branch; the second value is what they make of these rows.

    `shared(key, fit)` may remember a fitted step and what it made: the key says which columns it reads, after which steps.
    A step that draws, and what stands behind it, is not shared. Raises what a transformer raises.
    """
    rng = np.random.default_rng(seed)
    each = [
        one
        for branch, places in zip(branches, branch_places(branches, rows.features), strict=True)
        for one in fit_branch(branch, places, rows, rng, plugins, shared)
    ]
    return side_by_side(each, len(rows.values))


def side_by_side(each: Sequence[tuple[Branch, Matrix]], rows: int) -> tuple[FittedBranches, Matrix]:
    """Fitted branches as one, and their matrices as one."""
    parts = [matrix for _, matrix in each]
    sparse = _is_sparse(parts)
    return FittedBranches(tuple(branch for branch, _ in each), sparse), _beside(parts, rows, sparse)


def fit_branch(
    branch: BranchSpec, places: tuple[int, ...], rows: Rows, rng: np.random.Generator, plugins: tuple[str, ...] = (),
    shared: Shared = share_nothing,
) -> list[tuple[Branch, Matrix]]:  # fmt: skip
    """Fit the columns of a branch, together or, where a text transformer begins it, one by one."""
    steps = list(zip(branch.given, rng.integers(2**31 - 1, size=len(branch.given)).tolist(), strict=True))
    found = [
        _fit_branch(Branch(own, single, (), single and _reads_a_series(branch.given[0], plugins)), steps, rows, plugins, shared)
        for own, single in _divide_columns(branch, places, plugins)
    ]
    return [(one, as_matrix(out)) for one, out in found]


def _divide_columns(
    branch: BranchSpec, places: tuple[int, ...], plugins: tuple[str, ...]
) -> list[tuple[tuple[int, ...], bool]]:
    """The columns of a branch together; one by one where its first transformer takes texts in a row."""
    if branch.is_left_out or not places:
        return []
    if branch.given and takes_one_column(branch.given[0], plugins):
        return [((place,), True) for place in places]
    return [(places, False)]


def takes_one_column(step: Step, plugins: tuple[str, ...] = ()) -> bool:
    """Say whether a transformer takes one column: TfidfVectorizer and its like, and several of skrub's."""
    if _reads_a_series(step, plugins):
        return True
    from sklearn.utils import get_tags

    tags = get_tags(make_transformer(step.transformer, step.params, 0, plugins, cross_fitted=True))
    return bool(not tags.input_tags.two_d_array and tags.input_tags.string)


def _reads_a_series(step: Step, plugins: tuple[str, ...]) -> bool:
    return reads_a_series(transformer_of(step.transformer, plugins, cross_fitted=True))


def _fit_branch(
    empty: Branch, steps: Sequence[tuple[Step, int]], rows: Rows, plugins: tuple[str, ...], shared: Shared
) -> tuple[Branch, object]:
    """Fit the chain of a branch, each step on what the one before it made."""
    columns = [(rows.features[place].name, rows.features[place].text) for place in empty.places]
    out, drawn, before, chain = empty.given(rows.features, rows.values), False, [], []
    for step, seed in steps:
        before.append([step.transformer, dict(step.params)])
        drawn = drawn or _draws(step, plugins)
        share = share_nothing if drawn else shared
        transformer, out = share(digest([columns, before]), partial(_fit_step, step, seed, out, rows.target, plugins))
        chain.append(transformer)
    return replace(empty, chain=tuple(chain)), out


def _fit_step(step: Step, seed: int, given: object, target: NDArray[np.generic], plugins: tuple[str, ...]) -> Fit:
    """A fitted transformer, and what it makes of the rows of its fit; one that writes into its rows gets a copy of them."""
    try:
        return _fit_transform(step, seed, own_copy(given), target, plugins)
    except ValueError as error:
        if "read-only" not in str(error) or not hasattr(given, "copy"):
            raise
        return _fit_transform(step, seed, given.copy(), target, plugins)


def _fit_transform(step: Step, seed: int, given: object, target: NDArray[np.generic], plugins: tuple[str, ...]) -> Fit:
    """Fit a transformer and transform its rows, by one call where it has one."""
    made = make_transformer(step.transformer, step.params, seed, plugins, cross_fitted=True)
    if hasattr(made, "fit_transform"):
        return made, read_only(to_array(made.fit_transform(given, target)))
    return made, read_only(to_array(made.fit(given, target).transform(given)))


def read_only(out: object) -> object:
    """Return read-only views of arrays that others read too."""
    for array in (out, *(getattr(out, name, None) for name in ("data", "indices", "indptr"))):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return out


def own_copy(out: object) -> object:
    """A sparse matrix as a copy, since libraries sort its indices in place; any other as it is."""
    return out.copy() if hasattr(out, "nnz") and hasattr(out, "copy") else out


def as_series(name: str, column: NDArray[np.generic]) -> object:
    """Return one column as a pandas series."""
    import pandas as pd

    return pd.Series(column, name=name, dtype="str" if column.dtype == object else None)


def to_array(out: object) -> object:
    """Return a transformer's output as an array where it is a frame or a series."""
    return out.to_numpy() if hasattr(out, "iloc") and hasattr(out, "to_numpy") else out


def as_matrix(out: object) -> Matrix:
    """Return a transformer's output as rows × columns: sparse as it is, anything else as an array."""
    if hasattr(out, "tocsr"):
        found: Matrix = out.tocsr()
        return found
    array = np.asarray(out)
    return array if array.ndim == 2 else array.reshape(len(array), -1)


def _is_sparse(parts: Sequence[Matrix]) -> bool:
    """Say whether matrices side by side are kept sparse: one of them is, and few of all entries are there."""
    filled = sum(part.nnz if hasattr(part, "nnz") else part.size for part in parts)
    cells = sum(part.shape[0] * part.shape[1] for part in parts)
    return any(hasattr(part, "nnz") for part in parts) and filled < SPARSE_BELOW * cells


def _beside(parts: Sequence[Matrix], rows: int, sparse: bool) -> Matrix:
    """Matrices side by side."""
    if not parts:
        return np.empty((rows, 0))
    if not sparse:
        return np.hstack([np.asarray(part.toarray() if hasattr(part, "toarray") else part) for part in parts])
    from scipy.sparse import csr_matrix, hstack, issparse

    numbers: list[Any] = [part if issparse(part) else csr_matrix(np.asarray(part, np.float64)) for part in parts]
    beside: Matrix = hstack(numbers).tocsr()
    return beside
