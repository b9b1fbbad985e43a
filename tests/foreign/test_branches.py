"""What transformers of branches are handed, and what is kept of what they make."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from modelsel.core.types import Feature
from modelsel.foreign import branches
from modelsel.foreign.branches import UNDECLARED, BranchSpec, Step, _fit_step, _is_sparse, draws, texts
from modelsel.foreign.parameters import Params


def test_codes_become_texts_a_gap_the_absent_one_and_a_later_level_none_that_was_declared() -> None:
    town = Feature("town", "nominal", ("north", "south"))
    assert texts(town, np.array([1.0, np.nan, 0.0, 2.0]), "?").tolist() == ["south", "?", "north", UNDECLARED]


@pytest.mark.parametrize(
    ("name", "params", "drawn"),
    [("PCA", {}, True), ("PCA", {"random_state": 3}, False), ("StandardScaler", {}, False)],
)
def test_a_step_draws_where_it_takes_a_seed_that_nobody_has_said(name: str, params: dict[str, int], drawn: bool) -> None:
    said = (BranchSpec("numeric", (Step(f"sklearn.{MODULES[name]}.{name}", Params(params)),)),)
    assert draws(said) is drawn


MODULES = {"PCA": "decomposition", "StandardScaler": "preprocessing"}


def test_a_step_that_writes_into_rows_that_nobody_may_write_into_gets_a_copy() -> None:
    given = np.arange(8.0).reshape(4, 2)
    given.flags.writeable = False
    _, made = _fit_step(Step("sklearn.preprocessing.StandardScaler", Params({"copy": False})), 0, given, np.zeros(4), ())
    assert np.asarray(made).mean() == pytest.approx(0)
    assert given.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    with pytest.raises(ValueError, match="NaN"):
        _fit_step(Step("sklearn.decomposition.PCA", Params({})), 0, np.full((4, 2), np.nan), np.zeros(4), ())


def test_what_stands_beside_each_other_is_sparse_where_less_than_three_in_ten_are_there() -> None:
    few, many = csr_array(np.eye(10)), csr_array(np.ones((10, 10)))
    assert _is_sparse([few])
    assert not _is_sparse([many])
    assert _is_sparse([few, np.ones((10, 2))])  # 30 of 120
    assert not _is_sparse([few, np.ones((10, 3))])  # 40 of 130
    assert not _is_sparse([np.eye(10)])


def test_what_nobody_may_write_into_is_copied_for_a_step_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def writes(step: Step, seed: int, given: np.ndarray, target: np.ndarray, plugins: tuple[str, ...]) -> tuple[object, object]:
        given[0] = 1.0
        return None, given

    monkeypatch.setattr(branches, "_fit_transform", writes)
    given = np.zeros(3)
    given.flags.writeable = False
    assert np.asarray(_fit_step(Step("s", Params({})), 0, given, given, ())[1]).tolist() == [1.0, 0.0, 0.0]
    assert given.tolist() == [0.0, 0.0, 0.0]
