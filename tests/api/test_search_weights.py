"""SelectionCV reads weights as a study does, by a word of its own too; inner folds keep the splitter's groups together."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from modelsel import SelectionCV
from modelsel.learner import inner

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + RNG.normal(size=90) > 0).astype(int)
WHOLE = RNG.integers(1, 4, 90).astype(float)
FOLDS = [(np.arange(45, 90), np.arange(45)), (np.arange(45), np.arange(45, 90))]


def fitted(weights_are: str, factor: float) -> SelectionCV:
    search = SelectionCV({"cart": {"learner": "cart", "min_leaf": 8}}, cv=FOLDS, measure="log_loss", weights_are=weights_are)
    return search.fit(X, Y, sample_weight=WHOLE * factor)


def test_relative_weights_times_a_constant_change_nothing() -> None:
    one, more = fitted("relative", 1.0), fitted("relative", 7.0)
    assert one.best_score_ == more.best_score_
    np.testing.assert_array_equal(one.predict_proba(X), more.predict_proba(X))
    assert clone(one).weights_are == "relative"
    with pytest.raises(ValueError, match="weights_are='often' is not a way to count weights: one of auto, repeats, relative"):
        fitted("often", 1.0)


def test_repeats_are_rows_that_stand_so_many_times() -> None:
    """By hand: the folds hold each row as often as its weight says."""
    many = np.repeat(np.arange(90), WHOLE.astype(int))
    folds = [tuple(np.flatnonzero(np.isin(many, half)) for half in fold) for fold in FOLDS]
    plain = SelectionCV({"cart": {"learner": "cart", "min_leaf": 8}}, cv=folds, measure="log_loss").fit(X[many], Y[many])
    weighed = fitted("repeats", 1.0)
    assert weighed.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)
    assert fitted("relative", 1.0).best_score_ != pytest.approx(plain.best_score_, rel=1e-9)


def test_inner_folds_keep_the_groups_of_the_splitter_together(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, seen, dealt = np.repeat(np.arange(18), 5), [], inner.deal_groups

    def remembered(own: np.ndarray, *rest: object) -> np.ndarray:
        part = dealt(own, *rest)
        seen.append((np.asarray(own), np.asarray(part)))
        return part

    monkeypatch.setattr(inner, "deal_groups", remembered)
    space = {"cart": {"learner": "cart", "calibrator": "platt"}}
    SelectionCV(space, cv=GroupKFold(3), measure="log_loss", n_jobs=1).fit(X, Y, groups=groups)
    assert seen
    assert all(len({(g, p) for g, p in zip(own, part, strict=True)}) == len(set(own.tolist())) <= 18 for own, part in seen)
