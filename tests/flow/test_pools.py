"""Where the work is done, as typed: threads, but processes where a limit or a learner asks for them."""

import sys

import pytest

from modelsel.runner import run as run_module

TINY = ("dataset=play_tennis", "split=none", "scheme.folds=3")


@pytest.fixture
def used(monkeypatch):
    """Kinds of pools that were opened."""
    kinds, opened = [], run_module.open_executor

    def noted(pool, *rest):
        kinds.append(pool.kind)
        return opened(pool, *rest)

    monkeypatch.setattr(run_module, "open_executor", noted)
    return kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["learner=majority"], "threads"),
        (["learner=majority", "limit.seconds=20"], "processes"),
        (["learner=majority", "limit.memory=2GB"], "processes"),
        (["learner=sklearn", "learner.estimator=DummyClassifier"], "processes"),
        (["learner=sklearn", "learner.estimator=DummyClassifier", "pool=threads"], "threads"),
    ],
)
def test_limits_and_learners_that_hold_the_interpreter_lock_select_processes(modelsel, used, words, kind):
    done = modelsel("run", *TINY, *words)
    assert done.code == 0, done.err
    assert used[0] == kind
    assert set(used[1:]) <= {"sequential", kind}, "the floor is computed in this very thread"
    assert done.outcome.candidates["ok"] == 1


@pytest.mark.parametrize("pool", ["threads", "sequential"])
@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_limit_that_the_pool_cannot_hold_is_refused_before_any_fit(modelsel, used, pool, command, tmp_path):
    done = modelsel(command, *TINY, "learner=majority", f"pool={pool}", "limit.seconds=5", "rule=bst")
    assert done.code == 2
    assert f"MSEL-208: pool={pool} cannot hold a limit: a thread cannot be stopped, limit; use pool=processes" in done.err
    assert "did you mean 'best'" in done.err  # with all other problems
    assert not used
    assert not (tmp_path / "work" / "runs").exists()


@pytest.mark.parametrize(("pool", "fix"), [("ray", "install ray"), ("spark", "install joblibspark and pyspark")])
def test_a_pool_that_is_not_installed_is_refused_by_name(modelsel, monkeypatch, pool, fix, tmp_path):
    for package in ("ray", "joblibspark"):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"{package}.util.joblib", None)
    done = modelsel("run", *TINY, "learner=majority", f"pool={pool}")
    assert done.code == 2
    assert f"MSEL-215: pool={pool} needs a package that is not installed, pool; {fix}" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "work" / "runs").exists()


def test_a_limit_that_a_cluster_cannot_hold_is_refused_too(modelsel, tmp_path):
    done = modelsel("run", *TINY, "learner=majority", "pool=dask", "limit.seconds=5")
    assert done.code == 2
    assert "MSEL-208: pool=dask cannot hold a limit: its workers are not ours to stop, limit; use pool=processes" in done.err
    assert not (tmp_path / "work" / "runs").exists()
