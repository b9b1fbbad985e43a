"""`optimal=bounds`: the trees of a study beside the best of their size, from the command line to the report."""

import json
from pathlib import Path

import pytest

from modelsel.kernels.compiler import load
from modelsel.record.folder import RunFolder

pytestmark = pytest.mark.skipif(load("optimal") is None, reason="the kernel is not compiled here")
SPACE = "space={cart: {learner: cart}, shallow: {learner: cart, sweep: {max_depth: [1, 2]}}, bayes: {learner: naive_bayes}}"
NUMBERS = ("dataset=csv", "dataset.path=numbers.csv", "dataset.target=y", "task=regression")
WORDS = ("dataset=wine", SPACE, "scheme.folds=3", "tracking=off")


def lines() -> list:
    return json.loads(Path("runs/latest/explanation.json").read_text())["optimal"]


@pytest.mark.slow
def test_the_best_tree_of_each_entry_stands_beside_the_best_of_its_size(modelsel):
    planned = modelsel("plan", *WORDS, "optimal=bounds", "optimal.depth=2")
    told = "optimal at most 57 searches of trees of depth 2 beside those of cart, shallow: 100,000 million steps, 50 s"
    assert told in " ".join(planned.out.split())
    done = modelsel("run", "-v", *WORDS, "optimal=bounds", "optimal.depth=2")
    assert done.code == 0, done.err
    found = {one["entry"]: one for one in lines()}
    assert set(found) == {"cart", "shallow"}
    assert found["cart"]["whole"]["depth"] > 2
    for one in found.values():
        assert one["proven"]
        assert one["training"]["bound"] == one["training"]["optimal"] <= one["training"]["grown"]
        assert one["out_of_fold"]["ended"] == 3
    table = {row.id: row for row in RunFolder.open("latest").candidates()}
    shallow = found["shallow"]
    assert shallow["out_of_fold"]["grown"] == pytest.approx(table[shallow["candidate"]].mean, abs=0.01)
    page = RunFolder.open("latest").report.read_text()
    assert "Could a tree of this size do better?" in page
    assert "of depth 2: " in done.out
    assert "out of fold" in done.out
    first = lines()
    again = modelsel("run", *WORDS, "optimal=bounds", "optimal.depth=2", "pool=sequential")
    assert again.code == 0, again.err
    assert lines() == first


@pytest.mark.slow
def test_it_is_off_by_itself_and_changes_no_choice(modelsel):
    done = modelsel("run", *WORDS)
    assert "optimal" not in json.loads(Path("runs/latest/explanation.json").read_text() or "{}")
    assert "Could a tree of this size" not in RunFolder.open("latest").report.read_text()
    with_bounds = modelsel("run", *WORDS, "optimal=bounds", "optimal.depth=1", "optimal.budget=2")
    assert with_bounds.outcome.winner["id"] == done.outcome.winner["id"]
    assert "replay" in with_bounds.out  # the same study: an answer that was given is given again


def test_what_has_no_best_tree_is_refused_before_a_fit(modelsel):
    none = modelsel("plan", "dataset=wine", "learner=knn", "optimal=bounds")
    assert (none.code, "the space has none: add cart, or leave it out" in none.err) == (2, True)
    Path("numbers.csv").write_text("x,y\n" + "".join(f"{i % 9},{(i * 37) % 101 + 0.5}\n" for i in range(60)))
    numbers = modelsel("plan", *NUMBERS, "learner=cart", "optimal=bounds")
    assert (numbers.code, "errors of classes, and the target is a number" in numbers.err) == (2, True)
    deep = modelsel("plan", "dataset=wine", "learner=cart", "optimal=bounds", "optimal.depth=5")
    assert (deep.code, "optimal.depth" in deep.err) == (2, True)


@pytest.mark.slow
def test_alternatives_of_a_run_are_told_from_its_development_rows(modelsel):
    assert modelsel("run", "dataset=wine", "learner=knn", "scheme.folds=3", "tracking=off").code == 0
    told = modelsel("explain", "latest", "--alternatives", "--within", "0.02", "--min-leaf", "3")
    assert told.code == 0, told.err
    assert f"trees of two levels on {RunFolder.open('latest').outcome().task['development_rows']} development rows" in told.out
    assert "every good tree tests" in told.out
    assert "good trees whose columns differ most" in told.out
    wrong = modelsel("explain", "latest", "--alternatives", "--within", "2")
    assert (wrong.code, "MSEL-292: 2 is not a share of rows, --within" in wrong.err) == (2, True)
    Path("numbers.csv").write_text("x,y\n" + "".join(f"{i % 9},{(i * 37) % 101 + 0.5}\n" for i in range(60)))
    assert modelsel("run", *NUMBERS, "learner=cart", "scheme=kfold", "scheme.folds=3", "tracking=off").code == 0
    numbers = modelsel("explain", "latest", "--alternatives")
    assert (numbers.code, "MSEL-293: good trees are counted by errors of classes" in numbers.err) == (2, True)
