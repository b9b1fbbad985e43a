"""What a metric is given is known by content: derived arguments are seen, honest ones accuse nobody."""

from collections.abc import Callable, Iterator
from math import comb, inf, log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from modelsel.guard.face import SealedRows
from modelsel_watch.evidence import SURE, RowValues, arrangement, evidence
from modelsel_watch.predictions import Meant, PredictionMemory

Array = np.ndarray


class Model:
    pass


KEPT: list[tuple[Model, tuple[Array, ...]]] = []  # of models that are gone nothing is remembered


def rows(n: int, sealed: int | None = None) -> SealedRows:
    return SealedRows(n, {"t1": np.arange(n) < (n if sealed is None else sealed)})


def remembered(*made: Array, method: str = "predict") -> PredictionMemory:
    memory, model = PredictionMemory(), Model()
    for one in made:
        memory.take(one, rows(len(one)), model, method)
    KEPT.append((model, made))
    return memory


def sure(memory: PredictionMemory, argument: object) -> bool:
    meant = memory.source(argument)
    return meant is not None and meant.nats >= SURE


def trials() -> Iterator[tuple[Array, Array, Array, Array]]:
    """Predicted classes, probabilities, labels, and out-of-fold predictions of as many development rows."""
    tables = [load_iris, load_wine, load_breast_cancer, load_digits]
    made = [make_classification(n, 8, weights=[w], flip_y=0.1, random_state=n) for n, w in [(150, 0.5), (400, 0.7), (900, 0.9)]]
    models = [GaussianNB(), KNeighborsClassifier(5), DecisionTreeClassifier(max_depth=4, random_state=0)]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    for X, y in [*(one(return_X_y=True) for one in tables), *made]:
        for seed, model in enumerate([*models, pipeline, GaussianNB()]):
            a, b, c, d = train_test_split(X, y, test_size=0.4, random_state=seed)
            fitted = model.fit(a, c)
            other = cross_val_predict(model, a, c, cv=3)[: len(b)]
            yield fitted.predict(b), fitted.predict_proba(b), d, other


def words(classes: Array) -> Array:
    return np.array(["ben", "mal", "odd", *"abcdefgh"], object)[classes.astype(int)]


