"""Which recorded results serve a run."""

from types import SimpleNamespace

import pytest

from modelsel.runner.evaluation.context import RunContext


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
