"""Steps that pipelines share are fitted once per fold: also branches of a ColumnTransformer, and steps within those.

    key of a step = f(fold, identity of the step with its parameters, columns, key of what stands before it)

A step stands behind a `SharedStep` while a cell is computed. What it makes of the fold's analysis and assessment rows is
remembered under its key and handed out read-only (sparse matrices and frames as copies, since libraries write into those).
Not shared, with all that stands behind it: a step that draws and was told no seed, one that cannot be told from others, and
what is no plain Pipeline, ColumnTransformer or FeatureUnion of scikit-learn. `plain` takes the places off again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import Tags, get_tags

from modelsel.core.fingerprint import digest
from modelsel.core.lru_cache import LRUCache
from modelsel.foreign.asking import current_rows
from modelsel.foreign.identity import NoIdentityError, identity
from modelsel.foreign.objects import parts

SPARSE = ("data", "indices", "indptr")  # arrays of a sparse matrix
MOST = 1 << 29  # bytes of what steps have made that are remembered
Fit = tuple[BaseEstimator, object]  # a fitted step, and what it made of the rows of its fit


def weight(value: object) -> int:
    """Bytes of what a step made: of an array, a frame, or a sparse matrix."""
    made = value[1] if isinstance(value, tuple) else value
    if hasattr(made, "memory_usage"):
        return int(made.memory_usage(deep=False).sum())
    arrays = [made] if isinstance(made, np.ndarray) else [getattr(made, name, None) for name in SPARSE]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


FITS: LRUCache[Fit] = LRUCache(64, MOST, weight)
OUTPUTS: LRUCache[object] = LRUCache(64, MOST, weight)


class SharedStep(BaseEstimator):  # type: ignore[misc]
    """A step in the place of `step`; `key` names all that its fit depends on. It answers all else as the step does."""

    def __init__(self, step: BaseEstimator, key: str) -> None:
        self.step, self.key = step, key

    def __sklearn_clone__(self) -> "SharedStep":
        return SharedStep(self.step, self.key)

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.step)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name in ("step", "key", "fitted_"):
            raise AttributeError(name)
        return getattr(vars(self).get("fitted_", self.step), name)

    def set_output(self, *, transform: str | None = None) -> "SharedStep":
        """Set the output of its step, which is part of the key."""
        if transform is not None:
            self.step.set_output(transform=transform)
            self.key = digest([self.key, str(transform)])
        return self

    def fit(self, X: object, y: object = None) -> "SharedStep":
        """Fit the step, or find it fitted."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: object, y: object = None, **params: object) -> object:
        """The step fitted, or found so, and what it makes of these rows."""
        self.fitted_, made = FITS.get(self.key, lambda: _fit_step(self.step, X, y, params))
        return hand_out(made)

    def transform(self, X: object) -> object:
        """Transform rows by the fitted step."""
        rows = current_rows()
        if not rows:
            return self.fitted_.transform(X)
        return hand_out(OUTPUTS.get((self.key, rows), lambda: freeze(_written_into(self.fitted_.transform, X))))


def _fit_step(step: object, X: object, y: object, params: Mapping[str, object]) -> Fit:
    """A fitted copy of a step and what it makes, by one call where it has one for both."""
    made = clone(step)
    if hasattr(made, "fit_transform"):
        return made, freeze(_written_into(lambda rows: made.fit_transform(rows, y, **params), X))
    return made, freeze(_written_into(lambda rows: made.fit(rows, y, **params).transform(rows), X))


def _written_into(make: Callable[[object], object], X: object) -> object:
    """Call a step; one that writes into its rows gets a copy of them, as they are others' too."""
    try:
        return make(X)
    except ValueError as error:
        if "read-only" not in str(error) or not hasattr(X, "copy"):
            raise
        return make(X.copy())


def freeze(made: object) -> object:
    """Return read-only views of arrays."""
    for array in (made, *(getattr(made, name, None) for name in SPARSE)):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return made


def hand_out(made: object) -> object:
    """Hand a shared output to one of its readers: an array as it is, anything else as a copy."""
    return made if isinstance(made, np.ndarray) or not hasattr(made, "copy") else made.copy()


# Putting shared steps into a pipeline, and taking them out again.


