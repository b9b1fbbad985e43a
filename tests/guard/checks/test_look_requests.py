"""A request as it arrives: what it asks, what is foreseen of it, and when it asks the same as before."""

from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.guard.checks.look_requests import PreparedLook, metric_of
from modelsel.guard.facts import Look
from modelsel.guard.requests import SelectionSummary


def asks(measure: str = "error", weighted: bool = False, former: str = "", **chosen: Any) -> PreparedLook:
    sealing = SimpleNamespace(
        measure=make("measure", measure), development=SimpleNamespace(weights=np.ones(2) if weighted else None)
    )
    selected = SelectionSummary(**{"winner": "w", "cv_mean": 0.3, "cv_rows": 90, "cv_error": None, **chosen})
    request: Any = SimpleNamespace(sealing=sealing, selected=selected)
    return PreparedLook(request, None, None, "p", None, (), former=former)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "foreseen"),
    [({}, (0.3, 90)), ({"cv_error": 0.2}, (0.2, 90)), ({"measure": "auc"}, None),
     ({"measure": "auc", "cv_error": 0.2}, (0.2, 90)),
     ({"weighted": True}, None), ({"weighted": True, "cv_error": 0.2}, (0.2, 90)), ({"cv_error": 0.0}, (0.0, 90)),
     ({"cv_error": 1.0}, (1.0, 90)),
     ({"cv_error": 1.01}, None), ({"cv_error": -0.01}, None), ({"cv_error": nan}, None), ({"cv_mean": inf}, None),
     ({"cv_rows": 0}, None),
     ({"cv_rows": 1}, (0.3, 1))],
)  # fmt: skip
def test_what_cross_validation_foresaw_is_an_error_rate_of_some_rows(facts: dict[str, Any], foreseen: Any) -> None:
    ask = asks(**facts)
    assert ask.foreseen == foreseen
    assert ask.likely == (foreseen or (0.5, 1))
    assert ask.counted == ("measure" not in facts and "weighted" not in facts)


@pytest.mark.parametrize(
    ("metric", "predictions", "former", "same"),
    [("error", "p", "", True), ("error", "q", "", False), ("auc", "p", "", False), ("error", "q", "q", True),
     ("error", "p", "q", True),
     ("auc", "q", "q", False), ("error", "", "", False)],
)  # fmt: skip
def test_a_look_told_of_predictions_by_either_of_their_names(metric: str, predictions: str, former: str, same: bool) -> None:
    assert asks(former=former).told_by(Look.read({"metric": metric, "predictions": predictions})) == same


def test_a_measure_is_called_by_its_kind_and_by_its_settings_where_it_has_some() -> None:
    assert metric_of(make("measure", "error")) == "error"
    one, other = (metric_of(make("measure", "f_beta", beta=beta)) for beta in (1.0, 2.0))
    assert one.startswith("f_beta:")
    assert one != other
