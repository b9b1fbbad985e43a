"""Nested cross-validation: selections made outside as one would by hand, and intervals that know what they are about."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from modelsel.comparison.nested import OuterFoldLosses, SelectionProcedure, interval, score_selection, score_selection_by_bates
from modelsel.config.compose import compose
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task
from modelsel.learner.knn import Knn
from modelsel.learner.majority import Majority
from modelsel.planning.make import make as plan
from modelsel.planning.show import Nesting
from modelsel.runner.execution.executors import Pool
from modelsel.runner.final_fit import fit
from modelsel.runner.run import run
from modelsel.runner.study_data import prepare

ERROR = make("measure", "error")


def noise(rng: np.random.Generator, rows: int = 60, features: int = 3) -> Task:
    """Features that know nothing of the class."""
    names = tuple(Feature(f"x{i}", "numeric") for i in range(features))
    return Task(name="noise", features=names, values=rng.normal(size=(rows, features)), rows=np.arange(rows),
                classes=("a", "b"), target=rng.integers(0, 2, rows).astype(np.int32))  # fmt: skip


def selecting(tmp_path: Path, candidates: tuple[Candidate, ...]) -> SelectionProcedure:
    from modelsel.runner.journal import Journal

    journal = Journal(tmp_path / "journal")

    def compute(cells: Any, task: Task, folds: Any) -> Any:
        return run(cells, task, folds, ERROR, Pool("sequential"), journal, seed=0)

    return SelectionProcedure(candidates, make("scheme", "kfold", folds=3), ERROR, make("rule", "best"), 0, compute)


def by_hand(how: SelectionProcedure, task: Task, analysis: np.ndarray, assessment: np.ndarray) -> np.ndarray:
    """Losses on some rows of what is chosen on others: cross-validate each candidate there, fit the best, predict."""
    inner = task.take(analysis)
    folds = how.scheme.instantiate(inner, 0)
    means = []
    for candidate in how.candidates:
        scores = []
        for fold in folds.folds:
            model = fit(candidate, inner, 0, fold.analysis)
            rows = inner.take(fold.assessment)
            scores.append(np.mean(model.predict(rows) != rows.target))
        means.append(round(float(np.mean(scores)), 12))
    model = fit(how.candidates[int(np.argmin(means))], inner, 0)
    rows = task.take(assessment)
    return np.asarray(model.predict(rows) != rows.target, float)


SPACE = (Candidate(Majority()), Candidate(Knn(k=9)), Candidate(Knn(k=5)), Candidate(Knn(k=1)))  # ties: the first has least size


def test_each_fold_is_judged_by_what_was_chosen_without_it(tmp_path: Path) -> None:
    task, how = noise(np.random.default_rng(1)), selecting(tmp_path, SPACE)
    outer = make("scheme", "stratified_kfold", folds=4).instantiate(task, 0)
    found = score_selection(how, task, outer)
    assert found.scores == pytest.approx([by_hand(how, task, f.analysis, f.assessment).mean() for f in outer.folds])
    assert len(found.winners) == 4
    assert found.low < found.mean < found.high


@pytest.mark.slow
def test_the_interval_of_bates_is_the_published_algorithm(tmp_path: Path) -> None:
    """Algorithm 1 of Bates, Hastie & Tibshirani (2021), written out as it is printed, loop by loop."""
    task, how = noise(np.random.default_rng(2), rows=40), selecting(tmp_path, SPACE)
    outer = make("scheme", "repeated_kfold", folds=4, repeats=2).instantiate(task, 0)
    es, a_list, b_list, plain = [], [], [], []
    for repeat in range(2):
        parts = [fold.assessment for fold in outer.folds if fold.repeat == repeat]
        for k, held in enumerate(parts):
            others = [part for i, part in enumerate(parts) if i != k]
            inside = []
            for j, part in enumerate(others):
                rest = np.sort(np.concatenate([other for i, other in enumerate(others) if i != j]))
                inside.extend(by_hand(how, task, rest, part))
            out = by_hand(how, task, np.sort(np.concatenate(others)), held)
            a_list.append((np.mean(inside) - np.mean(out)) ** 2)
            b_list.append(np.var(out, ddof=1) / len(held))
            es.extend(inside)
            plain.extend(out)
    squared = (np.mean(a_list) - np.mean(b_list)) * 3 / 4
    se = np.std(es, ddof=1) / np.sqrt(40)
    error = max(se, min(np.sqrt(max(squared, 0)), se * 2))
    mean = np.mean(es) - (1 + 2 / 4) * (np.mean(es) - np.mean(plain))
    found = score_selection_by_bates(how, task, outer)
    half = norm.ppf(0.975) * error
    assert (found.mean, found.low, found.high) == pytest.approx((mean, mean - half, mean + half))
    assert found.method == "bates"
    assert "2 × 4 folds" in found.label


def test_it_is_wider_where_the_losses_of_a_fold_go_together() -> None:
    """Losses that are equal within a fold: as many independent ones as folds, so sqrt(K) times the naive standard error."""
    rng = np.random.default_rng(0)
    folds = [OuterFoldLosses(np.repeat(rng.integers(0, 2, 9), 10).astype(float), np.full(10, float(i % 2))) for i in range(10)]
    assert interval([folds]).inflation == pytest.approx(np.sqrt(10))
    with pytest.raises(ValueError, match="three outer folds"):
        interval([folds[:2]])


@pytest.mark.slow
def test_thirty_candidates_of_no_value_are_worth_nothing(tmp_path: Path) -> None:
    """The true error is one half whatever is chosen; the best of many cross-validated scores is far below it."""
    rng = np.random.default_rng(5)
    means: dict[str, list[float]] = {"best": [], "nested": []}
    for turn in range(12):
        task = noise(rng, rows=100, features=2)
        how = selecting(tmp_path / str(turn), tuple(Candidate(Knn(k=k)) for k in range(1, 61, 2)))
        folds = how.scheme.instantiate(task, 0)
        board = how.run(plan(how.candidates, task, folds), task, folds).board
        means["best"].append(board.mean.min())
        means["nested"].append(score_selection(how, task, make("scheme", "kfold", folds=5).instantiate(task, 1)).mean)
    standard_error = np.std(means["nested"], ddof=1) / np.sqrt(12)
    assert np.mean(means["best"]) < 0.45
    assert np.mean(means["nested"]) == pytest.approx(0.5, abs=3 * standard_error)


def test_rows_count_by_their_weight(tmp_path: Path) -> None:
    task = noise(np.random.default_rng(3), rows=30)
    how = selecting(tmp_path, (Candidate(Majority()),))
    outer = make("scheme", "kfold", folds=3).instantiate(task, 0)
    twice = replace(task, weights=np.full(30, 2.0))
    assert score_selection_by_bates(how, twice, outer).mean == pytest.approx(score_selection_by_bates(how, task, outer).mean)


SMALL = ("dataset=wine", "learner=naive_bayes", "tracking=off", "final_test=false")


def test_the_interval_is_a_setting_of_the_outer_scheme() -> None:
    config = compose([*SMALL, "outer=stratified_kfold", "outer.interval=bates", "outer.folds=4"])
    assert (config.interval, config.outer.folds, config.resolved["outer"]["interval"]) == ("bates", 4, "bates")
    plain = compose([*SMALL, "outer=stratified_kfold", "outer.folds=4"])
    assert plain.interval == "corrected"
    assert plain.spec_id != config.spec_id
    with pytest.raises(ConfigurationError, match="did you mean 'bates'"):
        compose([*SMALL, "outer=stratified_kfold", "outer.interval=bate"])


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (("outer=holdout",), "k-fold"), (("outer=kfold", "outer.folds=2"), "three folds"), (("outer=bootstrap",), "k-fold"),
        (("outer=kfold", "measure=auc"), "not a mean over rows"),
    ],
)  # fmt: skip
def test_where_there_are_no_pairs_of_folds_or_losses_of_rows_it_is_refused(settings: tuple[str, ...], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        prepare(compose([*SMALL, *settings, "outer.interval=bates"]))


def test_a_plan_says_what_it_costs() -> None:
    task = noise(np.random.default_rng(0), rows=100)
    outer = make("scheme", "repeated_kfold", folds=10, repeats=3).instantiate(task, 0)
    assert Nesting.of(outer, 100, pairs=False) == Nesting(30, 0.9)
    assert Nesting.of(outer, 100, pairs=True) == Nesting(3 * 55, pytest.approx((30 * 90 + 135 * 80) / 165 / 100))
