"""What every measure in conf/measure/ promises, and that it says what scikit-learn says where both define it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.metrics as sk
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import parse

from modelsel.core.spec import class_of, kinds_of, make
from modelsel.core.types import Feature, Fold, Outputs, Resampling, Task

CONF = Path(__file__).parents[2] / "conf" / "measure"
EVERY = {path.stem: {"kind": path.stem, **yaml.safe_load(path.read_text())} for path in sorted(CONF.glob("*.yaml"))}
SPECS = {name: spec for name, spec in EVERY.items() if "classes" in class_of("measure", spec["kind"]).reads}
SPECS["cost_matrix"]["costs"] = [[0, 1, 2], [5, 0, 1], [3, 3, 0]]
SPECS["expected_calibration_error"]["bins"] = 2  # folds of these tests are small
CANDIDATES, ROWS, CLASSES = 4, 30, 3
BEST: dict[str, Callable[..., float]] = {  # of a right answer, where it is not 0 or 1
    "lift": lambda truth: float(np.mean(np.minimum(1 / SPECS["lift"]["share"], ROWS / np.bincount(truth)))),
}


def drawn(seed: int, classes: int = CLASSES, rows: int = ROWS) -> tuple[Any, Outputs, Any]:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), rng.integers(classes, size=rows - classes)]).astype(np.int32)
    scores = rng.dirichlet(np.ones(classes), size=(CANDIDATES, rows)).round(2)
    scores /= scores.sum(axis=2, keepdims=True)
    return truth, Outputs(scores.argmax(axis=2).astype(np.int32), scores), rng.random(rows) + 0.1


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_all_candidates_at_once_is_each_alone(name: str, seed: int) -> None:
    """To the last bit: a batch that is divided after a failure leaves the digest of one that was not."""
    truth, outputs, weights = drawn(seed, rows=500)
    measure = make("measure", **SPECS[name])
    together, even = (measure.score(truth, outputs, given, CLASSES) for given in (weights, None))
    assert together.shape == (CANDIDATES,)
    assert outputs.scores is not None
    for some in (*([i] for i in range(CANDIDATES)), [0, 2], [1, 2, 3]):
        alone = Outputs(outputs.predicted[some], outputs.scores[some])
        np.testing.assert_array_equal(measure.score(truth, alone, weights, CLASSES), together[some])
        np.testing.assert_array_equal(measure.score(truth, alone, None, CLASSES), even[some])


@pytest.mark.parametrize("name", SPECS)
def test_row_order_does_not_matter_and_weights_are_repeats(name: str) -> None:
    truth, outputs, _ = drawn(1)
    times = np.random.default_rng(2).integers(1, 4, ROWS)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(ROWS), times))
    assert outputs.scores is not None
    many = Outputs(outputs.predicted[:, rows], outputs.scores[:, rows])
    measure = make("measure", **SPECS[name])
    by_weight = measure.score(truth, outputs, times.astype(float), CLASSES)
    assert measure.score(truth[rows], many, None, CLASSES) == pytest.approx(by_weight, abs=1e-12)


@pytest.mark.parametrize("name", SPECS)
def test_the_right_answer_scores_best(name: str) -> None:
    truth, outputs, _ = drawn(4)
    measure = make("measure", **SPECS[name])
    sure = np.eye(CLASSES)[truth][None]
    perfect = measure.score(truth, Outputs(truth[None], sure), None, CLASSES)[0]
    others = measure.score(truth, outputs, None, CLASSES)
    best = BEST[name](truth) if name in BEST else float(measure.higher_is_better)
    assert perfect == pytest.approx(best, abs=1e-12)
    assert np.all(others <= perfect) if measure.higher_is_better else np.all(others >= perfect)


@pytest.mark.parametrize("name", SPECS)
def test_losses_are_there_where_the_score_is_their_mean(name: str) -> None:
    truth, outputs, weights = drawn(5)
    measure = make("measure", **SPECS[name])
    if measure.over_rows:
        losses = measure.losses(truth, outputs, CLASSES)
        assert losses.shape == (CANDIDATES, ROWS)
        assert measure.score(truth, outputs, weights, CLASSES) == pytest.approx(np.average(losses, axis=1, weights=weights))
    else:
        with pytest.raises(TypeError, match="not a mean over rows"):
            measure.losses(truth, outputs, CLASSES)


@pytest.mark.parametrize("name", [name for name in SPECS if make("measure", **SPECS[name]).needs_scores])
def test_scores_that_are_no_numbers_give_no_score(name: str) -> None:
    truth, outputs, _ = drawn(6)
    assert outputs.scores is not None
    scores = outputs.scores.copy()
    scores[1, 3] = np.nan
    measure = make("measure", **SPECS[name])
    score = measure.score(truth, Outputs(outputs.predicted, scores), None, CLASSES)
    assert np.isnan(score).tolist() == [False, True, False, False]
    with pytest.raises(ValueError, match="class scores"):
        measure.score(truth, Outputs(outputs.predicted), None, CLASSES)


def lift(positive: Any, scores: Any, weights: Any, share: float) -> float:
    """From scikit-learn's ROC curve: straight between its points, as rows of equal score are taken in part."""
    wrong, found, _ = sk.roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    base = np.average(positive, weights=weights)
    return float(np.interp(share, wrong * (1 - base) + found * base, found)) / share


