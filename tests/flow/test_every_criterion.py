"""Every file of conf/criterion goes through a whole study, and so does one that a plug-in brings."""

from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

from modelsel.config.schema import kinds
from modelsel.core.spec import make

TEN_LINES = '''
from dataclasses import dataclass
import numpy as np
from modelsel.criterion.base import BaseCriterion, decrease, shares

@dataclass(frozen=True)
class RootGini(BaseCriterion):
    """Decrease of the square roots of p (1 - p)."""

    def goodness(self, tables):
        return decrease(lambda weights: np.sqrt(shares(weights) * (1 - shares(weights))).sum(axis=-1), tables)
'''


@pytest.mark.slow
def test_a_study_chooses_among_all_criteria(modelsel) -> None:
    own = [kind for kind in kinds("criterion") if "classes" in make("criterion", kind).reads]
    every = ", ".join(own)
    sweep = f"learner.sweep={{criterion: 'choice({every})'}}"
    done = modelsel("run", "dataset=iris", "learner=cart", sweep, "final_test=false", "scheme.folds=2")
    assert done.code == 0, done.err
    assert done.outcome.candidates["ok"] == len(own) > 10


def test_twoing_with_multiway_splits_is_refused_before_any_fit(modelsel) -> None:
    done = modelsel("run", "dataset=play_tennis", "learner=tree", "learner.criterion=twoing", "final_test=false")
    assert done.code == 2
    assert "two branches; use splits.nominal=equality or subset" in done.err


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed distribution: a module, and the entry point that names it."""
    place = tmp_path / "installed"
    facts = place / "root_gini-0.1.dist-info"
    facts.mkdir(parents=True)
    (place / "root_gini_criterion.py").write_text(TEN_LINES)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: root-gini\nVersion: 0.1\n")
    (facts / "entry_points.txt").write_text("[modelsel.criterion]\nroot_gini = root_gini_criterion:RootGini\n")
    monkeypatch.syspath_prepend(str(place))
    get_reusable_executor().shutdown()  # workers of an earlier test would not look there
    return "root_gini"


@pytest.mark.slow
def test_ten_lines_of_a_plug_in_are_used_where_they_are_allowed_by_name(modelsel, plug_in: str) -> None:
    asked = ("run", "dataset=iris", "learner=cart", f"learner.criterion={plug_in}", "final_test=false", "scheme.folds=2")
    refused = modelsel(*asked)
    assert refused.code == 2
    assert f"plugins=[{plug_in}]" in refused.err
    done = modelsel(*asked, f"plugins=[{plug_in}]")
    assert done.code == 0, done.err
    assert done.outcome.winner["cv"]["mean"] < 0.2
