"""Predictions as an identity, and what labels say of them on some of the rows."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Outputs
from modelsel.guard import labels
from modelsel.guard.labels import former_digest, prediction_digest, truth
from modelsel.ledger.home import IdentityKey

KEY = IdentityKey(b"k" * 32)
ROWS = np.array([7, 3, 9], np.uint64)
SAID = np.array([[0, 1, 1]], np.int32)
SCORES = np.array([[[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "slow", lambda values, key: values.tobytes().hex())


def digest(measure: str = "error", said: Any = SAID, scores: Any = SCORES, weights: Any = None, rows: Any = ROWS) -> str:
    return prediction_digest(make("measure", measure), Outputs(said, scores), weights, rows, KEY)


def test_predictions_are_known_by_what_the_measure_reads() -> None:
    other = 1 - SCORES
    assert digest(scores=None) == digest(scores=other) == digest()
    assert digest(said=1 - SAID) != digest()
    assert digest("brier", said=1 - SAID) == digest("brier")
    assert digest("brier", scores=other) != digest("brier")
    assert digest("brier", scores=SCORES + 1e-7) == digest("brier") != digest("brier", scores=SCORES + 1e-5)
    assert digest("brier", scores=None) == digest()  # without scores the classes are all there is


def test_predictions_are_known_in_any_order_of_rows_and_with_their_weights() -> None:
    order, weights = np.array([2, 0, 1]), np.array([1.0, 2, 1])
    for measure in ("error", "brier"):
        assert digest(measure, SAID[:, order], SCORES[:, order], None, ROWS[order]) == digest(measure)
        assert digest(measure, rows=ROWS + np.uint64(1)) != digest(measure)
        weighed = digest(measure, weights=weights)
        assert weighed != digest(measure)
        assert digest(measure, SAID[:, order], SCORES[:, order], weights[order], ROWS[order]) == weighed


def test_the_former_digest_has_classes_and_scores_to_nine_decimals() -> None:
    one = former_digest(Outputs(SAID, SCORES), ROWS)
    assert len(one) == 32
    assert one != former_digest(Outputs(SAID, None), ROWS) != former_digest(Outputs(1 - SAID, None), ROWS)
    assert one == former_digest(Outputs(SAID, SCORES + 1e-11), ROWS) != former_digest(Outputs(SAID, SCORES + 1e-8), ROWS)
    order = np.array([1, 2, 0])
    assert one == former_digest(Outputs(SAID[:, order], SCORES[:, order]), ROWS[order])
    noughts = [former_digest(Outputs(SAID, SCORES * 0.0 * sign), ROWS) for sign in (1, -1)]
    assert noughts[0] == noughts[1]


@pytest.mark.parametrize("weights", [None, np.array([1.0, 9, 3, 1, 2])])
def test_errors_score_classes_and_rows_are_those_of_the_clean_rows(weights: Any) -> None:
    rows, target = np.array([True, False, True, True, True]), np.array([0, 0, 1, 1, 2], np.int32)
    said = Outputs(np.array([[0, 1, 0, 1, 2]], np.int32), np.eye(3)[[0, 1, 0, 1, 2]][None])
    seen = []

    def score(found: Any, outputs: Outputs, own: Any, classes: int) -> list[float]:
        seen.append((found.tolist(), outputs.scores[0].argmax(axis=1).tolist(), None if own is None else own.tolist(), classes))
        return [0.25]

    found = truth(SimpleNamespace(score=score), said, (("a", "b", "c", "d"), target, weights), rows)  # type: ignore[arg-type]
    assert seen == [([0, 1, 1, 2], [0, 0, 1, 2], None if weights is None else [1.0, 3, 1, 2], 4)]
    assert (found.n, found.errors, found.score, found.classes) == (4, 1, 0.25, (1, 2, 1, 0))
    assert found.effective == pytest.approx(4 if weights is None else 49 / 15)
    without = truth(SimpleNamespace(score=lambda *_: [1.0]), Outputs(said.predicted, None), (("a",) * 3, target, None), rows)  # type: ignore[arg-type]
    assert without.errors == 1
