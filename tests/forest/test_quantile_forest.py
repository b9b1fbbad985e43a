"""Quantiles of forests: Meinshausen's weights by brute force, quantile-forest's answers, forests grown alone, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.cli.predict import main
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, positions
from modelsel.forest.grow import drawn_rows
from modelsel.learner.forest import Forest
from modelsel.learner.trees.leaf import Leaf
from modelsel.scheme.out_of_bag import OutOfBag
from tests.extras import needs
from tests.forest.test_forest import random_forest, walked
from tests.forest.test_number_forest import numbers
from tests.tree.number_tables import friedman, number_task

ASKED = (0.05, 0.1, 0.5, 0.75, 0.9)


def quantile_forest(q: float = 0.5, **settings: object) -> Forest:
    return Forest(leaf=Leaf(statistic="quantile", q=q), **settings)


def by_definition(path, task, rows, trees: int, q: float) -> np.ndarray:
    """Row by row and tree by tree: the weights of all training rows, then the least number that has the share q."""
    found = []
    for row in rows:
        weight = np.zeros(len(task))
        for number, tree in enumerate(path.trees(trees)):
            times = np.bincount(path.ground.rows, drawn_rows(path.ground, path.growth, number)[0], len(task))
            leaves = np.array([walked(tree, tree.terminal, task, values) for values in task.values])
            own = times * path.ground.weights * (leaves == leaves[row])
            weight += own / own.sum() / trees
        order = np.argsort(task.target, kind="stable")
        place = np.flatnonzero(np.cumsum(weight[order]) >= q - 1e-12)
        found.append(task.target[order[place[0]]])
    return np.array(found)


@pytest.mark.parametrize("seed", range(12))
def test_they_are_meinshausens_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    forest = replace(
        random_forest(rng), criterion=make("criterion", "variance"), trees=3, honest=0.0, max_depth=None,
        min_split=2, min_gain=0.0, purity=1.0, vote="mean", pruner=make("pruner", "unpruned"),
        leaf=Leaf(statistic="quantile", q=ASKED[seed % 5]),
    )  # fmt: skip
    path = forest.fit_path(task, positions(task), np.random.default_rng(seed))
    some = rng.choice(len(task), min(len(task), 8), replace=False)
    said = path.model(forest).predict(task.take(some))
    assert said.tolist() == by_definition(path, task, some, 3, forest.leaf.quantile).tolist()


def test_one_forest_answers_quantiles_sizes_and_limits_as_each_alone() -> None:
    X, y = friedman(150)
    task, new = number_task(X, y), np.arange(20)
    learners = [quantile_forest(q, trees=t, max_depth=d) for q in (0.1, 0.9) for t in (2, 5) for d in (2, None)]
    learners.insert(3, Forest(trees=4))
    path = learners[0].fit_path(task, positions(task), np.random.default_rng(1))
    said = path.outputs(learners, task, new, False).predicted
    for own, learner in zip(said, learners, strict=True):
        alone = learner.fit(task, positions(task), np.random.default_rng(1))
        assert own.tolist() == alone.predict(task.take(new)).tolist()


def test_the_order_of_rows_changes_no_bit() -> None:
    X, y = friedman(120)
    order = np.random.default_rng(0).permutation(120)
    forest = quantile_forest(0.3, trees=1, rows="all", features="all", min_leaf=6)
    one, other = number_task(X, y), number_task(X[order], y[order])
    said = [forest.fit(task, positions(task), np.random.default_rng(2)).predict(one) for task in (one, other)]
    assert said[0].tolist() == said[1].tolist()


def test_a_tree_on_all_rows_says_what_quantile_forest_says() -> None:
    theirs = needs("quantile_forest")
    X, y = friedman(300)
    task = number_task(X, y)
    ours = quantile_forest(trees=1, rows="all", features="all", min_leaf=15)
    model = ours.fit(task, positions(task), np.random.default_rng(0))
    other = theirs.RandomForestQuantileRegressor(
        1, min_samples_leaf=15, bootstrap=False, max_samples_leaf=None, random_state=0
    ).fit(X, y)
    asked = [0.11, 0.52, 0.87]  # of no leaf a whole number of rows
    expected = other.predict(X, quantiles=asked, interpolation="nearest", weighted_quantile=True)
    between = (
        other.predict(X, quantiles=asked, interpolation="lower"),
        other.predict(X, quantiles=asked, interpolation="higher"),
    )
    said = model.quantiles(task, positions(task), asked)
    assert np.mean((said == expected) | (said == between[0]) | (said == between[1])) > 0.99


def test_limits_cut_the_leaves_whose_rows_are_kept() -> None:
    X, y = friedman(60)
    task = number_task(X, y)
    stump = quantile_forest(0.25, trees=1, rows="all", max_depth=0)
    said = stump.fit(task, positions(task), np.random.default_rng(0)).predict(task)
    assert set(said.tolist()) == {float(np.quantile(y, 0.25, method="inverted_cdf"))}


def test_what_cannot_be_is_refused_before_a_fit() -> None:
    X, y = friedman(30)
    task = number_task(X, y)

    def reasons(**settings: object) -> str:
        return " ".join(Forest(**settings).problems(task))

    assert not reasons(leaf=Leaf(statistic="median"))
    assert "single trees" in reasons(leaf=Leaf(statistic="m_estimate"))
    assert "honest=0" in reasons(leaf=Leaf(statistic="median"), honest=0.3)
    assert "above 0 and below 1" in reasons(leaf=Leaf(statistic="quantile"))
    assert "use leaf.statistic" in reasons(leaf=Leaf(score="laplace"))
    candidate = Candidate(quantile_forest())
    assert any("not judged out of bag" in reason for reason in OutOfBag().misfits([candidate]))


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[modelsel.Outcome, pd.DataFrame]:
    X, y = friedman(120)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(price=y)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("homes"))
        patch.setenv("MODELSEL_HOME", str(tmp_path_factory.mktemp("home")))
        space = {"forest": {"learner": "forest", "trees": 20, "leaf": {"statistic": "median"}}}
        outcome = modelsel.run(
            "scheme.folds=3", "tracking=off", "final_test=false", data=frame, target="price", space=space, measure="mae"
        )
        yield outcome, frame


def test_a_stored_forest_says_any_quantile(homes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome, frame = homes
    found = modelsel.predict(outcome, frame, quantiles=(0.1, 0.5, 0.9))
    assert found.columns.tolist() == ["prediction", "q0.1", "q0.5", "q0.9"]
    assert found.prediction.tolist() == found["q0.5"].tolist()
    assert (found["q0.1"] <= found["q0.5"]).all()
    assert np.mean((found["q0.1"] <= frame.price) & (frame.price <= found["q0.9"])) > 0.8
    frame.head(4).drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    assert main([str(outcome.folder), str(tmp_path / "new.csv"), "--quantiles", ".1,.9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "prediction,q0.1,q0.9"
    assert [float(line.split(",")[1]) for line in lines[1:]] == found["q0.1"].head(4).tolist()
    with pytest.raises(ConfigurationError, match="MSEL-292"):
        modelsel.predict(outcome, frame, quantiles=(10,))


@pytest.mark.slow
def test_another_model_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    X, y = friedman(60)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(price=y)
    outcome = modelsel.run(
        "scheme.folds=3", "tracking=off", "final_test=false", data=frame, target="price", space=["linear_regression"]
    )
    with pytest.raises(ConfigurationError, match="keeps its rows"):
        modelsel.predict(outcome, frame, quantiles=(0.1,))


@pytest.mark.parametrize("name", ["kept_rank", "kept_weight"])
def test_a_stored_forest_that_lacks_a_row_is_none(name: str) -> None:
    X, y = friedman(40)
    task = number_task(X, y)
    stored = quantile_forest(0.5, trees=1, max_depth=1).fit(task, positions(task), np.random.default_rng(0)).describe()
    Forest.restore(stored)
    with pytest.raises(ValueError, match="a leaf has no rows"):
        Forest.restore(replace(stored, arrays={**stored.arrays, name: stored.arrays[name][:-1]}))
