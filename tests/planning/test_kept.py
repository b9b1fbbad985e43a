"""What a probe measured is kept for the machine, and believed only when it is whole and of this machine and these rows."""

import json
from types import SimpleNamespace

import pytest

from modelsel.core.types import Candidate
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Tree
from modelsel.planning import probe
from modelsel.planning.make import make
from modelsel.planning.probe import ProbeCache, estimate
from tests import doubles
from tests.doubles import Double, spread

TASK = doubles.task(120, seed=7)


def never():
    raise AssertionError("it was known")


def written(folder, shape="rows", **figures):
    some = ProbeCache(folder, shape)
    for key, numbers in figures.items():
        some.get(key, lambda numbers=numbers: numbers)
    some.keep()
    return next(folder.rglob("*.json"))


def test_a_figure_is_measured_once_per_machine_and_shape(tmp_path):
    written(tmp_path, a=(0.25, 0.1), b=(1e-9,))
    again = ProbeCache(tmp_path, "rows")
    assert again.get("a", never) == (0.25, 0.1)
    assert again.get("b", never) == (1e-9,)
    with pytest.raises(AssertionError):
        again.get("c", never)
    with pytest.raises(AssertionError):
        ProbeCache(tmp_path, "other rows").get("a", never)


@pytest.mark.parametrize("cut", range(0, 260, 7))
def test_a_torn_file_is_as_good_as_none(tmp_path, cut):
    path = written(tmp_path, a=(0.25,))
    whole = path.read_text()
    path.write_text(whole[: min(cut, len(whole) - 1)])
    assert ProbeCache(tmp_path, "rows").get("a", lambda: (9.0,)) == (9.0,)


@pytest.mark.parametrize(
    "change",
    [
        {"machine": "another"}, {"shape": "others"}, {"figures": {"a": [0.5]}}, {"figures": {"a": ["x"]}}, {"figures": []},
        {"sum": "0"},
    ],
)  # fmt: skip
def test_an_altered_or_foreign_file_is_as_good_as_none(tmp_path, change):
    path = written(tmp_path, a=(0.25,))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert ProbeCache(tmp_path, "rows").get("a", lambda: (9.0,)) == (9.0,)


@pytest.mark.parametrize("figures", [{"a": [-1.0]}, {"a": [1e999]}, {"a": 3}, {"a": [None]}, "a"])
def test_what_is_no_time_is_not_believed_even_when_it_is_whole(tmp_path, figures):
    path = written(tmp_path, a=(0.25,))
    body = {**json.loads(path.read_text()), "figures": figures}
    del body["sum"]
    try:
        body["sum"] = probe.digest(body)
    except ValueError:  # no sum can be taken of infinity
        body["sum"] = ""
    path.write_text(json.dumps(body))
    assert ProbeCache(tmp_path, "rows").get("a", lambda: (9.0,)) == (9.0,)


def test_another_machine_does_not_read_these(tmp_path, monkeypatch):
    written(tmp_path, a=(0.25,))
    monkeypatch.setattr(probe, "machine", lambda: "another")
    with pytest.raises(AssertionError):
        ProbeCache(tmp_path, "rows").get("a", never)


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("in the way")
    some = ProbeCache(tmp_path / "file", "rows")
    assert some.get("a", lambda: (1.0,)) == (1.0,)
    some.keep()


def test_a_plan_made_again_fits_nothing_and_says_the_same(tmp_path):
    log = tmp_path / "fits.log"
    some = (*spread(7, log=str(log)), *spread(3, group=1, log=str(log)), Candidate(Majority()))
    plan = make(some, TASK, doubles.folds(TASK))
    said = [estimate(plan, TASK, doubles.folds(TASK), False, 2, 0.02, tmp_path / "cache") for _ in range(2)]
    fits = len(log.read_text())
    said.append(estimate(plan, TASK, doubles.folds(TASK), False, 2, 0.02, tmp_path / "cache"))
    assert len(log.read_text()) == fits > 0
    assert said[0] == said[1] == said[2]


def test_what_a_larger_plan_shares_with_a_smaller_one_is_not_measured_again(tmp_path):
    log = tmp_path / "fits.log"

    def fits(*some):
        before = len(log.read_text().splitlines()) if log.exists() else 0
        estimate(make(some, TASK, doubles.folds(TASK)), TASK, doubles.folds(TASK), False, 1, 1e-6, tmp_path / "cache")
        return len(log.read_text().splitlines()) - before

    first = Candidate(Double(log=str(log)))
    assert fits(first) > 0
    assert fits(first, Candidate(Tree())) == 0


@pytest.mark.parametrize(("apart", "seconds"), [(lambda: True, 2.0), (lambda: False, 0.0)])
def test_the_seconds_of_a_search_are_those_between_its_beginning_and_its_end(monkeypatch, apart, seconds):
    clock = iter((3.0, 5.0))
    monkeypatch.setattr(probe.time, "thread_time", lambda: next(clock))
    path = SimpleNamespace(model=lambda learner: learner)
    assert probe._search_seconds(path, SimpleNamespace(apart=apart)) == seconds
