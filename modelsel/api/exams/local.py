"""An exam where the examiner's key is."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from modelsel.api.exams.base import Exam, frame_of


class LocalExam(Exam):
    """An exam opened by its examiner, from the folder with the key."""

    def __init__(self, folder: Path) -> None:
        """Read the terms of the exam in the folder."""

        from modelsel.examination.creation.terms import read

        self.folder = folder
        self._terms = read(folder)

    @property
    def terms(self) -> Mapping[str, Any]:
        return self._terms.facts

    def answer(self, predictions: Any, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        return asdict(self._opened().answer(self._table(predictions), name, forecast))

    def board(self) -> pd.DataFrame:
        from modelsel.examination.asking.board import board

        return pd.DataFrame(board(self._opened()))

    def status(self) -> dict[str, Any]:
        from modelsel.examination.asking.board import status

        return status(self._opened())

    def close(self) -> dict[str, Any]:
        """End the exam: every score at its own index, and verdicts of pairs."""
        from modelsel.examination.asking.board import close

        return close(self._opened())

    def audit(self) -> dict[str, Any]:
        """Report what touched the rows, what it cost, and whether all is as it was put on record."""
        from modelsel.examination.asking.board import audit

        return audit(self._opened())

    def _opened(self) -> Any:
        from modelsel.examination.asking.sit import ExamSession as Opened

        return Opened(self.folder)

    def _side(self, side: str) -> pd.DataFrame:
        return frame_of((self.folder / self.terms["files"][side]["name"]).read_bytes(), self.terms)
