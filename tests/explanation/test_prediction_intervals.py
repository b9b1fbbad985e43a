"""Intervals by CV+ of the choice repeated: the definition by brute force, and what a study keeps of its folds."""

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.cli.predict import main
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Fold, Scoreboard
from modelsel.explanation.prediction_sets import choices, kept_folds, prediction_intervals
from modelsel.record.folder import RunFolder
from modelsel.rule.best import Best


def test_ends_are_those_of_the_definition() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sizes, new = rng.integers(1, 6, int(rng.integers(1, 5))), int(rng.integers(1, 4))
        said = [rng.normal(size=new) for _ in sizes]
        residuals = [np.abs(rng.normal(size=size)) for size in sizes]
        coverage = float(rng.choice([0.5, 0.8, 0.9, 0.95]))
        low, high = prediction_intervals(said, residuals, coverage)
        n = int(sizes.sum())
        for row in range(new):
            below = sorted(own[row] - off for own, each in zip(said, residuals, strict=True) for off in each)
            above = sorted(own[row] + off for own, each in zip(said, residuals, strict=True) for off in each)
            first = int(np.floor(round((1 - coverage) * (n + 1), 9)))
            last = int(np.ceil(round(coverage * (n + 1), 9)))
            assert low[row] == (below[first - 1] if first >= 1 else -np.inf)
            assert high[row] == (above[last - 1] if last <= n else np.inf)


def test_rows_of_a_unit_count_one_together() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sizes, new = rng.integers(1, 8, int(rng.integers(1, 5))), 3
        said = [rng.normal(size=new) for _ in sizes]
        residuals = [np.abs(rng.normal(size=size)) for size in sizes]
        weights = [1.0 / rng.integers(1, 4, size) for size in sizes]
        coverage = float(rng.choice([0.5, 0.7, 0.9]))
        low, high = prediction_intervals(said, residuals, coverage, weights)
        needed = coverage * (sum(own.sum() for own in weights) + 1)
        for row in range(new):
            for sign, found in ((1, high), (-1, -low)):
                ends = sorted(
                    (sign * own[row] + off, weight)
                    for own, each, of in zip(said, residuals, weights, strict=True)
                    for off, weight in zip(each, of, strict=True)
                )
                so_far = np.cumsum([weight for _, weight in ends])
                enough = np.flatnonzero(so_far >= needed - 1e-9)
                assert found[row] == (ends[enough[0]][0] if len(enough) else np.inf)


def test_the_choice_is_repeated_by_the_scores_of_the_other_folds() -> None:
    rng = np.random.default_rng(2)
    folds = rng.random((6, 4))
    board = Scoreboard(
        ids=tuple("abcdef"), folds=folds, mean=folds.mean(axis=1), se=np.zeros(6), complexity=np.zeros(6), unit=("leaves",) * 6,
        eligible=np.array([True] * 5 + [False]),
    )  # fmt: skip
    some = [Fold(k, 0, np.arange(4), np.arange(1)) for k in range(4)]
    expected = [int(np.argmin([np.delete(own, k).mean() for own in folds[:5]])) for k in range(4)]
    assert list(choices(Best(), board, some)) == expected
    assert len(set(expected)) > 1


RNG = np.random.default_rng(0)
HOMES = pd.DataFrame({"a": RNG.random(160), "b": RNG.integers(0, 4, 160).astype(str), "noise": RNG.random(160)})
HOMES["price"] = (10 * HOMES.a + HOMES.b.astype(float) + RNG.normal(size=160)).round(3)
TREES = {"learner": "cart", "sweep": {"min_leaf": "choice(2, 5, 10)", "max_depth": "choice(2, 3, 5)"}}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[modelsel.Outcome, pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("homes"))
        patch.setenv("MODELSEL_HOME", str(tmp_path_factory.mktemp("home")))
        outcome = modelsel.run(
            "explanations.sets=true", "scheme.folds=4", "tracking=off", "final_test=false", data=HOMES, target="price",
            space={"cart": TREES},
        )  # fmt: skip
        yield outcome, HOMES