def taken(values: Array) -> Array:
    return values[np.random.default_rng(0).permutation(len(values))[: len(values) // 2]]


DERIVED: dict[str, Callable[[Array, Array], Any]] = {
    "copy": lambda c, p: c.copy(),
    "list": lambda c, p: c.tolist(),
    "series": lambda c, p: pd.Series(c.copy()),
    "floats": lambda c, p: c.astype(float),
    "texts": lambda c, p: words(c),
    "other codes": lambda c, p: 9 - c,
    "column of a table": lambda c, p: c.copy()[:, None],
    "one class": lambda c, p: (c == np.bincount(c).argmax()).astype(int),
    "most probable": lambda c, p: p.argmax(axis=1),
    "named by the most probable": lambda c, p: words(p.argmax(axis=1)),
    "probabilities": lambda c, p: p.copy(),
    "column": lambda c, p: p[:, 1].copy(),
    "single": lambda c, p: p[:, 1].astype(np.float32).astype(float),
    "above .3": lambda c, p: (p[:, 1] > 0.3).astype(int),
    "above .5": lambda c, p: p[:, 1] > 0.5,
    "other class": lambda c, p: 1 - p[:, 1],
    "logarithm": lambda c, p: np.log(p[:, 1] + 1e-9),
    "log odds": lambda c, p: np.log((p[:, 1] + 1e-9) / (1 + 1e-9 - p[:, 1])),
    "rank": lambda c, p: p[:, 1].argsort().argsort() if len(np.unique(p[:, 1])) == len(p) else p[:, 1].copy(),
    "rounded": lambda c, p: p[:, 1].round(1),
    "percent": lambda c, p: (100 * p[:, 1]).astype(int),
    "half of it": lambda c, p: c[: len(c) // 2].copy(),
    "half of the column": lambda c, p: p[len(p) // 2 :, 1].copy(),
    "a part in any order": lambda c, p: taken(p[:, 1]),
}  # fmt: skip


@pytest.mark.slow
def test_derived_arguments_are_seen_and_honest_ones_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Of 35 predictions of five models on seven tables: 840 arguments that are made of one, and as many that are not."""
    seen: dict[str, int] = dict.fromkeys(DERIVED, 0)
    accused, count, honest = [], 0, 0
    for number, (classes, chances, labels, other) in enumerate(trials()):
        memory = remembered(classes, method="predict")
        memory.take(chances, rows(len(chances)), KEPT[-1][0], "predict_proba")
        count += 1
        for name, derive in DERIVED.items():
            seen[name] += sure(memory, derive(classes, chances))
        for name, argument in honest_arguments(labels, other, number):
            honest += 1
            if sure(memory, argument):
                accused.append((number, name))
    assert accused == []
    with capsys.disabled():
        print(
            "\nseen",
            sum(seen.values()),
            "of",
            count * len(seen),
            {k: v for k, v in seen.items() if v < count},
            "honest",
            honest,
        )
    assert honest >= 600
    assert sum(seen.values()) >= 0.93 * count * len(seen)


def honest_arguments(labels: Array, other: Array, seed: int) -> Iterator[tuple[str, Array]]:
    """Arguments of as many rows that have nothing to do with sealed ones."""
    n, rng = len(labels), np.random.default_rng(seed)
    yield "out of fold", other
    yield "out of fold, recoded", 9 - other
    yield "out of fold, sorted", np.sort(other)
    yield "constant", np.zeros(n, int)
    yield "drawn", rng.integers(0, 2, n)
    yield "drawn probabilities", rng.random(n)
    yield "drawn, sorted", np.sort(rng.random(n))
    yield "counted", np.arange(n)
    yield "round robin", np.arange(n) % 3
    yield "halves", (np.arange(n) > n // 2).astype(int)
    yield "shuffled labels of others", rng.permutation(other)
    yield "shorter", other[: n // 2]
    yield "a few", other[:12]
    yield "simulated labels", (rng.random(n) < labels.mean() / (1 + labels.max())).astype(int)
    yield "a cycle", np.sin(np.arange(n) / 7)
    yield "a cycle, stepped", (np.sin(np.arange(n) / 7) > 0).astype(int)
    yield "months", np.arange(n) % 12
    yield "texts", words(other)


def test_an_arrangement_counts_what_enumeration_counts() -> None:
    """Where nothing is shorter the nats are those of all arrangements with these counts."""
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1], [30, 10]))
    assert arrangement(codes) == pytest.approx(log(comb(40, 10)), abs=1e-9)
    for simple in (np.zeros(90, int), np.repeat([0, 1, 2], 30), np.arange(90) % 3, np.arange(90), np.arange(90)[::-1]):
        assert arrangement(simple) < 10
    assert arrangement(np.random.default_rng(1).permutation(90)) > 200


@pytest.mark.slow
def test_chance_makes_no_evidence() -> None:
    """Of independent arrangements of few rows, where equality does happen, fewer than exp(-nats) have so many."""
    rng, n, strength = np.random.default_rng(0), 12, 3.0
    hits = sum(
        evidence([RowValues(rng.integers(0, 2, n))], [RowValues(rng.random(n))]) >= strength for _ in range(4_000)
    )  # fmt: skip
    assert hits <= 4_000 * np.exp(-strength)


def test_the_very_object_and_parts_of_its_memory_are_sure_whatever_they_hold() -> None:
    p = np.zeros((20, 2))
    memory = remembered(p)
    for argument in (p, p[:, 1], p[:5], p[::2, 0]):
        meant = memory.source(argument)
        assert meant is not None
        assert meant.nats == inf
    assert memory.source(p.copy()) is None


def test_pieces_of_one_model_join_and_pieces_of_others_do_not() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 3, n) for n in (20, 25, 30)]
    memory = remembered(*parts)
    assert sure(memory, np.concatenate(parts))
    assert sure(memory, [*parts[1], *parts[2]])
    assert not sure(memory, np.concatenate([parts[0], parts[2]]))
    mixed = PredictionMemory()
    models = [Model() for _ in parts]
    for model, part in zip(models, parts):
        mixed.take(part, rows(len(part)), model)
    assert not sure(mixed, np.concatenate(parts))


def test_what_a_prediction_is_compared_with_is_the_labels_or_it_is_no_look() -> None:
    rng = np.random.default_rng(0)
    one, labels = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    memory = remembered(one)
    meant = memory.source(one)
    assert isinstance(meant, Meant)
    assert memory.is_of_labels(labels, meant)  # unknown: content alone
    assert memory.is_of_labels(one.copy(), meant)  # a perfect score
    assert not memory.is_of_labels(one, meant)
    memory.labels = {"t1": labels}
    assert memory.is_of_labels(words(labels), meant)
    assert memory.is_of_labels(labels[rng.permutation(60)], meant)  # of the same rows in another order
    assert not memory.is_of_labels(np.r_[labels[1:], 1 - labels[0]], meant)


def test_agreement_of_two_models_is_no_look_also_where_their_classes_were_made_by_hand() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random(80), rng.random(80)
    memory, models = PredictionMemory(), (Model(), Model())
    for model, values in zip(models, (one, other)):
        memory.take(values, rows(80), model)
    meant = memory.source(other > 0.4)
    assert meant is not None
    assert not memory.is_of_labels(one > 0.5, meant)
    memory.looked(one > 0.5)  # a look found that these are labels: the other model is perfect
    assert memory.is_of_labels(one > 0.5, meant)


def test_a_prediction_is_known_by_its_sealed_part() -> None:
    memory, model = PredictionMemory(), Model()
    p = np.random.default_rng(0).random((40, 2))
    memory.take(p, rows(40, 30), model)
    for argument in (p, p[:, 1], p[:30], p[:30, 0], p.tolist(), pd.Series(p[:, 1]), p.copy()[:30, 1]):
        found = memory.meant([argument])
        assert found is not None
        assert found.sealed
    mixed = PredictionMemory()
    mixed.take(p, rows(40, 10), model)
    assert mixed.meant([p]).sealed is False  # type: ignore[union-attr]
    assert mixed.meant([p.copy()[:10]]).sealed is True  # type: ignore[union-attr]


def test_a_model_that_is_fitted_again_predicts_anew() -> None:
    memory, model, p = PredictionMemory(), Model(), np.random.default_rng(0).random(40)
    made = [p + step for step in range(4)]
    memory.take(made[0], rows(40), model)
    memory.take(made[1], rows(40), model)
    first = memory.meant([made[0]])
    assert first is not None
    assert memory.meant([made[1]]).prediction is first.prediction  # type: ignore[union-attr]
    memory.fitted(model, rows(0, 0))
    memory.take(made[2], rows(40), model)
    assert memory.meant([made[2]]).prediction is not first.prediction  # type: ignore[union-attr]
    memory.fitted(model, rows(50, 9))
    memory.take(made[3], rows(40), model)
    assert memory.meant([made[3]]).prediction.tainted  # type: ignore[union-attr]
