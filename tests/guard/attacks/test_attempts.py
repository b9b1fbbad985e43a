"""Thirty-two ways to look again without being seen, or to break the record, and what becomes of each.

Numbers are those of the documented attack plan. Attempts on chains and stores as such are in tests/ledger.
"""

import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.errors import LedgerError, StoreError
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Task
from modelsel.guard.gate import Gate
from modelsel.guard.policy.base import Justify
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.database.upkeep import merge
from modelsel.ledger.entry import LedgerEntry, broken, follow
from modelsel.ledger.home import Home
from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, interval
from tests.guard.studies import Rule, Study, numbers, renamed, shuffled, uncertified

FORK = multiprocessing.get_context("fork")  # quick, and nothing is open yet where it is used


def codes(study: Study) -> set[str]:
    """Flags of a look, whether it was answered or refused."""
    return {finding.code for finding in study.run()[1].findings}


def disguised(study: Study, task: Task, rule: Rule | None = None) -> Study:
    """The same split of the same rows, described by another table."""
    return study.but(task=task, rule=rule or Rule(1), spec="another study")


def scaled(task: Task) -> Task:
    return task.with_features(task.features, task.values * 3.7 + 11)


@dataclass
class Elsewhere:
    """An anchor that somebody else keeps: it only ever grows."""

    name: str = "mlflow"
    facts: list[dict[str, str]] = field(default_factory=list)

    def witness(self, facts: Mapping[str, str]) -> None:
        self.facts.append(dict(facts))

    def recall(self, testset: str) -> list[dict[str, str]]:
        return [facts for facts in self.facts if facts["testset"] == testset]


# --- the same rows in another guise


@pytest.mark.slow
def test_01_a_new_split_seed(home: Path) -> None:
    study = Study(numbers(1000), home, test=0.2)
    study.look()
    again = study.but(split_seed=1, rule=Rule(1))
    result = again.look()
    assert {"G020", "G021"} <= set(result.flags)
    old = set(study.parts()[1].rows.tolist())
    tested = sum(int(row) in old for row in again.parts()[1].rows)
    assert result.n == tested  # a certificate on the rows that never chose
    assert result.interval is not None
    assert "G021" in str(study.but(split_seed=2, rule=Rule(2), policy="strict").look().refused)


def test_01_a_new_split_seed_on_few_rows_leaves_no_certificate(home: Path) -> None:
    study = Study(numbers(100), home, test=0.2)
    study.look()
    again = study.but(split_seed=1, rule=Rule(1))
    chosen = set(study.parts()[0].rows.tolist())
    left = sum(int(row) not in chosen for row in again.parts()[1].rows)
    result, gate = again.run()
    assert (result.n, result.interval) == (20, None)
    assert {"G021", "G052"} <= set(result.flags)
    why, do = uncertified(gate)
    assert why == f"no interval can be certified: earlier studies leave {left} of 20 test rows, and 30 are needed"
    assert do.startswith("collect fresh test rows")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["02 renamed", "03 reordered", "04 shuffled", "05 text", "32 another name"])
def test_02_to_05_and_32_are_ordinary_next_looks(home: Path, kind: str) -> None:
    task = numbers()
    study = Study(task, home)
    study.look()
    other = {
        "02 renamed": lambda: renamed(task, {"x1": "income", "x2": "age"}),
        "03 reordered": lambda: task.with_features(task.features[::-1], task.values[:, ::-1]),
        "04 shuffled": lambda: task,
        "05 text": lambda: as_text(task),
        "32 another name": lambda: replace(task, name="something else"),
    }[kind]()
    again = disguised(study, other, Rule(2 if kind == "03 reordered" else 1))
    gate, sealing = again.gate(), again.sealing()
    if kind == "04 shuffled":
        development, test = again.parts()
        from modelsel.core.types import seal

        sealing = replace(sealing, sealed=seal(shuffled(test)), development=shuffled(development, 2))
    result = gate.look(again.request(sealing))
    assert result.look == 2
    assert gate.subject(sealing).digest == study.gate().subject(study.sealing()).digest


