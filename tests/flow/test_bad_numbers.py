"""What is wrong with a target of numbers is told before any fit, all of it at once, at the shell and in Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel as package
from modelsel.core.errors import ModelselError

ROWS = 60


def homes(**changed: Any) -> pd.DataFrame:
    """Rows of different prices, some of which are changed: `at_3="call us"`."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"area": rng.normal(100, 20, ROWS).round(), "town": rng.choice(["n", "s"], ROWS)})
    price: list[Any] = (1000 * frame["area"] + rng.normal(0, 900, ROWS)).round(1).tolist()
    for place, value in changed.items():
        price[int(place.removeprefix("at_"))] = value
    return frame.assign(price=price)


SPARSE = homes().assign(price=[*np.arange(1.5, 6.5), *([0.0] * (ROWS - 5))])
CASES: dict[str, tuple[pd.DataFrame, list[str], list[str]]] = {
    "text": (homes(at_3="call us"), [], ["MSEL-327: not a number: 'call us' in 1 rows (row 3"]),
    "text, missing and infinite": (
        homes(at_3="call us", at_5="", at_7="inf"), ["task=regression"],
        ["MSEL-320: missing target in 1 rows (row 5", "MSEL-322: infinite target in 1 rows (row 7", "MSEL-327: not a number"],
    ),
    "numbers in dress": (
        homes().assign(price=[f"€ {price:,.2f}" for price in homes()["price"]]), [],
        ["MSEL-327: not a number: '€ ", "in 60 rows", "set dataset.signs=strip \"dataset.thousands=','\""],
    ),
    "numbers of two currencies": (
        homes().assign(price=[f"{'$€'[row % 2]} {price:.2f}" for row, price in enumerate(homes()["price"])]), [],
        ["MSEL-327: not a number: '", "in 60 rows", "write plain numbers (1250.5)"],
    ),
    "points and commas": (
        homes().assign(price=[f"{price:.2f}".replace(".", ".,"[row % 2]) for row, price in enumerate(homes()["price"])]), [],
        ["MSEL-327: not a number: '", "in 30 rows", "write plain numbers (1250.5)"],
    ),
    "one value": (homes().assign(price=5), ["task=regression"], ["MSEL-321: one value only (5)"]),
    "a fold of one value": (SPARSE, ["task=regression", "measure=r2"], ["MSEL-240: r2 divides by", "use fewer folds"]),
    "a share of zero": (SPARSE, ["task=regression", "measure=mape"], ["MSEL-240: mape divides by the target, which is 0 in"]),
    "negative counts": (homes(at_1=-5.0, at_2=-3.5, at_4=-1.0, at_6=-1.0), ["measure=poisson_deviance"], ["MSEL-240"]),
    "a measure of classes": (homes(), ["measure=auc"], ["MSEL-240: auc does not judge it", "mse"]),
    "a learner of classes": (homes(), ["space=naive_bayes"], ["naive_bayes does not read it", "learners: bagged_trees,"]),
    "20 rows, a row a fold": (homes().head(20), ["measure=r2"], ["r2 is not defined on", "that assess a single row"]),
    "a kind of target": (homes(), ["task=regresion"], ["MSEL-205: 'regresion' is not allowed", "did you mean 'regression'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_told_at_the_shell_before_any_fit(modelsel: Any, name: str) -> None:
    frame, words, said = CASES[name]
    frame.to_csv("homes.csv", index=False)
    done = modelsel("run", "homes.csv", "price", "tracking=off", *words)
    assert done.code in (2, 3), done.err
    assert all(text in done.err for text in said), done.err
    assert "Traceback" not in done.err
    assert not list(Path().glob("runs/*/*/study.json"))


@pytest.mark.parametrize("name", CASES)
def test_it_is_told_in_python(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame, words, said = CASES[name]
    texts = frame["price"].astype(str) if frame["price"].dtype == object else frame["price"]
    with pytest.raises(ModelselError) as told:
        package.run(*words, data=frame.assign(price=texts), target="price", tracking="off")
    assert all(text in str(told.value) for text in said), told.value
    assert not list(Path().glob("runs/*/*/study.json"))


def test_decimal_commas_are_set_where_the_table_has_that_setting(modelsel: Any) -> None:
    frame = homes().assign(price=[f"{price:.2f}".replace(".", ",") for price in homes()["price"]])
    frame.to_csv("homes.csv", index=False)
    assert "set \"dataset.decimal=','\"" in modelsel("run", "homes.csv", "price", "tracking=off").err
    with pytest.raises(ModelselError, match=r"write plain numbers \(1250\.5\)"):
        package.run(data=frame, target="price", tracking="off")


@pytest.mark.parametrize("text", ["log", "log1p"])
def test_what_has_no_logarithm_is_told_at_the_shell_with_the_way_out(modelsel: Any, text: str) -> None:
    homes(**{f"at_{row}": -3.0 for row in range(0, ROWS, 4)}).to_csv("homes.csv", index=False)
    done = modelsel(
        "run", "homes.csv", "price", "tracking=off", "learner=linear_regression", f"learner.target.transform={text}"
    )
    assert done.code == 2
    assert f"MSEL-240: target.transform={text} needs numbers above" in done.err
    assert "leave" in done.err
    assert not list(Path().glob("runs/*/*/study.json"))


def test_texts_of_a_frame_that_are_all_numbers_are_taken_for_numbers_where_classes_would_be_refused() -> None:
    """As in a file, where nobody can tell a text from a number; levels that have an order stay classes."""
    frame = homes().assign(price=[f" {price:.2f} " for price in homes()["price"]])
    few = ("space=[linear_regression]", "scheme.folds=3", "tracking=off")
    assert "TARGET_IS_A_NUMBER" in str(package.plan(*few, data=frame, target="price"))
    with pytest.raises(ModelselError, match=r"MSEL-32[34]"):
        package.plan(*few, data=frame.assign(price=pd.Categorical(frame["price"], ordered=True)), target="price")
    grades = frame.assign(price=[str(row % 3) for row in range(ROWS)])
    with pytest.raises(ModelselError, match="the target is a class"):
        package.plan(*few, data=grades, target="price")