def test_a_study_keeps_the_models_of_the_choice_repeated_and_says_intervals(homes) -> None:
    outcome, frame = homes
    found = modelsel.predict(outcome, frame, interval=0.8)
    assert found.columns.tolist() == ["prediction", "low", "high"]
    pd.testing.assert_frame_equal(found, outcome.predict_interval(frame, 0.8))
    kept = kept_folds(RunFolder.open(outcome.folder))
    said = [model.predict(outcome.model._table_of(frame)) for model, _ in kept]
    low, high = prediction_intervals(said, [unseen.strangeness for _, unseen in kept], 0.8)
    assert found.low.tolist() == low.tolist()
    assert found.high.tolist() == high.tolist()
    own = outcome.predictions
    assert sum(len(unseen.strangeness) for _, unseen in kept) == len(own)
    same = [np.isclose(np.sort(unseen.strangeness), np.sort(np.abs(part.truth - part.predicted))).all()
            for (_, unseen), (_, part) in zip(kept, own.groupby("fold"), strict=True)]  # fmt: skip
    assert any(same)  # folds without which the winner wins as well have its own residuals


def test_the_command_writes_both_ends(homes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome, frame = homes
    frame.head(3).drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    assert main([str(outcome.folder), str(tmp_path / "new.csv"), "--interval", "0.8"]) == 0
    written, said = capsys.readouterr()
    assert "80 % of rows like the study's" in said
    found = pd.read_csv(StringIO(written))
    pd.testing.assert_frame_equal(found, outcome.predict_interval(frame, 0.8).head(3))


@pytest.fixture(scope="module")
def nested(homes, tmp_path_factory: pytest.TempPathFactory) -> modelsel.Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("nested"))
        patch.setenv("MODELSEL_HOME", str(tmp_path_factory.mktemp("home")))
        return modelsel.run(
            "explanations.sets=nested", "scheme=kfold", "scheme.folds=3", "tracking=off", "final_test=false", data=homes[1],
            target="price", space={"cart": TREES},
        )  # fmt: skip


@pytest.mark.slow
def test_nested_choices_are_those_of_studies_of_the_analysis_rows_alone(nested, tmp_path: Path, monkeypatch) -> None:
    """Each fold's model is the winner of a study that has never seen the fold's rows."""
    monkeypatch.chdir(tmp_path)
    own, kept = nested.predictions, kept_folds(RunFolder.open(nested.folder))
    rows = nested.model._table_of
    assert nested.explanation["sets"] == {"folds": 3, "nested": True}
    for k, (model, unseen) in enumerate(kept):
        here = own[own.fold == k]
        frame = HOMES.loc[sorted(own.row[own.fold != k])]
        alone = modelsel.run(
            "scheme=kfold", "scheme.folds=3", "tracking=off", "split=none", data=frame.reset_index(drop=True), target="price",
            space={"cart": TREES},
        )  # fmt: skip
        asked = HOMES.loc[here.row]
        assert np.array_equal(model.predict(rows(asked)), alone.model.predict(asked.drop(columns="price")))
        assert np.allclose(unseen.strangeness, np.abs(asked.price - model.predict(rows(asked))))


def test_a_theorem_is_told_of_nested_choices_alone(nested, homes, tmp_path: Path, capsys) -> None:
    for outcome, said in ((nested, "a theorem promises 7"), (homes[0], "no theorem promises it")):
        HOMES.head(2).drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
        assert main([str(outcome.folder), str(tmp_path / "new.csv"), "--interval", "0.9"]) == 0
        assert said in capsys.readouterr().err


def test_nested_choices_are_priced_and_want_folds_without_targets(homes, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = {"data": HOMES, "target": "price", "space": {"cart": TREES}}
    plan = modelsel.plan("explanations.sets=nested", "scheme=kfold", "scheme.folds=3", **asked)
    assert f"{3 * plan.fits:,} fits more: the choice made anew" in str(plan)
    with pytest.raises(ConfigurationError, match="use one of kfold, group_kfold, leave_one_out"):
        modelsel.plan("explanations.sets=nested", "scheme=stratified_kfold", **asked)
    with pytest.raises(ConfigurationError, match="nested"):
        modelsel.plan("explanations.sets=neste", "scheme=kfold", **asked)


def test_what_cannot_be_is_said(homes) -> None:
    outcome, frame = homes
    with pytest.raises(ConfigurationError, match="MSEL-292"):
        outcome.predict_interval(frame, 90)
    with pytest.raises(ConfigurationError, match="take --interval"):
        modelsel.predict(outcome, frame, sets=0.9)