def test_05_another_file_format_and_another_type_of_every_column(home: Path, tmp_path: Path) -> None:
    import pandas as pd

    rng = np.random.default_rng(4)
    frame = pd.DataFrame({
        "a": rng.normal(size=300).round(5), "b": rng.integers(0, 50, 300), "c": rng.choice(["u", "v", "w"], 300),
        "d": rng.random(300) < 0.5, "y": rng.choice(["no", "yes"], 300),
    })  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.astype(str).to_csv(tmp_path / "texts.csv", index=False, quoting=1)
    frame.astype({"b": "float64", "c": "category"}).to_parquet(tmp_path / "b.parquet")
    nominal = dict.fromkeys("abcd", "nominal")
    readings = (
        make("dataset", "csv", path=str(tmp_path / "a.csv"), target="y"),
        make("dataset", "parquet", path=str(tmp_path / "b.parquet"), target="y"),
        make("dataset", "csv", path=str(tmp_path / "texts.csv"), target="y", features=nominal),
    )
    digests = set()
    for number, reading in enumerate(readings):
        task = reading.load().task
        study = Study(task, home, spec=f"study {number}", rule=Rule(0))
        gate, sealing = study.gate(), study.sealing()
        digests.add(gate.subject(sealing).digest)
        said = (np.arange(len(sealing.sealed.values)) % 2 == number % 2).astype(np.int32)[None]
        request = replace(study.request(sealing), predict=lambda _, said=said: Outputs(said))
        assert gate.look(request).look == number % 2 + 1  # the third is a replay of the first
    assert len(digests) == 1


def as_text(task: Task) -> Task:
    """Every number as a text level, as a file read without types would have it."""
    features, columns = [], []
    for index, feature in enumerate(task.features):
        texts = [f"{value:.5f}" for value in task.values[:, index]]
        levels = tuple(dict.fromkeys(texts))
        features.append(Feature(feature.name, "nominal", levels))
        columns.append([levels.index(text) for text in texts])
    return task.with_features(tuple(features), np.array(columns, np.float64).T)


def test_06_single_precision(home: Path) -> None:
    study = Study(replace(numbers(), values=np.random.default_rng(0).normal(size=(400, 14)), features=tuple(
        Feature(f"x{i}", "numeric") for i in range(14))), home)  # fmt: skip
    study.look()
    single = study.task.with_features(study.task.features, study.task.values.astype(np.float32).astype(np.float64))
    result, gate = disguised(study, single).run()
    overlap = audit(gate)["test_sets"][-1]["looks"][-1]["overlap"]
    (share,) = [one["share"] for one in overlap if one["as"] == "test"]
    assert 0.85 <= share < 0.98
    grave = {finding.code for finding in gate.findings if finding.severity == "high"}
    assert "G020" in grave
    assert result.look == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda task: task.with_features(task.features[:-1], task.values[:, :-1]),
        lambda task: task.with_features((*task.features, Feature("new", "numeric")), np.c_[task.values, np.ones(len(task))]),
        lambda task: renamed(task.with_features(task.features[:-1], task.values[:, :-1]), {f"x{i}": f"y{i}" for i in range(4)}),
    ],
    ids=["07 dropped", "08 added", "07 dropped and renamed"],
)
def test_07_and_08_dropped_and_added_columns(home: Path, change: Any) -> None:
    study = Study(numbers(), home)
    study.look()
    result = disguised(study, change(study.task)).look()
    assert "G022" in result.flags
    assert result.look == 2


