"""Every criterion: its NumPy form against its compiled loop, its order under merging, and numbers from elsewhere."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaincc
from scipy.stats import chi2_contingency

from modelsel.core.spec import make
from modelsel.core.types import Feature, Table, Task, positions
from modelsel.criterion.chi_square import minus_log_p
from modelsel.kernels.compiler import function_of
from modelsel.learner.tree import Splits, Tree
from modelsel.statistics.information import entropy

EVERY = sorted(path.stem for path in (Path(__file__).parents[2] / "conf/criterion").glob("*.yaml"))
KINDS = [kind for kind in EVERY if "classes" in make("criterion", kind).reads]
LOOPS = [kind for kind in KINDS if make("criterion", kind).loop is not None]  # the others grow in NumPy
RASCHKA = np.array([[[30.0, 10.0], [10.0, 30.0]], [[20.0, 40.0], [20.0, 0.0]]])


def table_of(seed: int, binary: bool) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shape = (2 if binary else rng.integers(2, 6), rng.integers(2, 6))
    table = rng.integers(0, rng.choice([2, 20, 3000]), shape) * rng.choice([1.0, 0.37])
    table[0, 0] += 1.0
    return table


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOOPS)
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_loop_says_what_the_formula_says(kind: str, seed: int) -> None:
    from modelsel.kernels import types

    criterion = make("criterion", kind)
    table = table_of(seed, criterion.binary)
    compiled = function_of(criterion.loop, types.goodness.signature)
    assert compiled(table) == pytest.approx(float(criterion.goodness(table[None])[0]), rel=1e-10, abs=1e-12)
    assert criterion.loop(table) == pytest.approx(compiled(table), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("kind", LOOPS)
def test_the_loop_of_a_worked_table_says_the_same_beside_a_class_and_a_branch_that_have_no_row(kind: str) -> None:
    criterion = make("criterion", kind)
    for table in RASCHKA:
        worked = float(criterion.goodness(table[None])[0])
        assert criterion.loop(table) == pytest.approx(worked, rel=1e-10)
        assert criterion.loop(np.insert(table, 1, 0.0, axis=1)) == pytest.approx(worked, rel=1e-10)
        if not criterion.binary:
            assert criterion.loop(np.insert(table, 1, 0.0, axis=0)) == pytest.approx(worked, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_test_that_says_nothing_has_no_goodness(kind: str) -> None:
    criterion = make("criterion", kind)
    assert criterion.goodness(np.array([[[6.0, 2.0, 4.0], [3.0, 1.0, 2.0]]]))[0] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_branches_and_of_classes_does_not_matter(kind: str, seed: int) -> None:
    criterion = make("criterion", kind)
    table = table_of(seed, criterion.binary)
    rng = np.random.default_rng(seed)
    other = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
    assert criterion.goodness(other[None])[0] == pytest.approx(criterion.goodness(table[None])[0], rel=1e-9, abs=1e-12)


def test_entropy_of_nine_and_five_as_printed() -> None:
    """E([9+, 5−]) = .940 (Quinlan 1986; Mitchell 1997)."""
    assert entropy(np.array([9.0, 5.0])) == pytest.approx(0.940286, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "worked"),
    [
        ("twoing", (1 / 16, 1 / 12)),  # ¼ · ¼ · (½ + ½)²; 3/16 · ¼ · (⅔ + ⅔)²
        ("symmetric_uncertainty", (0.18872, 0.34370)),  # 2 · .18872/(1 + 1); 2 · .31128/(1 + .81128)
        ("hellinger", (0.51764, 0.76537)),  # √(2 (√¾ − √¼)²); √((√½ − 1)² + ½)
        ("dkm", (1 - 3**0.5 / 2, 1 - 0.5**0.5)),  # 1 − 2 √(¾ · ¼); 1 − ¾ · 2 √(⅓ · ⅔)
        ("chi_square", (11.76856, 15.23534)),  # −ln p of X² = 20 and 26.667 on one degree of freedom
    ],
)
def test_what_is_worked_by_hand(kind: str, worked: tuple[float, float]) -> None:
    assert make("criterion", kind).goodness(RASCHKA) == pytest.approx(worked, abs=5e-5)


@pytest.mark.parametrize(
    ("kind", "printed"), [("misclassification", (0.25, 0.25)), ("gini", (0.125, 0.1667)), ("entropy", (0.1887, 0.3113))]
)
def test_raschkas_example(kind: str, printed: tuple[float, float]) -> None:
    assert make("criterion", kind).goodness(RASCHKA) == pytest.approx(printed, abs=5e-5)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 20, 51])
@pytest.mark.parametrize("square", [0.01, 0.5, 3.0, 20.0, 200.0])
def test_minus_log_p_against_scipy(freedom: int, square: float) -> None:
    assert minus_log_p(square, freedom) == pytest.approx(-np.log(gammaincc(freedom / 2, square / 2)), rel=1e-9, abs=1e-12)


def test_strong_tests_stay_ordered_beyond_what_a_float_can_hold() -> None:
    strong = [minus_log_p(square, freedom) for freedom in (1, 2, 5) for square in (1_430.0, 5_000.0, 1e6)]
    assert all(np.isfinite(strong))
    assert minus_log_p(5_000.0, 1) > minus_log_p(1_430.0, 1) > 700


def test_chi_square_is_pearsons() -> None:
    table = np.array([[12.0, 5.0, 3.0], [4.0, 9.0, 8.0]])
    p = chi2_contingency(table, correction=False).pvalue
    assert make("criterion", "chi_square").goodness(table[None])[0] == pytest.approx(-np.log(p), rel=1e-10)


def test_costs_of_play_tennis() -> None:
    """Formula figures for costs 1, 5, 2, .5 of Outlook, Temperature, Humidity, Wind."""
    gain, cost = (
        np.array([0.246749819774439, 0.029222565658955, 0.151835501362342, 0.048127030408269]),
        np.array([1, 5, 2, 0.5]),
    )
    tan, nunez = make("criterion", "tan_schlimmer"), make("criterion", "nunez", w=0.5)
    assert tan.worth(gain, cost) == pytest.approx([0.060885473558718, 0.000170791668738, 0.011527009736977, 0.004632422111837])
    assert nunez.worth(gain, cost) == pytest.approx(
        [0.131897350156349, 0.008353606960351, 0.064075513727498, 0.027697009099407]
    )


def test_a_cost_of_nothing_is_refused() -> None:
    table = Table(name="t", features=(Feature("a", "numeric", cost=0.0),), values=np.zeros((1, 1)), rows=np.zeros(1, np.int64))
    assert list(make("criterion", "tan_schlimmer").problems(table))


@pytest.mark.parametrize(("kind", "gain"), [*product(("tan_schlimmer", "nunez"), KINDS)])
def test_costs_are_weighed_once_and_against_a_gain_that_has_a_bound(kind: str, gain: str) -> None:
    reasons = list(make("criterion", kind, gain=make("criterion", gain)).problems())
    assert bool(reasons) == (gain in ("tan_schlimmer", "nunez") or (kind, gain) == ("nunez", "chi_square"))


@pytest.mark.parametrize("gain", sorted(set(KINDS) - {"tan_schlimmer", "nunez", "chi_square"}))
def test_each_gain_is_weighed_against_costs(gain: str) -> None:
    """Of two features that tell as much about the class, the one that costs half as much is tested, whichever it is."""
    values = np.array([[0.0, 0], [0, 0], [1, 1], [1, 1], [0, 1], [1, 0], [0, 0], [1, 1]])
    for cheap, kind in product((0, 1), ("tan_schlimmer", "nunez")):
        features = tuple(Feature(f"f{i}", "nominal", ("a", "b"), cost=1.0 if i == cheap else 2.0) for i in range(2))
        task = Task(
            name="twice", features=features, values=values, rows=np.arange(8), classes=("n", "y"),
            target=(values.sum(axis=1) > 1).astype(np.int32),
        )  # fmt: skip
        learner = Tree(criterion=make("criterion", kind, gain=make("criterion", gain)), splits=Splits(nominal="subset"))
        assert learner.fit(task, positions(task), np.random.default_rng(0)).cut.tree.feature[0] == cheap
