"""Targets of any size: the same model as in another unit, bit for bit, or a refusal before any fit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.build import NUMBERS, build
from modelsel.core.errors import ModelselError
from modelsel.core.spec import kind_of
from modelsel.core.types import Feature, NumberTask

FOREIGN = ("estimator", "object", "sklearn", "greedy_ensemble", "transformed_target")  # other libraries' numbers; logarithms
ROWS = 120


def learners() -> list[str]:
    """Every preset that fits numbers by code of modelsel's own."""
    found = []
    for path in sorted((Path(modelsel.__file__).parent.parent / "conf" / "learner").glob("*.yaml")):
        try:
            learner: Any = build(path.stem, context=NUMBERS)[0]
        except ModelselError:
            continue
        if kind_of(learner) not in FOREIGN and "numbers" in getattr(learner, "reads", ()):
            found.append(path.stem)
    return found


def task(gaps: bool) -> NumberTask:
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=ROWS), rng.integers(0, 5, ROWS), rng.integers(0, 3, ROWS)]).astype(float)
    values[::9, 0] = np.nan if gaps else values[::9, 0]
    target = 2 * np.nan_to_num(values[:, 0]) + 3 * (values[:, 2] == 1) + rng.normal(size=ROWS)
    features = (Feature("a", "numeric"), Feature("b", "numeric"), Feature("c", "nominal", ("x", "y", "z")))
    return NumberTask(name="t", features=features, values=values, rows=np.arange(ROWS), target=target)


@pytest.mark.parametrize("name", learners())
@pytest.mark.parametrize("power", [-390, -33, 33, 390])
def test_a_target_in_another_unit_has_the_same_model(name: str, power: int) -> None:
    learner: Any = build(name, context=NUMBERS)[0]
    plain, rows = (
        task(gaps=kind_of(learner) != "knn"),
        np.arange(ROWS),
    )  # neighbours at equal distances go by a digest of the target
    if next(iter(learner.problems(plain)), ""):
        pytest.skip("a pruner of classes")
    scaled = replace(plain, target=np.ldexp(plain.target, power))
    try:
        said = learner.fit(plain, rows, np.random.default_rng(1)).predict(plain)
    except ValueError:
        pytest.skip("it prunes by classes")
    again = learner.fit(scaled, rows, np.random.default_rng(1)).predict(scaled)
    np.testing.assert_array_equal(np.ldexp(again, -power), said)


@pytest.mark.parametrize("power", [-1040, -660, 900])
@pytest.mark.parametrize("name", ["cart", "m5p", "optimal_tree", "rep_tree", "forest"])
def test_what_cannot_be_squared_is_refused_before_any_fit(power: int, name: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60)})
    y = np.ldexp(X.x + rng.normal(size=60), power)
    with pytest.raises(ModelselError, match="MSEL-328"):
        modelsel.plan(X.assign(y=y), target="y", task="regression", space=name)
    with pytest.raises(ValueError, match="MSEL-328"):
        modelsel.regressor(name).fit(X, y)
    with pytest.raises(ValueError, match="MSEL-328"):
        modelsel.SelectionCV(name, cv=3).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("power", [-54, 53])
def test_a_study_at_the_limit_has_the_scores_of_the_plain_unit(power: int, tmp_path: Path, monkeypatch: Any) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=90), "z": rng.normal(size=90), "fold": np.arange(90) % 3})
    y = X.x + rng.normal(size=90)
    means, refused = [], lambda word: pytest.fail(f"{word} in a file of JSON")
    for k in (0, power):
        X.assign(y=np.ldexp(y, k)).to_csv(f"t{k}.csv", index=False, float_format="%.17g")
        outcome = modelsel.run(
            "dataset=csv", f"dataset.path=t{k}.csv", "dataset.target=y", "task=regression", "space=[cart,m5p,mean]",
            "dataset.fold=fold", "scheme=predefined", "tracking=off", "split=none",
        )  # fmt: skip
        means.append(np.ldexp(outcome.winner["cv"]["mean"], -2 * k))  # a squared error
        for path in Path(outcome.folder).rglob("*.json"):
            json.loads(path.read_text(), parse_constant=refused)
    assert means[1] == pytest.approx(means[0], rel=1e-6)
