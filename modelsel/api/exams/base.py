"""Base of exams, as an asker has them: the rows as data frames, an answer in one call."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from modelsel.core.errors import DataError, Problem
from modelsel.dataset.tables.in_memory import is_frame


class Exam:
    """An exam, opened to read its rows and to hand in answers; `modelsel.exam` and `modelsel.create_exam` make one.

    A score is shown as the terms say, and each answer has a price: docs/guard/exam.md.
    """

    @property
    def terms(self) -> Mapping[str, Any]:
        """exam.json."""
        raise NotImplementedError

    @property
    def development(self) -> pd.DataFrame:
        """Rows with their classes."""
        return self._side("development")

    @property
    def questions(self) -> pd.DataFrame:
        """Rows without."""
        return self._side("questions")

    def answer(self, predictions: Any, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        """Hand in predictions under a name, and return what is shown.

        Parameters
        ----------
        predictions
            A data frame with the token column, or one class per question in their order, or a matrix of class scores
            (questions × classes, in the order of `terms["classes"]`).
        forecast
            The error rate that is foreseen, and the rows that it comes from.

        Raises
        ------
        DataError
            Rows or cells that do not fit.
        RefusedError
            The budget is used up, or the exam is closed.
        """
        raise NotImplementedError

    def board(self) -> pd.DataFrame:
        """Answers as they were shown; after the close with verdicts."""
        raise NotImplementedError

    def status(self) -> dict[str, Any]:
        """Return how much each asker has handed in, and what is left."""
        raise NotImplementedError

    def _side(self, side: str) -> pd.DataFrame:
        raise NotImplementedError

    def _table(self, predictions: Any) -> Any:
        """Predictions with the tokens of their rows."""
        token = self.terms["columns"]["token"]
        if isinstance(predictions, str | Path) or is_frame(predictions):
            return predictions
        values = np.asarray(predictions)
        asked = self.questions[token]
        if len(values) != len(asked):
            what = f"{len(values):,} predictions for {len(asked):,} questions"
            raise DataError(Problem("MSEL-820", what, "predictions", "predict every row of `questions`, in their order"))
        columns = {"prediction": values} if values.ndim == 1 else dict(zip(self.terms["classes"], values.T))
        return pd.DataFrame({token: asked, **columns})

    def __repr__(self) -> str:
        terms = self.terms
        return f"<Exam {terms['name']}: {terms['rows']['questions']} questions, shown as {terms['policy']['release']}>"


def frame_of(data: bytes, terms: Mapping[str, Any]) -> pd.DataFrame:
    """A file's rows; tokens and levels are texts, and nothing but an empty cell is missing."""
    if data.startswith(b"PAR1"):
        return pd.read_parquet(io.BytesIO(data))
    columns: Sequence[str] = [one["name"] for one in terms["features"] if one["kind"] != "numeric"]
    names = dict.fromkeys((*columns, terms["columns"]["token"], terms["columns"]["target"]), str)
    return pd.read_csv(io.BytesIO(data), dtype=names, keep_default_na=False, na_values=[""])
