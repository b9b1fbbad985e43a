"""Peeks through the command line: a new seed, a shuffled file, a renamed column and a new process are all recognised."""

import csv
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from modelsel.api.final_test import reseal
from modelsel.record.folder import RunFolder

FEW = ("space=[naive_bayes]", "scheme.folds=3")


def study(path: Path | str, target: str, *more: str) -> tuple[str, ...]:
    return (
        "run",
        "dataset=csv",
        f"dataset.path={path}",
        f"dataset.target={target}",
        "space=[naive_bayes]",
        "scheme.folds=3",
        *more,
    )


def written(path: Path, rows: int = 300) -> None:
    """A table of three columns and a noisy label."""
    chance = random.Random(1)
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["a", "b", "c", "y"])
        for _ in range(rows):
            a, b, c = chance.gauss(0, 1), chance.gauss(0, 1), chance.choice("uvw")
            out.writerow([f"{a:.4f}", f"{b:.4f}", c, "yes" if a + chance.gauss(0, 1) > 0 else "no"])


def sealed_rows(outcome: Any) -> Counter[tuple[str, ...]]:
    """The rows that a study sealed, as texts, with their repetitions, from the file itself."""
    sealed = reseal(RunFolder.open(outcome.folder))[1].sealed
    shown = [
        [str(value) if feature.kind == "numeric" or math.isnan(value) else feature.levels[int(value)] for value in column]
        for feature, column in zip(sealed.features, sealed.values.T)
    ]
    return Counter(zip(*shown))


def disguised(source: Path, target: str, to: Path) -> None:
    """The same rows in another order, a column renamed."""
    with source.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    random.Random(7).shuffle(rows)
    header = [f"{name}_v2" if i == 1 and name != target else name for i, name in enumerate(header)]
    with to.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [pytest.param("credit_g", "class", marks=pytest.mark.slow), ("tic_tac_toe", "Class"), ("vote", "Class")]
)
def test_a_second_split_of_the_same_rows_is_flagged_with_the_true_share(
    modelsel: Any, table: Any, name: str, target: str
) -> None:
    source = table(name)
    first = modelsel(*study(source, target)).outcome
    disguised(source, target, Path("again.csv"))
    words = study("again.csv", target, "split.seed=5", "tracking=off")
    if name == "vote":  # and in another process
        done = subprocess.run([sys.executable, "-m", "modelsel", *words], capture_output=True, text=True, env={**os.environ})
        assert done.returncode == 0, done.stderr
    else:
        assert modelsel(*words).code == 0
    report = json.loads(modelsel("audit", "--json").out)
    assert all(items["train-test separation maintained"] is False for items in list(report["reforms"].values())[1:])
    assert {"G020", "G021"} <= {flag["code"] for flag in report["flags"]}
    (look,) = next(one["looks"] for one in report["test_sets"] if one["looks"][0]["folder"] != first.folder)
    (share,) = [one["share"] for one in look["overlap"] if one["as"] == "test"]
    old, new = sealed_rows(first), sealed_rows(RunFolder.open(look["folder"]).outcome())
    assert share == pytest.approx((old & new).total() / new.total(), abs=1e-6)


@pytest.mark.slow
def test_a_replay_keeps_the_price_of_the_look_that_it_repeats(modelsel: Any) -> None:
    assert modelsel("run", "dataset=wine", *FEW, "final_test=false").code == 0
    first = modelsel("test", "latest").outcome.test
    assert (first.replay, first.flags) == (False, ("G001", "G016"))
    assert first.price > 0
    for _ in range(2):
        done = modelsel("test", "latest")
        assert "a replay of an answer" in done.out
        again = done.outcome.test
        assert (again.replay, again.price, again.flags) == (True, first.price, ("G001", "G016", "G002"))
        assert (again.score, again.interval, again.look) == (first.score, first.interval, 1)
    with open("runs/latest/study.json") as stream:
        assert json.load(stream)["test"]["price"] == first.price


@pytest.mark.slow
def test_workers_place_name_and_remarks_make_no_other_look(modelsel: Any) -> None:
    written(Path("a.csv"))
    first = modelsel(*study("a.csv", "y")).outcome.test
    Path("elsewhere").mkdir()
    shutil.copy("a.csv", "elsewhere/b.csv")
    words = ("pool=threads", "pool.n_jobs=2", "name=other", "note='for the reviewer'", "show=[overfitting]")
    again = modelsel(*study("elsewhere/b.csv", "y"), *words).outcome.test
    assert again.replay
    assert (again.score, again.look, again.price, again.flags) == (first.score, 1, 0.0, ("G002",))


def test_strict_refuses_a_second_look_with_exit_4(modelsel: Any) -> None:
    assert modelsel("run", "dataset=wine", "space=[naive_bayes]", "guard=strict").code == 0
    done = modelsel("run", "dataset=wine", "space=[cart]", "guard=strict")
    assert done.code == 4
    assert "refused" in done.out + done.err
    assert done.outcome.test.refused
    assert done.outcome.test.score is None


@pytest.mark.slow
def test_a_look_that_was_killed_is_told_by_the_audit(modelsel: Any, tmp_path: Path) -> None:
    code = (
        "import os, modelsel.guard.gate as gate\n"
        "gate.Gate._open = lambda self, *a: os._exit(9)\n"
        "import modelsel; modelsel.run('dataset=wine', 'space=[naive_bayes]', 'tracking=off')\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 9
    done = modelsel("audit")
    assert "G060" in done.out


@pytest.mark.slow
def test_the_ledger_of_a_machine_that_was_offline_is_merged_once(modelsel: Any, tmp_path: Path, monkeypatch: Any) -> None:
    assert modelsel("run", "dataset=wine", *FEW).code == 0
    laptop = tmp_path / "laptop"
    (laptop / "keys").mkdir(parents=True)
    (laptop / "keys" / "user").write_bytes((tmp_path / "home" / "keys" / "user").read_bytes())
    with monkeypatch.context() as there:
        there.setenv("MODELSEL_HOME", str(laptop))
        assert modelsel("run", "dataset=wine", "space=[majority]", "scheme.folds=3").code == 0
    done = modelsel("audit", "--merge", str(laptop / "ledger.db"), "--json")
    assert done.code == 0, done.err
    assert "entries taken over" in done.err
    report = json.loads(done.out)
    (one,) = report["test_sets"]
    assert [look["superseded"]["look"] for look in one["looks"]] == [2, 2]
    assert "G075" not in {flag["code"] for flag in report["flags"]}
    assert modelsel("audit", "--merge", str(laptop / "ledger.db")).err.startswith("0 entries")


def test_merging_what_is_no_ledger_ends_with_2_and_creates_nothing(modelsel: Any, tmp_path: Path) -> None:
    done = modelsel("audit", "--merge", "typo.db")
    assert done.code == 2
    assert "MSEL-273" in done.err
    assert not Path("typo.db").exists()


@pytest.mark.slow
def test_an_audit_asks_mlflow_about_a_run_whose_ledger_and_home_are_gone(modelsel: Any, tmp_path: Path) -> None:
    assert modelsel("run", "dataset=wine", *FEW, "tracking.wait=120").code == 0
    assert json.loads(modelsel("audit", "latest", "--json").out)["ledger"]["anchors"] == ["state", "lockfile", "mlflow"]
    shutil.rmtree(tmp_path / "home")
    done = modelsel("audit", "latest", "--fail-on", "critical")
    assert done.code == 4
    assert re.search(
        "mlflow saw look 1 at test set [0-9a-f]{8} in another ledger, which is not here", " ".join(done.out.split())
    )