@dataclass(frozen=True)
class KeyOfRows:
    """The key under which the rows that a step reads are shared by candidates; None where no other candidate reads them."""

    key: str | None

    def behind(self, *parts: str) -> "KeyOfRows":
        return KeyOfRows(None if self.key is None else digest([self.key, *parts]))


def unseeded_parts(estimator: BaseEstimator) -> frozenset[int]:
    """The parts of an estimator that draw and were told no seed, by their places in memory: asked before they are seeded."""
    return frozenset(id(part) for _, part in parts(estimator) if _draws(part))


def _draws(part: BaseEstimator) -> bool:
    found = part.get_params(deep=False)
    return any(name.endswith("random_state") and not isinstance(value, int | np.integer) for name, value in found.items())


def share(estimator: BaseEstimator, fold: str, free: frozenset[int]) -> BaseEstimator:
    """The pipeline with shared steps in the places of its steps; the last, which predicts, is its own. It is changed in place.

    `fold` names the rows, columns and labels that it is fitted on; `free` are the parts that draw.
    """
    if _composite(estimator) is Pipeline and estimator.memory is None and not get_config()["enable_metadata_routing"]:
        place = KeyOfRows(digest([fold, get_config()["transform_output"]]))
        for number, (name, step) in enumerate(estimator.steps[:-1]):
            before, place = place, _after(step, place, free)
            estimator.steps[number] = (name, _share_step(step, before, free))
    return estimator


def _composite(step: object) -> object:
    """The class of a composite transformer known to fit its parts on rows or columns of its own."""
    return type(step) if type(step) in (Pipeline, FeatureUnion, ColumnTransformer) else None


def _is_step(step: object) -> bool:
    return step is not None and not isinstance(step, str)


def _share_step(step: BaseEstimator, place: KeyOfRows, free: frozenset[int]) -> object:
    """A step with shared ones in it, or in its place."""
    if not _is_step(step) or place.key is None:
        return step
    kind = _composite(step)
    if kind is Pipeline and step.memory is None:
        for number, (name, inner) in enumerate(step.steps):
            before, place = place, _after(inner, place, free)
            step.steps[number] = (name, _share_step(inner, before, free))
    elif kind is FeatureUnion:
        step.transformer_list = [(name, _share_step(inner, place, free)) for name, inner in step.transformer_list]
    elif kind is ColumnTransformer:
        step.transformers = [
            (name, _share_step(inner, place.behind(*_identity_of(columns)), free) if _identity_of(columns) else inner, columns)
            for name, inner, columns in step.transformers
        ]
    elif (own := _after(step, place, free)).key is not None and hasattr(step, "transform"):
        return SharedStep(step, own.key)
    return step


def _after(step: BaseEstimator, place: KeyOfRows, free: frozenset[int]) -> KeyOfRows:
    """The place behind a step: what it makes, by what it reads and says."""
    if not _is_step(step):
        return place if step is None or step == "passthrough" else place.behind(str(step))
    if any(id(part) in free for _, part in parts(step)):
        return KeyOfRows(None)
    said = _identity_of(step, getattr(step, "_sklearn_output_config", None))
    return place.behind(*said) if said else KeyOfRows(None)


def _identity_of(*values: object) -> tuple[str, ...]:
    """The identity of some values; empty where they have none."""
    try:
        return (identity(list(values)),)
    except NoIdentityError:
        return ()


def plain(estimator: BaseEstimator, fitted: bool = True) -> BaseEstimator:
    """The estimator with its own steps in the places of shared ones. It is changed in place."""
    if isinstance(estimator, SharedStep):
        return estimator.fitted_ if fitted and "fitted_" in vars(estimator) else estimator.step
    kind = _composite(estimator)
    if kind is Pipeline:
        estimator.steps = [(name, plain(step, fitted)) for name, step in estimator.steps]
    elif kind is FeatureUnion:
        estimator.transformer_list = [(name, plain(step, fitted)) for name, step in estimator.transformer_list]
    elif kind is ColumnTransformer:
        estimator.transformers = [(name, plain(step, False), columns) for name, step, columns in estimator.transformers]
        if hasattr(estimator, "transformers_"):
            estimator.transformers_ = [(name, plain(step), columns) for name, step, columns in estimator.transformers_]
    return estimator
