"""search=tpe: every trial is on record in the order asked, whatever the workers; it goes on exactly, and BBC is withheld."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config import settings
from modelsel.config.options import Combined, Drawn, Either, Interval, ListedValues
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import RunFolder
from modelsel.runner import journal
from tests.extras import needs

optuna = needs("optuna")

TREE = {"learner": "cart", "pruner": "unpruned",
        "sweep": {"min_leaf": "integers(1, 30)", "max_depth": "integers(1, 12)", "criterion": ["gini", "entropy"]}}  # fmt: skip
SPACE: dict[str, Any] = {"cart": TREE, "knn": {"learner": "knn", "sweep": {"k": "integers(1, 60)"}}, "bayes": "naive_bayes"}
SEARCH = {"kind": "tpe", "trials": 20, "batch": 4}
QUICK: dict[str, Any] = {"tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3},
                         "explanations": {"weak_slices": False}}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows: int = 150, seed: int = 0, signal: float = 1.5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 4))
    y = signal * numbers[:, 0] + signal * numbers[:, 1] * numbers[:, 2] + rng.normal(size=rows) > 0
    return pd.DataFrame(numbers, columns=list("abcd")).assign(y=np.where(y, "yes", "no"))


def study(**more: Any) -> RunFolder:
    given = {**QUICK, "space": SPACE, "search": SEARCH, "final_test": False, **more}
    modelsel.run(given.pop("data", table()), target="y", **given)
    return RunFolder.open("latest")


def told(folder: RunFolder) -> dict[str, Any]:
    """What the record says of search, candidates and winner, but for times and places."""
    outcome = folder.outcome()
    search, winner = outcome.extra["search"], {**outcome.winner}
    return {"search": search, "winner": winner, "candidates": (folder.path / "candidates.csv").read_text("utf-8"),
            "findings": outcome.findings}  # fmt: skip


@pytest.mark.slow
def test_every_trial_is_a_candidate_on_the_record_with_its_order_and_seed() -> None:
    folder = study()
    search, rows = folder.outcome().extra["search"], {row.id: row for row in folder.candidates()}
    trials = search["trials"]
    for entry in ("cart", "knn"):
        own = [one for one in trials if one["entry"] == entry]
        assert [one["trial"] for one in own] == list(range(1, 21))
        assert len({one["seed"] for one in own}) == 20
        for one in own:
            assert rows[one["id"]].mean == one["score"]
        first = {}
        for one in own:
            first.setdefault(one["id"], one["trial"])
        assert {name: rows[name].trial for name in first} == first
    assert [one["entry"] for one in trials[:8]] == ["cart"] * 4 + ["knn"] * 4, "a batch of each in turn"
    assert {row.id for row in rows.values() if row.entry == "bayes"}.isdisjoint(one["id"] for one in trials)
    assert search["most"] == 40
    assert folder.outcome().candidates["declared"] == 41


def test_bbc_is_withheld_with_the_reason() -> None:
    outcome = study().outcome()
    assert outcome.winner["corrected"] is None
    assert outcome.winner["every_best"] is None
    (finding,) = [one for one in outcome.findings if one["code"] == "NOT_CORRECTED"]
    assert "repeats the choice and not the search" in finding["message"]
    assert "corrected=nested" in finding["do"]


@pytest.mark.slow
def test_nested_repeats_the_whole_search_in_each_outer_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel.study.search import AdaptiveSearch

    made, run = [], AdaptiveSearch.run
    monkeypatch.setattr(AdaptiveSearch, "run", lambda self, *given: made.append(run(self, *given)) or made[-1])
    outcome = study(search={**SEARCH, "trials": 16}, corrected="nested", space={"cart": TREE}).outcome()
    assert outcome.winner["corrected"]["method"] == "nested"
    assert outcome.winner["corrected"]["bbc"] is None
    assert len(outcome.extra["nested"]["scores"]) == 3
    asked = [tuple(one.candidate for one in searched.trials) for searched in made]
    assert [len(one) for one in asked] == [16] * 4, "once on all rows, once in each outer fold"
    assert {one[:8] for one in asked} == {asked[0][:8]}, "the first ten are drawn, by the same seeds"
    assert len({one[12:] for one in asked}) == 4, "the last are asked for by what the fold's own rows said"


def test_the_trials_are_those_of_optuna_asked_and_told_by_hand() -> None:
    folder = study(space={"knn": SPACE["knn"]})
    trials = folder.outcome().extra["search"]["trials"]
    by_hand = optuna.create_study(direction="minimize")
    rows = {row.id: row for row in folder.candidates()}
    for start in range(0, 20, 4):
        batch = trials[start : start + 4]
        asked = []
        for one in batch:
            by_hand.sampler = optuna.samplers.TPESampler(seed=one["seed"], constant_liar=True)
            asked.append(by_hand.ask())
            assert asked[-1].suggest_int(".k", 1, 60) == int(rows[one["id"]].parameters["k"])
        for trial, one in zip(asked, batch, strict=True):
            by_hand.tell(trial, rows[one["id"]].mean)


@pytest.mark.slow
def test_the_same_seed_asks_for_the_same_trials_whatever_the_workers() -> None:
    plain = told(study())
    for pool in ({"kind": "threads", "n_jobs": 3}, {"kind": "processes", "n_jobs": 2}):
        for old in Path("runs").glob("*/*/journal"):
            for record in old.iterdir():
                record.unlink()
        assert told(study(pool=pool)) == plain
    other = told(study(search={**SEARCH, "seed": 7}))
    assert [one["id"] for one in other["search"]["trials"]] != [one["id"] for one in plain["search"]["trials"]]


@pytest.mark.slow
def test_another_entry_changes_nobodys_trials_and_fewer_trials_are_the_first_ones() -> None:
    both = study().outcome().extra["search"]["trials"]
    knn = [one for one in both if one["entry"] == "knn"]
    assert study(space={"knn": SPACE["knn"]}).outcome().extra["search"]["trials"] == knn
    fewer = study(search={**SEARCH, "trials": 12}).outcome().extra["search"]["trials"]
    assert [one for one in fewer if one["entry"] == "knn"] == knn[:12]


@pytest.mark.slow
@pytest.mark.parametrize("records", [3, 9, 18, 23])
def test_an_interrupted_search_goes_on_exactly(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after so many cells: within a batch and between two; what was computed is not computed again."""
    append, written = journal.Segment.append, []

    def stopping(self: Any, *given: Any, **named: Any) -> Any:
        if len(written) >= records:
            raise KeyboardInterrupt
        done = append(self, *given, **named)
        written.append(1)
        return done

    monkeypatch.setattr(journal.Segment, "append", stopping)
    with pytest.raises(KeyboardInterrupt):
        study()
    monkeypatch.setattr(journal.Segment, "append", append)
    resumed = told(study())
    for old in Path("runs").glob("*/*/journal"):
        for record in old.iterdir():
            record.unlink()
    assert told(study()) == resumed


