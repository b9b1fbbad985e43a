"""Which recorded results serve a run."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.journal import older_journals


@pytest.mark.parametrize(
    ("rows", "needs_scores", "recorded", "lacking"),
    [
        (False, False, (False, "a", None), ""),
        (False, False, (False, "b", None), "only the scores of another measure were kept"),
        (True, False, (False, "a", None), "only scores were kept, and rows are wanted"),
        (False, False, (True, "b", None), ""),
        (False, True, (True, "b", None), "the measure reads class scores, which were not kept"),
    ],
)
def test_what_a_recorded_result_lacks_is_said(
    rows: bool, needs_scores: bool, recorded: tuple[bool, str, None], lacking: str
) -> None:
    """Rows serve every measure, scores alone the one that they were kept for."""
    run = SimpleNamespace(rows=rows, measure_id="a", needs_scores=needs_scores)
    has_rows, measure, scores = recorded
    result = SimpleNamespace(has_rows=has_rows, measure=measure, scores=scores)
    assert RunContext.lacking(run, result) == lacking  # type: ignore[arg-type]


def test_journals_that_are_named_come_first_and_once(tmp_path: Path) -> None:
    for place, name in enumerate(("a/1", "a/2", "b/1")):
        (tmp_path / name / "journal").mkdir(parents=True)
        os.utime(tmp_path / name / "journal", (place, place))
    newest, middle, oldest = (tmp_path / name / "journal" for name in ("b/1", "a/2", "a/1"))
    assert older_journals(tmp_path) == [newest, middle, oldest]
    assert older_journals(tmp_path, [middle]) == [middle, newest, oldest]
