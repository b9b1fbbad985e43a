"""Distributions in sweeps, and trials that are drawn from them: the same for the same seed, whatever else is in the space."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modelsel
from modelsel.config.build import BuildContext, Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.config.grammar import SweepError, read_sweep
from modelsel.config.settings import SearchSettings
from modelsel.core.errors import ConfigurationError
from modelsel.foreign.written import space
from modelsel.record.folder import RunFolder


def candidates(entries: Any, seed: int = 0, **search: Any) -> Any:
    builder = Builder(Folders.of(), context=BuildContext(seed=seed))
    found = expand(space(entries), builder, search=SearchSettings(**search))
    ConfigurationError.raise_if(builder.problems)
    return found.candidates


TREE = {"tree": {"learner": "cart", "sweep": {"max_depth": "integers(1, 20)", "criterion": "choice(gini, entropy)"}}}


@pytest.mark.parametrize(
    ("text", "cdf"),
    [
        ("uniform(0, 1)", stats.uniform(0, 1).cdf), ("uniform(-2.5, 1e1)", stats.uniform(-2.5, 12.5).cdf),
        ("log_uniform(1e-3, 1e3)", stats.loguniform(1e-3, 1e3).cdf),
    ],
)  # fmt: skip
def test_draws_are_of_the_distribution_that_is_named(text: str, cdf: Any) -> None:
    rng = np.random.default_rng(0)
    drawn = [read_sweep(text, list).interval.draw(rng) for _ in range(2000)]
    assert stats.kstest(drawn, cdf).pvalue > 0.01


def test_whole_numbers_include_both_ends() -> None:
    rng = np.random.default_rng(0)
    assert {read_sweep("integers(1, 4)", list).interval.draw(rng) for _ in range(200)} == {1, 2, 3, 4}


@pytest.mark.parametrize("text", ["uniform(1, 0)", "log_uniform(0, 1)", "integers(1, 2.5)", "uniform(a, b)", "integers(3)"])
def test_a_distribution_that_is_none_is_said(text: str) -> None:
    with pytest.raises(SweepError):
        read_sweep(text, list)


def test_an_entry_with_a_distribution_is_drawn_from_and_the_others_are_listed() -> None:
    found = candidates({**TREE, "knn": {"sweep": {"k": [1, 3]}}}, trials=12)
    assert [one.trial for one in found if one.entry == "knn"] == [0, 0]
    trials = [one.trial for one in found if one.entry == "tree"]
    assert trials == sorted(trials)
    assert set(trials) <= set(range(1, 13))
    assert {type(one.learner.stopping.max_depth if hasattr(one.learner, "stopping") else one.parameters["max_depth"])
            for one in found if one.entry == "tree"} == {int}  # fmt: skip


def test_more_trials_begin_with_the_same_and_another_entry_or_order_changes_none() -> None:
    few = [one.id for one in candidates(TREE, trials=10)]
    assert [one.id for one in candidates(TREE, trials=25)][: len(few)] == few
    beside = candidates({"knn": {"sweep": {"k": "integers(1, 9)"}}, **TREE}, trials=10)
    assert [one.id for one in beside if one.entry == "tree"] == few
    assert [one.id for one in candidates(TREE, seed=1, trials=10)] != few
    assert [one.id for one in candidates(TREE, seed=1, trials=10)] == [one.id for one in candidates(TREE, trials=10, seed=1)]


def test_random_search_of_lists_repeats_nothing_and_takes_all_where_there_are_few() -> None:
    entry = {"knn": {"sweep": {"k": "range(1, 101)"}}}
    drawn = candidates(entry, kind="random", trials=30)
    assert len({one.id for one in drawn}) == 30
    assert [one.trial for one in drawn] == list(range(1, 31))
    assert len(candidates(entry, kind="random", trials=200)) == 100
    assert len(candidates(entry, trials=30)) == 100, "no distribution, and nothing said of a search"


def test_a_grid_of_a_distribution_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="MSEL-224: a distribution has no grid"):
        candidates(TREE, kind="grid")


def test_distributions_of_scipy_are_written_in_the_grammar_or_held() -> None:
    grid = {"C": stats.loguniform(1e-3, 1e2), "tol": stats.norm(0.01, 0.001), "max_iter": stats.randint(50, 101)}
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    named = {f"logisticregression__{name}": one for name, one in grid.items()}
    sweep = space({"a": (piped, {**named, "standardscaler__with_mean": [True, False]})})["a"]["sweep"]
    assert sweep["params.C" if "params.C" in sweep else "params.logisticregression__C"] == "log_uniform(0.001, 100.0)"
    found = candidates({"a": (piped, named)}, trials=300)
    values = {name: np.array([one.learner.params[name.removeprefix("logisticregression__")
                                                if name not in one.learner.params else name] for one in found])
              for name in named}  # fmt: skip
    assert stats.kstest(values["logisticregression__C"], grid["C"].cdf).pvalue > 0.01
    assert stats.kstest(values["logisticregression__tol"].astype(float), grid["tol"].cdf).pvalue > 0.01
    assert 50 <= values["logisticregression__max_iter"].min() <= values["logisticregression__max_iter"].max() <= 100


def test_a_search_with_distributions_does_not_depend_on_the_workers_and_tells_values() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)), [0, 1] * 30
    entry = (LogisticRegression(), {"C": stats.loguniform(1e-3, 1e3)})
    one, many = (modelsel.SelectionCV(entry, cv=3, n_jobs=n, search={"kind": "random", "trials": 8}).fit(X, y) for n in (1, 3))
    assert one.cv_results_["params"] == many.cv_results_["params"]
    assert one.cv_results_["mean_test_score"].tolist() == many.cv_results_["mean_test_score"].tolist()
    assert len(one.cv_results_["params"]) == 8
    assert len(list(ParameterSampler(entry[1], 8, random_state=0))) == 8


def test_trials_and_their_seed_are_on_record_and_a_longer_search_computes_the_further_ones_alone(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    quick = {"tracking": "off", "pool": "sequential", "scheme": {"kind": "kfold", "folds": 3}, "final_test": False}
    few, more = (
        modelsel.run("dataset=iris", space=TREE, search={"kind": "random", "trials": trials, "seed": 5}, **quick)
        for trials in (6, 12)
    )
    kept = RunFolder.open(more.folder).candidates()
    assert all(1 <= row.trial <= 12 for row in kept)
    assert set(few.leaderboard["id"]) < {row.id for row in kept}
    assert RunFolder.open(more.folder).config()["search"] == {"kind": "random", "trials": 12, "seed": 5}


SECONDS = {
    "tree": {"learner": "cart", "sweep": {"min_leaf": "integers(1, 100)"}},
    "declared": {"learner": "majority"},
}


def test_a_search_that_has_had_its_seconds_begins_no_further_trial_and_says_so(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is begun is finished, in the order of the trials, and a later run goes on with the others."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    quick = {"tracking": "off", "pool": "sequential", "scheme": {"kind": "kfold", "folds": 2}, "final_test": False}
    again = iter(range(1000))
    with monkeypatch.context() as patched:  # a second per question of the clock
        patched.setattr("modelsel.runner.run.time", type("Clock", (), {"monotonic": staticmethod(lambda: float(next(again)))}))
        short = modelsel.run("dataset=iris", space=SECONDS, search={"trials": 40, "seconds": 20}, **quick)
    rows = RunFolder.open(short.folder).candidates()
    begun = [row.trial for row in rows if row.status == "ok" and row.trial]
    left = [row for row in rows if row.status == "skipped"]
    assert begun == [row.trial for row in rows if row.trial][: len(begun)]
    assert 0 < len(begun) < len(rows) - 1
    assert {row.reason for row in left} == {"not begun: search.seconds=20 were over"}
    assert len(left) + len(begun) + 1 == len(rows)
    long = modelsel.run("dataset=iris", space=SECONDS, search={"trials": 40, "seconds": 1e6}, **quick)
    every = RunFolder.open(long.folder).candidates()
    assert {row.status for row in every} == {"ok"}
    assert [row.id for row in every] == [row.id for row in rows]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"space": "knn"}, "MSEL-224: no entry is drawn from"),
        ({"space": SECONDS, "outer": "kfold"}, "MSEL-214: selections inside the outer folds would end elsewhere"),
        ({"space": SECONDS, "race": "exact"}, "MSEL-226: a race would drop candidates"),
    ],
)
def test_seconds_that_a_search_cannot_keep_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        modelsel.plan("dataset=iris", search={"seconds": 5}, **more)


def test_a_search_that_is_no_study_is_not_ended_by_the_clock() -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-208: a search that is not a study"):
        modelsel.SelectionCV(SECONDS, search={"seconds": 5}).fit(np.zeros((9, 1)), [0, 1, 1] * 3)