CODE = """
import sys, pandas as pd
from tests.flow.test_tpe import SPACE, SEARCH, QUICK, table
import modelsel
modelsel.run(table(400), target="y", space=SPACE, search={**SEARCH, "trials": 40}, final_test=False, **QUICK)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 0.9])
def test_a_killed_search_goes_on_exactly(folder: Path, seconds: float) -> None:
    repository = Path(__file__).resolve().parents[2]
    where = {**os.environ, "PYTHONPATH": str(repository)}
    killed = subprocess.Popen([sys.executable, "-c", CODE], cwd=folder, env=where)
    deadline = time.monotonic() + 300
    while not list(folder.glob("runs/*/*/journal/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(seconds)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    subprocess.run([sys.executable, "-c", CODE], cwd=folder, env=where, check=True)
    resumed = told(RunFolder.open("latest"))
    for old in folder.glob("runs/*/*/journal"):
        for record in old.iterdir():
            record.unlink()
    subprocess.run([sys.executable, "-c", CODE], cwd=folder, env=where, check=True)
    assert told(RunFolder.open("latest")) == resumed


@pytest.mark.slow
def test_it_finds_better_ones_than_it_began_with() -> None:
    """A sure sign that the scores are told: with one good value of a thousand, later trials crowd around it."""
    folder = study(
        data=table(300, signal=4.0), space={"cart": {**TREE, "sweep": {"min_leaf": "integers(1, 120)"}}},
        search={"kind": "tpe", "trials": 48, "batch": 4},
    )  # fmt: skip
    trials = folder.outcome().extra["search"]["trials"]
    scores = [one["score"] for one in trials]
    assert np.mean(scores[24:]) < np.mean(scores[:10])


@pytest.mark.slow
def test_a_failing_trial_is_told_as_failed_and_the_search_goes_on() -> None:
    """More neighbours than rows cannot be asked for: those candidates fail on every fold."""
    rows = table(36)
    space = {"svm": {"learner": {"kind": "estimator", "estimator": "sklearn.neighbors.KNeighborsClassifier"},
                     "sweep": {"params.n_neighbors": "integers(1, 60)"}}}  # fmt: skip
    folder = study(data=rows, space=space, split="none")
    trials = folder.outcome().extra["search"]["trials"]
    failed = [one for one in trials if one["score"] is None]
    assert failed
    status = {row.id: row.status for row in folder.candidates()}
    assert {status[one["id"]] for one in failed} == {"error"}
    assert {status[one["id"]] for one in trials if one["score"] is not None} == {"ok"}


def test_seconds_end_the_search_between_two_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel.study import search

    moments = iter(range(0, 1000, 4))
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: float(next(moments))))
    folder = study(search={**SEARCH, "seconds": 9}, space={"knn": SPACE["knn"]})
    asked = folder.outcome().extra["search"]["trials"]
    assert len(asked) == 12
    assert len(folder.candidates()) == len({one["id"] for one in asked})


@pytest.mark.slow
def test_the_space_is_priced_by_the_most_that_may_be_asked_for() -> None:
    import sqlite3

    outcome = study(final_test=True).outcome()
    assert "G016" in outcome.test.flags
    (ledger,) = (path for path in Path("home").rglob("*.db") if "ledger" in path.name)
    with sqlite3.connect(ledger) as read:
        stated = {kind: json.loads(body) for kind, body in read.execute("select kind, body from entries order by seq")}
    assert stated["seal"]["space"] == stated["intent"]["space"] == 41
    assert stated["seal"]["searched"]


def test_plan_says_what_is_fixed_and_what_is_asked_for_later() -> None:
    found = modelsel.plan(table(), target="y", space=SPACE, search=SEARCH, **QUICK)
    text = " ".join(str(found).split())
    assert "tpe in cart (20), knn (20); fixed: the space, 40 trials at most, 4 of an entry at a time, folds, seeds" in text
    assert "asked for later, by scores of what came before: the values" in text
    assert "not corrected for having been chosen: corrected=nested repeats the search" in text


def test_an_entry_with_no_more_combinations_than_trials_is_listed() -> None:
    folder = study(space={"knn": {"learner": "knn", "sweep": {"k": [1, 3, 5]}}})
    assert "search" not in folder.outcome().extra
    assert folder.outcome().winner["corrected"]["method"] == "bbc"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"race": "exact"}, "MSEL-226"),
        ({"deadline": 5}, "MSEL-214: a deadline would cut trials short that the search goes on from"),
        ({"search": {**SEARCH, "seconds": 5}, "corrected": "nested"}, "MSEL-214: selections inside the outer folds"),
        ({"space": {"cart": {"learner": "cart", "pruner": "cost_complexity",
                             "sweep": {"pruner.alpha": "path", "min_leaf": "integers(1, 50)"}}}}, "name the strengths"),
    ],
)  # fmt: skip
def test_what_cannot_stand_beside_it_is_said_before_any_fit(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        study(**more)
    assert said in str(error.value)
    assert not Path("runs").exists()


def test_without_optuna_the_install_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings.find_spec
    monkeypatch.setattr(settings, "find_spec", lambda name: None if name == "optuna" else found(name))
    with pytest.raises(ConfigurationError, match=r"MSEL-215: search=tpe needs a package .*pip install 'modelsel\[optuna\]'"):
        study()


def test_selection_cv_says_that_a_study_is_needed() -> None:
    frame = table()
    with pytest.raises(ConfigurationError, match="MSEL-208: SelectionCV lists its candidates before the first fit"):
        modelsel.SelectionCV(SPACE, search=SEARCH).fit(frame[list("abcd")], frame["y"])


@pytest.mark.slow
def test_distributions_of_scipy_are_asked_for_by_their_quantiles() -> None:
    from scipy.stats import loguniform, randint
    from sklearn.tree import DecisionTreeClassifier

    space = {
        "tree": (
            DecisionTreeClassifier(random_state=0),
            {"min_samples_leaf": randint(1, 40), "ccp_alpha": loguniform(1e-4, 0.1)},
        )
    }
    folder = study(space=space, search={**SEARCH, "trials": 8})
    values = [float(row.parameters["params.ccp_alpha"]) for row in folder.candidates()]
    assert all(1e-4 <= value <= 0.1 for value in values)
    assert len(set(values)) == len(values)


class LastOf:
    """An asker that takes the last of everything."""

    def place(self, name: str, count: int, ordered: bool) -> int:
        return count - 1

    def number(self, name: str, low: float, high: float, logarithmic: bool, whole: bool) -> float:
        return high


def test_corners_hold_every_value_and_every_end() -> None:
    options = Combined(
        dict,
        {"fixed": 1},
        {
            "a": ListedValues((1, 2)),
            "b": Interval(0.5, 2.5, whole=True),
            "c": Either((ListedValues(("x",)), ListedValues(("y", "z")))),
        },
    )
    assert list(options.corners()) == [
        {"fixed": 1, "a": 1, "b": 1, "c": "x"}, {"fixed": 1, "a": 2, "b": 1, "c": "x"}, {"fixed": 1, "a": 1, "b": 2, "c": "x"},
        {"fixed": 1, "a": 1, "b": 1, "c": "y"}, {"fixed": 1, "a": 1, "b": 1, "c": "z"},
    ]  # fmt: skip
    assert options.suggest(LastOf(), "") == {"fixed": 1, "a": 2, "b": 2, "c": "z"}
    assert not hasattr(Drawn("x"), "ppf")


@pytest.mark.slow
def test_on_pure_noise_the_best_trial_flatters_and_nested_does_not() -> None:
    """Eighty rows, labels by coin: what TPE's winner shows is too good, what the repeated search shows is one half."""
    shown, nested = [], []
    for seed in range(12):
        noise = table(80, seed=seed)
        noise["y"] = np.where(np.random.default_rng(seed).permutation(80) % 2, "yes", "no")
        folder = study(data=noise, corrected="nested", outer={"kind": "stratified_kfold", "folds": 5}, split="none",
                       search={"kind": "tpe", "trials": 24, "batch": 8}, space={"cart": TREE})  # fmt: skip
        winner = folder.outcome().winner
        shown.append(winner["cv"]["mean"])
        nested.append(winner["corrected"]["mean"])
        assert winner["corrected"]["bbc"] is None
    assert np.mean(shown) < np.mean(nested) - 0.02
    assert abs(np.mean(nested) - 0.5) < 3 * 0.08 / np.sqrt(len(nested)), "a study's nested error has a deviation of some .08"
