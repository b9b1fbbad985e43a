"""The module that MLflow loads our models by: `mlflow.pyfunc.load_model(...)` finds its name in the MLmodel file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.dataset.reading import warn_of_unseen
from modelsel.record.model import Predictor, load


class PyfuncModel:
    """DataFrame in; classes out, as the target has them, or a DataFrame of class scores with `params={"scores": True}`."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def predict(
        self, model_input: pd.DataFrame, params: Mapping[str, object] | None = None
    ) -> pd.DataFrame | NDArray[np.generic]:
        """Predict classes, or class scores, for the rows of a frame."""
        rows = warn_of_unseen(self.predictor.table(model_input))
        if (params or {}).get("scores"):
            return pd.DataFrame(self.predictor.scores(rows), columns=list(self.predictor.classes), index=model_input.index)
        return self.predictor.labels(rows)


def _load_pyfunc(path: str) -> PyfuncModel:
    return PyfuncModel(load(Path(path)))
