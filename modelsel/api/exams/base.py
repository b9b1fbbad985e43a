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

    Examples
    --------
    >>> modelsel.exam("tennis")
    <Exam play_tennis: 4 questions, shown as predicted>
    """

    @property
    def terms(self) -> Mapping[str, Any]:
        """The terms of the exam: columns, classes, measure, how answers are shown, budgets (exam.json).

        Examples
        --------
        >>> modelsel.exam("tennis").terms["classes"]
        ['No', 'Yes']
        """
        raise NotImplementedError

    @property
    def development(self) -> pd.DataFrame:
        """The rows with their classes, to fit on.

        Examples
        --------
        >>> len(modelsel.exam("tennis").development)
        10
        """
        return self._side("development")

    @property
    def questions(self) -> pd.DataFrame:
        """The rows without classes, each with its token.

        Examples
        --------
        >>> len(modelsel.exam("tennis").questions)
        4
        """
        return self._side("questions")

    def answer(self, predictions: Any, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        """Hand in predictions under a name, and return what is shown.

        Parameters
        ----------
        predictions : table, array, str or Path
            A table or file with the token column, or one class per question in their order, or class scores,
            questions × classes in the order of `terms["classes"]`.
        name : str
            The asker's name.
        forecast : tuple of float and int, optional
            The error rate that is foreseen, in [0, 1], and the number of rows that it comes from.

        Returns
        -------
        dict
            The look's number, and the score with its interval as far as the terms show them.

        Raises
        ------
        DataError
            Rows or cells that do not fit.
        RefusedError
            The budget is used up, or the exam is closed.

        Examples
        --------
        >>> made = modelsel.exam("tennis")
        >>> made.answer(["Yes"] * 4, "always yes")["look"]
        1
        """
        raise NotImplementedError

    def board(self) -> pd.DataFrame:
        """List the answers as they were shown; after the close with verdicts of pairs.

        Returns
        -------
        DataFrame
            A row per answer.

        Examples
        --------
        >>> len(modelsel.exam("tennis").board())
        0
        """
        raise NotImplementedError

    def status(self) -> dict[str, Any]:
        """Return how much each asker has handed in, and what is left.

        Returns
        -------
        dict
            The exam's state and budgets, and what each asker has used.

        Examples
        --------
        >>> modelsel.exam("tennis").status()["answers"]
        0
        """
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
