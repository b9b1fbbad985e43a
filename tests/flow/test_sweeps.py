"""A sweep opens each distinct test set once, after all its jobs have chosen, or commits to all of them first."""

from typing import Any

import pytest

from modelsel.core.spec import make
from modelsel.guard.gate import Gate
from modelsel.record.folder import ROOT, RunFolder

FEW = ("dataset=wine", "space=[naive_bayes,majority]", "scheme.folds=3")


def ledger(kind: str) -> list[dict[str, Any]]:
    """The entries of one kind, in order."""
    entries = Gate(make("guard", "warn"), ROOT).session.ledger.entries()
    return [{**entry.facts, "seq": entry.seq} for entry in entries if entry.kind == kind]


@pytest.mark.slow
def test_a_sweep_over_seeds_opens_its_one_test_set_once(modelsel: Any) -> None:
    done = modelsel("run", "-m", "split.seed=0", "seed=1,2,3", *FEW)
    assert done.code == 0, done.err
    (intent,), chosen = ledger("intent"), ledger("selection")
    assert len({facts["spec_id"] for facts in chosen}) == 3
    assert intent["seq"] > max(facts["seq"] for facts in chosen if facts["folder"] != intent["folder"])
    assert intent["cv_mean"] == min(facts["cv_mean"] for facts in chosen)


@pytest.mark.slow
def test_a_sweep_over_splits_of_one_table_opens_no_test_set_and_says_so(modelsel: Any) -> None:
    done = modelsel("run", "-m", "split.seed=0,1,2", "seed=1,2", *FEW)
    assert done.code == 0, done.err
    assert ledger("intent") == []
    assert len({facts["testset"] for facts in ledger("selection")}) == 3
    assert "the jobs sealed 3 different sets of its rows" in done.err
    assert "no test set was opened" in done.err
    named = done.err.partition("`modelsel test ")[2].partition("`")[0]
    assert modelsel("test", named).code == 0
    assert RunFolder.open(named).outcome().test is not None


@pytest.mark.slow
def test_the_test_sets_of_two_tables_are_opened_once_each(modelsel: Any) -> None:
    done = modelsel("run", "-m", "dataset=wine,iris", "seed=1,2", *FEW[1:])
    assert done.code == 0, done.err
    looks = ledger("intent")
    assert len(looks) == len({facts["testset"] for facts in looks}) == 2


@pytest.mark.slow
def test_with_sweep_test_all_jobs_are_committed_before_the_first_answer_and_each_counts(modelsel: Any) -> None:
    done = modelsel("run", "-m", "seed=1,2,3", "guard.sweep_test=true", "guard.declared_space=null", "scheme.folds=3",
                    "dataset=wine", "space=[naive_bayes],[majority]")  # fmt: skip
    assert done.code == 0, done.err
    commits, looks = ledger("commit"), ledger("intent")
    assert [facts["look"] for facts in commits] == [1, 2, 3, 4, 5, 6]
    assert max(facts["seq"] for facts in commits) < min(facts["seq"] for facts in looks)
    assert {facts["spent"] for facts in looks} == {0.0}
