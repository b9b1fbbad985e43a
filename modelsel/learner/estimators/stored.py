"""A fitted estimator written down whole: its library's own format (else skops) beside the columns that it reads.

The file stands in the model's folder under its own name, so that the library itself can read it. What no safe format takes is
kept as its recipe alone, with the reason.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description
from modelsel.foreign.stored import FILES, SKOPS, loaded
from modelsel.learner.estimators.model import Answering, EstimatorModel
from modelsel.learner.estimators.recipe import EstimatorRecipe
from modelsel.learner.estimators.written import COLUMNS, FILE
from modelsel.learner.inputs import stored as _columns_stored


def restored(learner: Any, description: Description) -> EstimatorModel | EstimatorRecipe:
    """The model, or its recipe where only that was kept. Raises ValueError for a description that is not whole."""
    facts = description.facts
    if not isinstance(facts["random_state"], int) or not isinstance(facts["rows"], str):
        raise ValueError("estimator: not a whole recipe")
    version, why = str(facts["version"]), str(facts.get("unstored", ""))
    recipe = EstimatorRecipe(learner, facts["random_state"], facts["rows"], version, why)
    if "stored" not in facts:
        return recipe
    return EstimatorModel(learner, _answering(learner, facts, description.arrays), recipe.random_state, recipe.rows)


def _answering(learner: Any, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Answering:
    """Check a stored estimator before it is read, and put it behind its columns."""
    name, own, classes = str(facts["stored"]), np.asarray(arrays["own"]), facts["classes"]
    if name not in FILES or own.dtype.kind != "i" or own.ndim != 1 or not isinstance(classes, int):
        raise ValueError("estimator: not a whole model")
    if len(own) == 0 or own.min() < 0 or own.max() >= classes or (np.diff(own) <= 0).any():
        raise ValueError("estimator: classes that are none")
    if name == SKOPS and _minor(str(facts["version"])) != _minor(learner.source):
        raise ValueError(f"it was stored by {facts['version']}, and this is {learner.source}: install that version")
    columns = {key.removeprefix(COLUMNS): array for key, array in arrays.items() if key.startswith(COLUMNS)}
    estimator = loaded(name, np.asarray(arrays[f"{FILE}{name}"], np.uint8).tobytes(), learner.plugins)
    if not hasattr(estimator, "predict"):
        raise ValueError("estimator: what is stored predicts nothing")
    nominal = tuple(int(column) for column in facts["nominal"])
    read = _columns_stored.read(facts["columns"], columns)
    return Answering(estimator, None, read, nominal, own.astype(np.int64), classes)


def _minor(version: str) -> list[str]:
    """`scikit-learn 1.9.1` without its last number."""
    return version.split(".")[:2]
