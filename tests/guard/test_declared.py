"""What is declared are functions fixed before any answer: a name, a seed and the features of the rows declare nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import GROUPS, kinds_of, make
from modelsel.core.system.wheel import is_own
from modelsel.core.types import Candidate, Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from modelsel.runner.final_fit import fit
from tests.guard.studies import Rule, Study, numbers

KNN = tuple(Candidate(make("learner", "knn", k=k)) for k in (1, 3, 5, 7))


def shadowed(n: int, seed: int) -> tuple[Task, np.random.Generator]:
    """Test rows with noise labels, and a development row beside each: what is learnt there decides each test row alone.

    A single column says nothing of near copies, so that the certificate is not withheld, and the attack gets its intervals.
    """
    rng = np.random.default_rng(seed)
    values = rng.permutation(n)[:, None].astype(float)
    both = np.vstack([values, values + 1e-3])
    features = (Feature("x", "numeric"),)
    return Task(
        name="noise", features=features, values=both, rows=np.arange(2 * n), classes=("a", "b"),
        target=rng.integers(0, 2, 2 * n).astype(np.int32),
    ), rng  # fmt: skip


def sealed(task: Task, labels: np.ndarray, weights: np.ndarray | None = None, seed: int = 0) -> TestSetDeclaration:
    """The second half with new labels to learn from, the first half sealed."""
    n = len(task) // 2
    learnt = replace(task.take(np.arange(n, 2 * n)), target=labels.astype(np.int32), weights=weights)
    ids = tuple(candidate.id for candidate in KNN)
    test = replace(task.take(np.arange(n)), weights=None if weights is None else np.ones(n))
    return TestSetDeclaration(seal(test), learnt, make("measure", "error"), "study", "runs/1", "spec", {}, ids, seed)


def asked(gate: Gate, sealing: TestSetDeclaration, candidate: Candidate = KNN[0], own: bool = True) -> Any:
    final = fit(candidate, sealing.development, sealing.seed)
    chosen = SelectionSummary(candidate.id, 0.5, len(sealing.development), 0.5, len(KNN))

    def predict(table: Table) -> Outputs:
        return Outputs(final.predict(table)[None], None)

    return gate.look(LookRequest(sealing, chosen, predict, candidate if own else None))


def gate_of(home: Path) -> Gate:
    return Gate(make("guard", "warn", release="full", quota=None), home / "runs", (), Home(home))


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False], ids=["by recipe", "by name"])
def test_new_development_labels_before_each_look_do_not_pass_for_the_declared_model(home: Path, own: bool) -> None:
    """The attack: labels to learn from are what the attacker wants predicted; the vote of those that came out well is shown."""
    n = 400
    task, rng = shadowed(n, 3)
    votes = np.zeros(n)
    gate = gate_of(home)
    for _ in range(40):
        guess = rng.integers(0, 2, n)
        result = asked(gate, sealed(task, guess), own=own)
        votes += (2 * guess - 1) * np.sign(0.5 - result.score)
        assert result.interval[0] <= 0.5 <= result.interval[1]
    last = asked(gate, sealed(task, votes > 0), own=own)
    assert last.score < 0.45  # the attack works
    assert last.look == 41
    assert last.interval[0] <= 0.5 <= last.interval[1]
    assert "G016" not in last.flags


def change(what: str, task: Task, first: TestSetDeclaration) -> TestSetDeclaration:
    """One input of the declared fit made another."""
    n = len(task) // 2
    mine = first.development
    changed: dict[str, Any] = {
        "labels": lambda: replace(mine, target=1 - mine.target),
        "one label": lambda: replace(mine, target=np.where(np.arange(n) == 0, 1 - mine.target, mine.target).astype(np.int32)),
        "weights": lambda: replace(mine, weights=np.where(np.arange(n) < 5, 2.0, 1.0)),
        "order": lambda: replace(mine.take(np.arange(n)[::-1]), rows=mine.rows),
        "groups": lambda: replace(mine, groups=np.arange(n)),
    }
    if what == "seed":
        return replace(first, seed=7)
    return replace(first, development=changed[what]())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("what", ["labels", "one label", "weights", "order", "groups", "seed"])
def test_a_recipe_is_declared_with_every_input(home: Path, what: str) -> None:
    task, rng = shadowed(60, 5)
    first = sealed(task, rng.integers(0, 2, 60))
    assert "G016" in asked(gate_of(home), first).flags
    assert "G016" in asked(gate_of(home), first, KNN[1]).flags  # another member
    other = asked(gate_of(home), change(what, task, first), KNN[2])
    assert other.replay or "G016" not in other.flags


@pytest.mark.slow
def test_another_version_of_the_code_is_another_function(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, rng = shadowed(60, 5)
    first = sealed(task, rng.integers(0, 2, 60))
    one = asked(gate_of(home), first)
    monkeypatch.setattr("modelsel.guard.checks.declared_space.versions", lambda: "another")
    assert "G016" not in asked(gate_of(home), first, KNN[2]).flags
    again = asked(gate_of(home), first)
    assert (again.replay, again.price, again.errors) == (True, 0.0, one.errors)  # equal predictions are no second look


@pytest.mark.slow
def test_what_was_on_record_before_the_first_answer_is_declared_whoever_fitted_it(home: Path) -> None:
    names = tuple(str(Rule(column)) for column in range(3))
    study = Study(numbers(), home, candidates=names)
    study.but(rule=Rule(1)).choose_only()
    assert "G016" not in study.look().flags  # of unknown origin, and not on record
    assert "G016" in study.but(rule=Rule(1)).look().flags
    study.but(rule=Rule(2)).choose_only()  # an answer is known by now
    assert "G016" not in study.but(rule=Rule(2)).look().flags


def test_a_name_has_one_function(home: Path) -> None:
    class Renamed(Rule):
        def __repr__(self) -> str:
            return str(Rule(1))

    study = Study(numbers(), home, candidates=(str(Rule(1)), "x"))
    study.but(rule=Rule(1)).choose_only()
    study.but(rule=Renamed(2)).choose_only()  # the same id again, other predictions, still before the first answer
    assert "G016" not in study.but(rule=Renamed(2)).look().flags
    assert "G016" in study.but(rule=Rule(1)).look().flags


@pytest.mark.slow
def test_another_measure_and_dropped_rows_are_adaptive(home: Path) -> None:
    names = tuple(str(Rule(column)) for column in range(3))
    study = Study(numbers(), home, candidates=names)
    for column in range(3):
        study.but(rule=Rule(column)).choose_only()
    assert "G016" in study.look().flags
    assert "G016" not in study.but(measure=make("measure", "balanced_error"), rule=Rule(1)).look().flags
    study.but(split_seed=1).choose_only()  # these test rows choose something else now
    late, _ = study.but(rule=Rule(2)).run()
    assert late.n < 120
    assert "G016" not in late.flags


@pytest.mark.slow
def test_a_second_space_over_shared_rows_has_no_share_of_its_own(home: Path) -> None:
    names = tuple(str(Rule(column)) for column in range(2))
    study = Study(numbers(), home, candidates=names)
    sealing = study.sealing()
    _, test = study.parts()
    shrunk = replace(sealing, sealed=seal(test.take(np.arange(len(test) - 1))))
    for one in (sealing, shrunk):  # both before any answer
        gate = study.gate()
        gate.seal(one)
        gate.select(one, study.request(one).selected, study.rule)
    assert "G016" not in study.gate().look(study.request(shrunk)).flags
    assert "G016" in study.but(home=home.with_name("alone")).choose_and_look().flags


OWN = [(group, kind) for group in GROUPS for kind in kinds_of(group)
       if group in ("learner", "preparer", "criterion", "pruner", "softener", "distance", "measure")]  # fmt: skip


@pytest.mark.parametrize(("group", "kind"), OWN)
def test_all_our_parts_are_our_own_but_the_doors_to_other_libraries(group: str, kind: str) -> None:
    if (group, kind) == ("measure", "cost_matrix"):
        part = make(group, kind, costs=((0.0, 1.0), (2.0, 0.0)))
    else:
        part = make(group, kind)
    doors = (("learner", "sklearn"), ("learner", "estimator"), ("learner", "object"), ("preparer", "transform"))
    assert is_own(part) == ((group, kind) not in doors)


def test_a_part_from_elsewhere_is_nobodys_we_know() -> None:
    class Elsewhere:
        pass

    assert not is_own(Elsewhere())
    assert not is_own(Rule())
    assert not is_own(Candidate(make("learner", "knn"), (Rule(),)))