def test_09_scaled_in_the_same_order(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    result = disguised(study, scaled(study.task), Rule(1, 11.0)).look()
    assert "G022" in result.flags
    assert result.look == 2


def test_09_all_features_made_anew_in_the_same_order(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    new = study.task.with_features((Feature("z", "numeric"),), np.random.default_rng(8).normal(size=(400, 1)))
    result = disguised(study, new, Rule(0)).look()
    assert result.look == 1  # not seen: only the labels are the same, and what were kept of them could be read from the ledger


def test_10_scaled_and_shuffled_and_split_anew(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    other = study.but(task=shuffled(scaled(study.task)), split_seed=4, rule=Rule(1, 11.0))
    result, gate = other.run()
    overlap = {one["as"]: one for one in audit(gate)["test_sets"][-1]["looks"][-1]["overlap"]}
    old = {row.tobytes() for row in scaled(study.parts()[1]).values}
    assert overlap["test"]["rows"] == sum(row.tobytes() in old for row in other.parts()[1].values)
    assert "G022" in result.flags


@pytest.mark.sampled(1)
@pytest.mark.parametrize("change", ["added", "removed", "repeated"])
def test_11_a_row_more_a_row_less_rows_repeated(home: Path, change: str) -> None:
    from modelsel.core.types import seal

    study = Study(numbers(), home)
    study.look()
    development, test = study.parts()
    rows = {
        "added": lambda: replace_rows(test, numbers(1, seed=9)),
        "removed": lambda: test.take(np.arange(1, len(test))),
        "repeated": lambda: test.take(np.r_[np.arange(len(test)), [3, 4, 5]]),
    }[change]()
    again = study.but(rule=Rule(1))
    result = again.gate().look(again.request(replace(again.sealing(), sealed=seal(rows), development=development)))
    assert result.look == 2
    assert "G012" in result.flags


def replace_rows(task: Task, other: Task) -> Task:
    return replace(
        task, values=np.vstack([task.values, other.values]), target=np.r_[task.target, other.target],
        rows=np.arange(len(task) + len(other)),
    )  # fmt: skip


@pytest.mark.parametrize("change", [{"target": "flipped"}, {"classes": ("bad", "good")}])
def test_12_flipped_labels_and_renamed_classes(home: Path, change: dict[str, Any]) -> None:
    study = Study(numbers(), home)
    study.look()
    task = replace(study.task, target=1 - study.task.target) if "target" in change else replace(study.task, **change)
    assert disguised(study, task).look().look == 2


def few(seed: int, rows: int = 600) -> Task:
    """Three nominal columns of 5, 4 and 3 levels: sixty different rows in all."""
    rng = np.random.default_rng(seed)
    sizes = (5, 4, 3)
    values = np.column_stack([rng.integers(0, size, rows) for size in sizes]).astype(np.float64)
    features = tuple(Feature(f"c{i}", "nominal", tuple(f"l{j}" for j in range(size))) for i, size in enumerate(sizes))
    target = (rng.random(rows) < 0.3 + 0.1 * (values[:, 0] > 2)).astype(np.int32)
    return Task(name="few", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def test_13_a_fresh_sample_of_a_low_entropy_table_is_silent(home: Path) -> None:
    Study(few(0), home).look()
    result, gate = Study(few(1), home, rule=Rule(1)).run()
    assert result.look == 1
    assert not [finding for finding in gate.findings if finding.severity in ("medium", "high", "critical")]


# --- the record


def forget(home: Path) -> None:
    for path in home.glob("ledger.db*"):
        path.unlink()


def test_14_the_deleted_ledger_is_known_from_its_anchors(home: Path) -> None:
    anchor = Elsewhere()
    study = Study(numbers(), home, anchors=(anchor,))
    study.look()
    forget(home)
    result, gate = study.but(rule=Rule(1)).run()
    assert {"G072"} <= {finding.code for finding in gate.findings}
    assert result.look == 2
    assert result.spent > 6


def test_14_with_every_anchor_gone_the_report_says_level_zero(home: Path) -> None:
    study = Study(numbers(), home, settings={"anchors": ()})
    study.look()
    shutil.rmtree(home)
    result, gate = study.but(rule=Rule(1)).run()
    assert result.look == 1
    from modelsel.guard.reporting.page import markdown

    assert "level 0" in markdown(audit(gate))


def rewrite(home: Path, change: Any) -> None:
    """Write the whole chain anew, consistently, as its owner can."""
    with sqlite3.connect(home / "ledger.db") as raw:
        rows = [LedgerEntry(*row) for row in raw.execute("SELECT * FROM entries ORDER BY seq")]
        for table in ("entries", "signatures"):
            for name in ("update", "delete", "insert"):
                raw.execute(f"DROP TRIGGER IF EXISTS {table}_no_{name}")
            raw.execute(f"DELETE FROM {table}")
        signer = Home(home).signer()
        last: LedgerEntry | None = None
        for kind, facts in change([(row.kind, row.facts) for row in rows]):
            last = follow(last, rows[0].replica, kind, facts)
            raw.execute(
                "INSERT INTO entries VALUES (?,?,?,?,?,?)", (last.replica, last.seq, last.kind, last.body, last.prev, last.hash)
            )
            raw.execute("INSERT INTO signatures VALUES (?,?,?)", (last.hash, signer.public, signer.sign(last.hash)))


def test_16_a_chain_written_anew_is_whole_and_contradicts_its_witnesses(home: Path) -> None:
    anchor = Elsewhere()
    study = Study(numbers(), home, anchors=(anchor,), settings={"anchors": ("mlflow",)})
    study.look()
    rewrite(home, lambda entries: [(kind, {**facts, "user": "nobody"}) for kind, facts in entries])
    ledger = study.gate().session.ledger
    assert broken(ledger.entries()) == []  # the known limit of level A0
    gate = study.but(rule=Rule(1)).run()[1]
    assert "G070" in {finding.code for finding in gate.findings}


@pytest.mark.slow
def test_17_a_truncated_ledger_and_a_restored_copy(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    with sqlite3.connect(home / "ledger.db") as raw:
        raw.execute("VACUUM INTO ?", (str(home / "copy.db"),))
    study.but(rule=Rule(1)).look()
    forget(home)
    (home / "copy.db").rename(home / "ledger.db")
    result, gate = study.but(rule=Rule(2)).run()
    assert "G071" in {finding.code for finding in gate.findings}
    assert result.look == 3  # the lost look is on record again, at its highest price
    rewrite(home, lambda entries: entries[:2])
    assert "G071" in codes(study.but(rule=Rule(3)))


def _race(home: Path, column: int, policy: str, answers: Any) -> None:
    result = Study(numbers(), home, policy=policy, rule=Rule(column)).look()
    answers.put((result.look, result.refused is not None))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("policy", ["warn", "strict"])
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_18_processes_race_for_the_first_look(home: Path, policy: str, start: str) -> None:
    context = multiprocessing.get_context(start)
    answers = context.Queue()
    racers = [context.Process(target=_race, args=(home, column, policy, answers)) for column in range(3)]
    for racer in racers:
        racer.start()
    found = sorted(answers.get(timeout=120) for _ in racers)
    for racer in racers:
        racer.join()
    if policy == "warn":
        assert [look for look, _ in found] == [1, 2, 3]
    else:
        assert found == [(1, False), (2, True), (2, True)]


STEPS = {
    1: ("modelsel.guard.access.session.LedgerSession", "check"), 2: ("modelsel.guard.gate", "subject_of"),
    3: ("modelsel.guard.gate", "prediction_digest"), 4: ("modelsel.guard.access.authorize", "_answered_before"),
    5: ("modelsel.guard.access.authorize", "judge"), 6: ("modelsel.guard.gate.Gate", "_reveal"),
    7: ("modelsel.guard.gate", "truth"), 8: ("modelsel.guard.access.looks", "reveal"),
    9: ("modelsel.guard.access.session.LedgerSession", "witness"), 10: ("modelsel.guard.gate", "released_result"),
}  # fmt: skip


def _die_at(home: Path, step: int) -> None:
    """Run a look in a process that is killed when it reaches a step."""
    import importlib

    where, name = STEPS[step]
    module, _, owner = where.rpartition(".") if where.split(".")[-1][0].isupper() else (where, "", "")
    imported = importlib.import_module(module)
    target: Any = getattr(imported, owner) if owner else imported
    assert hasattr(target, name)
    setattr(target, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    Study(numbers(), home).look()


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_19_killed_at_every_step(home: Path, step: int) -> None:
    child = FORK.Process(target=_die_at, args=(home, step))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    study = Study(numbers(), home)
    history = [entry.kind for entry in study.gate().session.ledger.entries()]
    if step <= 5:
        assert "intent" not in history
        assert study.look().look == 1
    elif step <= 8:
        assert history[-1] == "intent"
        assert "G060" in {flag["code"] for flag in audit(study.gate())["flags"]}
        assert study.but(rule=Rule(1)).look().look == 2
        assert study.look().look == 1
    else:
        assert history[-1] == "reveal"
        assert study.look().replay
    assert broken(study.gate().session.ledger.entries()) == []


def _with_full_disk(home: Path, answers: Any) -> None:
    study = Study(numbers(), home)
    gate, sealing = study.gate(), study.sealing()
    gate.seal(sealing)
    size = max(path.stat().st_size for path in home.glob("ledger.db*"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        answers.put(("answered", gate.look(study.request(sealing)).score))
    except StoreError as error:
        answers.put(("refused", error.exit_code))


def test_20_a_full_disk_shows_no_score(home: Path) -> None:
    answers = FORK.Queue()
    child = FORK.Process(target=_with_full_disk, args=(home, answers))
    child.start()
    assert answers.get(timeout=120) == ("refused", 6)
    child.join()
    kinds = [entry.kind for entry in Study(numbers(), home).gate().session.ledger.entries()]
    assert "reveal" not in kinds


def test_20_a_locked_ledger_shows_no_score(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelsel.ledger.database.schema.PATIENCE", 50)
    Study(numbers(), home).choose_only()
    holder = sqlite3.connect(home / "ledger.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        Study(numbers(), home, rule=Rule(1)).look()
    holder.execute("ROLLBACK")
    holder.close()


def test_21_a_clock_that_was_set_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    study.look()
    monkeypatch.setattr("modelsel.guard.entries.now", lambda: "2001-01-01T00:00:00.000000+00:00")
    result, gate = study.but(rule=Rule(1)).run()
    assert result.look == 2
    assert "G075" in result.flags
    assert "G075" in {flag["code"] for flag in audit(gate)["flags"]}


def test_22_two_machines_offline_then_merged(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    Home(first).key()
    shutil.copytree(first / "keys", second / "keys")
    one, two = Study(numbers(), first), Study(numbers(), second, rule=Rule(1))
    assert (one.look().look, two.look().look) == (1, 1)
    ledger = one.gate().session.ledger
    merge(ledger, two.gate().session.ledger)
    before = len(ledger.entries())
    merge(ledger, two.gate().session.ledger)
    assert len(ledger.entries()) == before + 1
    assert broken(ledger.entries()) == []
    looks = audit(one.gate())["test_sets"][0]["looks"]
    assert [look["superseded"]["look"] for look in looks] == [2, 2]
    for look in looks:
        assert look["superseded"]["interval"][0] < look["interval"][0]
        assert look["superseded"]["interval"][1] > look["interval"][1]
    assert one.but(rule=Rule(2)).look().look == 3


@pytest.mark.slow
def test_22_two_machines_offline_looked_at_overlapping_rows_then_merged(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    Home(first).key()
    shutil.copytree(first / "keys", second / "keys")
    one, two = Study(numbers(), first), Study(numbers(), second, rule=Rule(1), split_seed=5)
    apart = Study(numbers(seed=8), second)  # shares nothing, and is left alone
    assert (one.look().look, two.look().look, apart.look().look) == (1, 1, 1)
    merge(one.gate().session.ledger, two.gate().session.ledger)
    sets = audit(one.gate())["test_sets"]
    looks = {one["id"]: one["looks"][0] for one in sets}
    after = {name: look["superseded"] for name, look in looks.items()}
    assert [said and said["look"] for said in after.values()].count(2) == 2
    assert list(after.values()).count(None) == 1
    for name, said in after.items():
        if said:
            other = next(price for testset, price in ((n, looks[n]["price"]) for n in looks if after[n]) if testset != name)
            assert said["spent"] == pytest.approx(other)
            assert said["interval"] is None or said["interval"][0] < looks[name]["interval"][0]
    later = one.but(rule=Rule(2)).look()
    assert later.look >= 2
    assert "G020" in later.flags


def test_22_a_fork_is_refused(home: Path, tmp_path: Path) -> None:
    def chain(path: Path, text: str) -> Ledger:
        ledger = Ledger.open(f"sqlite:///{path}", "same replica")
        ledger.append("note", {"text": text})
        return ledger

    with pytest.raises(LedgerError, match="both ledgers have it"):
        merge(chain(tmp_path / "a.db", "one"), chain(tmp_path / "b.db", "two"))


# --- other doors


class Lenient(Gate):
    """A subclass that would rather not be guarded."""

    @property
    def place(self) -> str:
        return "nowhere"


def test_23_a_subclass_meets_the_same_ledger(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    gate = Lenient(study.gate().policy, home / "runs", home=Home(home))
    other = study.but(rule=Rule(1))
    assert gate.look(other.request(other.sealing())).look == 2


def test_24_a_dumped_sealed_set_holds_no_labels(home: Path, tmp_path: Path) -> None:
    import copy

    import joblib

    study = Study(numbers(), home)
    sealing = study.sealing()
    joblib.dump(sealing.sealed, tmp_path / "sealed")
    secret = study.parts()[1].target
    assert secret.tobytes() not in (tmp_path / "sealed").read_bytes()
    for copied in (joblib.load(tmp_path / "sealed"), copy.deepcopy(sealing.sealed), copy.copy(sealing.sealed)):
        with pytest.raises(KeyError):
            study.gate().look(study.request(replace(sealing, sealed=copied)))


@pytest.mark.slow
def test_25_every_evaluation_of_a_sweep_counts(home: Path) -> None:
    exact = {"quota": None}
    results = [Study(numbers(), home, settings=exact, rule=Rule(0, cut / 10)).look() for cut in range(8)]
    assert [result.look for result in results] == list(range(1, 9))
    widths = [result.interval[1] - result.interval[0] for result in results if result.interval]
    assert widths == sorted(widths)


def test_26_rounded_modes_leave_the_exact_score_nowhere(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    study = Study(numbers(), home, settings={"release": "grid", "resolution": 0.05}, rule=Rule(0, 0.4))
    result = study.look()
    _, test = study.parts()
    errors = int((study.rule(test).predicted[0] != test.target).sum())
    assert errors / 120 != result.score  # else the search would find nothing to miss
    audit(study.gate())
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()) + "".join(capfd.readouterr()).encode()
    for secret in (f'"errors":{errors}', f"{errors / 120:.6f}"[:7], f"{errors}/120"):
        assert secret.encode() not in written
    assert result.errors is None


def test_27_another_folder_and_another_name_of_the_study_are_a_replay(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    sealing = replace(study.sealing(), study="renamed", folder="elsewhere/7")
    assert study.gate().look(study.request(sealing)).replay


def test_28_one_unguarded_run(home: Path) -> None:
    anchor = Elsewhere()
    study = Study(numbers(), home, anchors=(anchor,), settings={"anchors": ("mlflow",)})
    study.but(policy="off").look()
    result, gate = study.but(rule=Rule(1)).run()
    assert "G076" in {finding.code for finding in gate.findings}
    assert result.look == 2


def test_29_a_deleted_key_is_made_anew_from_the_homes_own_and_forgets_nothing(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    (home / "keys" / "user").unlink()
    result = study.but(rule=Rule(1)).look()
    assert result.look == 2
    assert "G074" not in result.flags


def test_29_a_lock_file_made_with_another_key_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    study = Study(numbers(), tmp_path / "one", runs=tmp_path / "work" / "runs")
    study.look()
    assert (tmp_path / "work" / "modelsel.lock").exists()
    gate = study.but(home=tmp_path / "two").run()[1]
    assert "G074" in {finding.code for finding in gate.findings}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("change", [{"delta": 0.3}, {"release": "full"}, {"resolution": 0.01}])
def test_30_laxer_terms_after_sealing(home: Path, change: dict[str, Any]) -> None:
    study = Study(numbers(), home)
    study.look()
    result, gate = study.but(rule=Rule(1), settings=change).run()
    assert "G073" in {finding.code for finding in gate.findings}
    assert "G073" in result.flags
    assert (result.level, result.release, result.errors is None) == (0.95, "predicted", False)
    changed = [entry.facts for entry in gate.session.ledger.entries() if entry.kind == "policy_change"]
    assert [facts["weaker"][0] for facts in changed] == [*change]


@pytest.mark.slow
def test_30_another_measure_after_an_answer(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    result = study.but(measure=make("measure", "balanced_error"), rule=Rule(1)).look()
    assert "G073" in result.flags
    refused = study.but(policy="strict", measure=make("measure", "auc"), rule=Rule(2)).look().refused
    assert "G073" in str(refused)


@pytest.mark.slow
def test_30_another_step_of_the_ladder_after_sealing(home: Path) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    first = study.but(rule=Rule(3)).look()
    finer = study.but(settings={"resolution": 0.001}).look()
    assert "G073" in str(finer.refused)
    reason = {"category": "other", "text": "the finer step was typed by mistake"}
    justified = study.but(settings={"resolution": 0.001, "justify": Justify(**reason)}).look()
    assert first.score is not None
    assert justified.score is not None
    assert justified.score < first.score
    assert (justified.score * 20) == pytest.approx(round(justified.score * 20))  # in steps of the seal


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weaker", [{"delta": 0.3}, {"max_looks": 5}])
def test_30_strict_refuses_what_was_weakened(home: Path, weaker: dict[str, Any]) -> None:
    study = Study(numbers(), home, policy="strict")
    study.choose_only()
    result = study.but(settings=weaker).look()
    assert "G073" in str(result.refused)
    assert result.score is None
    assert study.look().score is not None


@pytest.mark.slow
def test_30_a_laxer_policy_and_back(home: Path) -> None:
    study = Study(numbers(), home, policy="strict")
    study.look()
    assert "G073" in codes(study.but(policy="warn", rule=Rule(1)))
    assert "G073" not in codes(study)
    assert "G073" in codes(study.but(policy="warn", rule=Rule(2)))


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.soak)])
def test_31_many_specifications_committed_before_any_answer(home: Path, count: int) -> None:
    study = Study(numbers(), home, settings={"declared_space": None})
    for index in (count - 1, 0, 17):
        study.but(rule=Rule(0, index / 100), spec=f"spec {index}").choose_only()
    study.gate().commit(study.sealing(), [f"spec {index}" for index in range(count)])
    for index in (count - 1, 0, 17):
        result = study.but(rule=Rule(0, index / 100), spec=f"spec {index}").look()
        assert result.look == index + 1
        assert result.spent == 0.0
        assert result.errors is not None
        assert result.interval == interval(result.errors, result.errors, 120, SpendingState(index + 1, 0.0).nats(0.05))
        assert "G013" in result.flags
        assert "G012" not in result.flags
    late = study.but(rule=Rule(3), spec="not committed").look()
    assert late.look == count + 1
    assert late.spent > 0
    assert "G012" in late.flags


def test_prices_on_record_add_up(home: Path) -> None:
    results = [Study(numbers(), home, rule=Rule(column), settings={"release": "full"}).look() for column in range(3)]
    assert [round(result.spent, 4) for result in results] == [round(k * prices.full(120), 4) for k in range(3)]