ORACLES: dict[str, Callable[..., float]] = {
    "error": lambda t, p, s, w: 1 - sk.accuracy_score(t, p, sample_weight=w),
    "log_loss": lambda t, p, s, w: sk.log_loss(t, np.clip(s, 1e-15, 1), sample_weight=w, labels=range(CLASSES)),
    "brier": lambda t, p, s, w: (
        float(np.average(((s - np.eye(CLASSES)[t]) ** 2).sum(axis=1), weights=w))
        if parse(sklearn.__version__) < parse("1.7")  # its own is of two classes there
        else sk.brier_score_loss(t, s, sample_weight=w, labels=range(CLASSES), scale_by_half=False)
    ),
    "auc": lambda t, p, s, w: np.average(
        [sk.roc_auc_score(t == c, s[:, c], sample_weight=w) for c in range(CLASSES)], weights=np.bincount(t, w)
    ),
    "balanced_error": lambda t, p, s, w: 1 - sk.balanced_accuracy_score(t, p, sample_weight=w),
    "f1": lambda t, p, s, w: sk.f1_score(t, p, average="macro", sample_weight=w, zero_division=0),
    "kappa": lambda t, p, s, w: sk.cohen_kappa_score(t, p, sample_weight=w),
    "mcc": lambda t, p, s, w: sk.matthews_corrcoef(t, p, sample_weight=w),
    "precision": lambda t, p, s, w: sk.precision_score(t, p, average="macro", sample_weight=w, zero_division=0),
    "recall": lambda t, p, s, w: sk.recall_score(t, p, average="macro", sample_weight=w),
    "f_beta": lambda t, p, s, w: sk.fbeta_score(t, p, beta=2, average="macro", sample_weight=w, zero_division=0),
    "specificity": lambda t, p, s, w: np.mean([sk.recall_score(t != c, p != c, sample_weight=w) for c in range(CLASSES)]),
    "average_precision": lambda t, p, s, w: np.mean(
        [sk.average_precision_score(t == c, s[:, c], sample_weight=w) for c in range(CLASSES)]
    ),
    "lift": lambda t, p, s, w: np.mean([lift(t == c, s[:, c], w, SPECS["lift"]["share"]) for c in range(CLASSES)]),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_scikit_learn_says_the_same(name: str, seed: int) -> None:
    truth, outputs, weights = drawn(seed)
    assert outputs.scores is not None
    score = make("measure", **SPECS[name]).score(truth, outputs, weights, CLASSES)
    for i in range(CANDIDATES):
        assert score[i] == pytest.approx(ORACLES[name](truth, outputs.predicted[i], outputs.scores[i], weights), abs=1e-9)


TASK = Task(
    name="t", features=(Feature("x", "numeric"),), values=np.zeros((6, 1)), rows=np.arange(6), classes=("a", "b", "c"),
    target=np.array([0, 0, 1, 1, 2, 2], np.int32),
)  # fmt: skip


def folds(*assessed: list[int]) -> Resampling:
    every = np.arange(6)
    return Resampling("s", "t", tuple(Fold(i, 0, np.setdiff1d(every, a), np.array(a)) for i, a in enumerate(assessed)))


@pytest.mark.parametrize("name", SPECS)
def test_what_a_measure_needs_is_said_beforehand(name: str) -> None:
    assert list(make("measure", **SPECS[name]).problems(TASK, folds([0, 2], [1, 3, 4]))) == []


def test_a_measure_that_cannot_be_used_says_why() -> None:
    mixed, single = folds([0, 2], [1, 3]), folds([0, 2], [0, 1])
    assert "fold 1" in "".join(make("measure", "auc").problems(TASK, single))
    assert "3 × 3" in "".join(make("measure", "cost_matrix", costs=((0, 1), (1, 0))).problems(TASK, mixed))
    assert "finite" in "".join(make("measure", "cost_matrix", costs=((0, 1, np.inf),) * 3).problems(TASK, mixed))
    for kind in (
        "f1",
        "precision",
        "recall",
        "f_beta",
        "specificity",
        "average_precision",
        "lift",
        "expected_calibration_error",
    ):
        assert "classes 0 to 2" in "".join(make("measure", kind, positive=3).problems(TASK, mixed)), kind
    for kind in ("recall", "average_precision", "lift"):
        assert f"{kind} is not defined on 2 folds" in "".join(make("measure", kind, positive=2).problems(TASK, mixed))
        assert not list(make("measure", kind, positive=0).problems(TASK, mixed))
    assert "one class only (fold 1)" in "".join(make("measure", "specificity").problems(TASK, single))
    assert "always among the top 3" in "".join(make("measure", "top_k_error", k=3).problems(TASK, mixed))
    assert "assesses 2 rows" in "".join(make("measure", "expected_calibration_error", bins=3).problems(TASK, mixed))


def test_costs_are_paid_by_true_and_predicted_class() -> None:
    measure = make("measure", "cost_matrix", costs=((0, 1), (5, 0)))
    truth, predicted = np.array([0, 1, 1], np.int32), np.array([[1, 0, 1]], np.int32)
    assert measure.losses(truth, Outputs(predicted), 2).tolist() == [[1.0, 5.0, 0.0]]


def test_what_is_not_defined_is_not_a_number() -> None:
    one, scores = np.zeros(3, np.int32), np.full((1, 3, 2), 0.5)
    assert np.isnan(make("measure", "auc").score(one, Outputs(one[None], scores), None, 2)[0])
    assert np.isnan(make("measure", "kappa").score(one, Outputs(one[None]), None, 2)[0])
    for kind in ("average_precision", "lift"):  # of the second class, which has no rows
        assert np.isnan(make("measure", kind).score(one, Outputs(one[None], scores), None, 2)[0]), kind
    for kind, positive in (("recall", 1), ("specificity", 0), ("specificity", None)):
        assert np.isnan(make("measure", kind, positive=positive).score(one, Outputs(one[None]), None, 2)[0]), kind
    assert make("measure", "precision", positive=1).score(one, Outputs(one[None]), None, 2)[0] == 0.0
    assert make("measure", "mcc").score(one, Outputs(one[None]), None, 2)[0] == 0.0
    assert make("measure", "balanced_error").score(one, Outputs(one[None]), None, 2)[0] == 0.0


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 100_000), classes=st.integers(2, 6), side=st.booleans())
def test_matthews_correlation_of_a_constant_is_0_whatever_the_weights(seed: int, classes: int, side: bool) -> None:
    """N² − Σ N_i² of a constant is rounding under a root: a NaN, or a number of any size."""
    rng = np.random.default_rng(seed)
    some, same = rng.integers(classes, size=30).astype(np.int32), np.full(30, rng.integers(classes), np.int32)
    truth, said = (some, same) if side else (same, some)
    assert make("measure", "mcc").score(truth, Outputs(said[None]), rng.random(30) * 10, classes)[0] == 0.0


def test_every_kind_has_a_file_and_bases_are_no_kinds() -> None:
    """A base whose file has its name would be offered as a measure."""
    assert {spec["kind"] for spec in EVERY.values()} == set(kinds_of("measure"))
