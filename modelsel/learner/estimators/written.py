"""Write a fitted estimator down in its library's own format, beside the columns that it reads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.foreign.stored import NotStoredError, dumped
from modelsel.learner.inputs import stored as _columns_stored

COLUMNS, FILE = "columns/", "file:"


def stored(answering: Any, plugins: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and arrays of the fitted estimator; the reason alone where it cannot be stored."""
    try:
        name, data = dumped(answering.estimator, plugins)
        facts, arrays = _columns_stored.written(answering.columns)
    except NotStoredError as error:
        return {"unstored": str(error)}, {}
    more = {"stored": name, "columns": facts, "nominal": list(answering.nominal), "classes": answering.classes}
    own = {f"{COLUMNS}{key}": array for key, array in arrays.items()}
    return more, {**own, f"{FILE}{name}": np.frombuffer(data, np.uint8), "own": answering.own}
