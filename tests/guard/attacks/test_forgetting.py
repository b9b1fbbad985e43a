"""Settings that once made a home forget: each is another way to the same memory."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.errors import LedgerError
from modelsel.guard.policy.base import Identity
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.database import reading
from modelsel.ledger.home import Home
from tests.guard.conftest import Begun
from tests.guard.studies import Rule, Study, numbers, one_look

LOST = {"G070", "G071", "G072"}
Way = Callable[[Study, Path, pytest.MonkeyPatch], Study]


def settings(**changes: Any) -> Way:
    return lambda study, _, __: study.but(settings={**study.settings, **changes})


def another_key_of_the_environment(study: Study, _: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("MODELSEL_KEY", "ab" * 32)
    return study


def keys_deleted(study: Study, _: Path, __: pytest.MonkeyPatch) -> Study:
    shutil.rmtree(study.home / "keys")
    return study


def another_ledger(study: Study, folder: Path, _: pytest.MonkeyPatch) -> Study:
    return study.but(settings={**study.settings, "ledger": f"sqlite:///{folder / 'other.db'}", "anchors": ()})


def project_ledger(study: Study, folder: Path, _: pytest.MonkeyPatch) -> Study:
    return study.but(settings={**study.settings, "ledger": "project", "anchors": ()}, runs=folder / "elsewhere" / "runs")


def everything_at_once(study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    another_key_of_the_environment(study, folder, monkeypatch)
    return another_ledger(keys_deleted(study, folder, monkeypatch), folder, monkeypatch)


WAYS: dict[str, Way] = {
    "guard.project": settings(project="x"),
    "guard.identity.key": settings(identity=Identity(key="x")),
    "MODELSEL_KEY": another_key_of_the_environment,
    "deleted keys": keys_deleted,
    "guard.ledger": another_ledger,
    "guard.ledger=project": project_ledger,
    "all of them": everything_at_once,
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


def test_a_second_look_stays_one(begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    folder, first = begun(one_look, "warn")
    second = way(Study(numbers(), folder / "home", rule=Rule(1)), tmp_path, monkeypatch).look()
    assert (second.look, second.spent) == (2, pytest.approx(first.price))
    assert "G012" in second.flags


def test_strict_refuses_it(begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    folder, first = begun(one_look, "strict")
    assert first.refused is None
    second = way(Study(numbers(), folder / "home", policy="strict", rule=Rule(1)), tmp_path, monkeypatch)
    assert "guard.max_looks=1" in str(second.look().refused)


@pytest.mark.sampled(2)
def test_the_way_back_forgets_as_little(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    study = Study(numbers(), home)
    study.choose_only()
    with monkeypatch.context() as patch:
        first = way(study, tmp_path, patch).look()
    second = study.but(rule=Rule(1), policy="strict").look()
    assert (first.look, second.look) == (1, 2)
    assert second.refused is not None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("order", list(permutations(("home's", "project", "url"))), ids=" ".join)
def test_a_look_in_another_ledger_at_hand_is_neither_lost_nor_charged_twice(
    home: Path, tmp_path: Path, order: tuple[str, ...]
) -> None:
    """The home's state saw each look, wherever it was written down."""
    ledgers = {"home's": {}, "project": {"ledger": "project"}, "url": {"ledger": f"sqlite:///{tmp_path / 'other.db'}"}}
    spent = 0.0
    for number, name in enumerate(order, start=1):
        settings_ = {"anchors": ("state", "lock"), **ledgers[name]}
        study = Study(numbers(), home, rule=Rule(number), settings=settings_, runs=tmp_path / "runs")
        answer, gate = study.run()
        assert (answer.look, answer.spent) == (number, pytest.approx(spent))
        assert not LOST & {finding.code for finding in gate.findings}
        report = audit(study.gate())
        assert report["ledger"]["intact"] is True
        assert not LOST & {flag["code"] for flag in report["flags"]}
        spent += answer.price


@pytest.mark.slow
def test_another_split_is_seen_too(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    study = Study(numbers(1000), home, test=0.2)
    study.look()
    result = way(study.but(rule=Rule(1), split_seed=1), tmp_path, monkeypatch).look()
    assert {"G020", "G021"} <= set(result.flags)
    assert result.n < 200


@pytest.mark.slow
def test_from_one_guise_to_another(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    for column, (name, settings_) in enumerate({"a": {"project": "a"}, "b": {"project": "b"}, "none": {}}.items()):
        looks.append(Study(numbers(), home, settings=settings_, rule=Rule(column)).look())
        shutil.rmtree(home / "keys", ignore_errors=name == "none")
    assert [look.look for look in looks] == [1, 2, 3]
    assert looks[2].spent == pytest.approx(looks[0].price + looks[1].price)
    assert another_ledger(Study(numbers(), home, rule=Rule(3)), tmp_path, monkeypatch).look().look == 4


@pytest.mark.slow
def test_each_look_is_counted_once_where_its_copy_lies_beside_it(home: Path) -> None:
    study = Study(numbers(), home, settings={"project": "x"})
    looks = [study.but(rule=Rule(column)).look().look for column in (0, 1, 0, 2)]
    assert looks == [1, 2, 1, 3]
    assert study.but(rule=Rule(1)).look().replay
    (one,) = audit(study.gate())["test_sets"]
    assert [look["look"] for look in one["looks"] if not look["replay"]] == [1, 2, 3]


@pytest.mark.slow
def test_committed_studies_keep_their_index_in_another_ledger(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(numbers(), home, settings={"declared_space": None})
    for spec in ("spec 0", "spec 1"):
        study.but(spec=spec).choose_only()  # its predictions are what is committed to
    study.gate().commit(study.sealing(), ["spec 0", "spec 1"])
    other = another_ledger(study.but(rule=Rule(2), spec="adaptive"), tmp_path, monkeypatch)
    assert other.look().look == 3
    assert study.but(spec="spec 1").look().look == 2


def test_an_own_key_that_is_gone_or_exchanged_is_refused(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    (home / "own.key").rename(home / "aside")
    with pytest.raises(LedgerError, match="own key is gone") as caught:
        study.but(rule=Rule(1)).look()
    assert caught.value.exit_code == 5
    (home / "own.key").write_bytes(b"\1" * 32)
    with pytest.raises(LedgerError, match="another one"):
        study.but(rule=Rule(1)).look()


def test_a_home_of_before_makes_its_users_key_its_own(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    (home / "own.key").unlink()
    state = json.loads((home / "state.json").read_text())
    for name in ("own", "since", "registry"):
        del state[name]
    (home / "state.json").write_text(json.dumps(state))
    assert study.but(rule=Rule(1)).look().look == 2
    assert Home(home).own() == Home(home).key()


def team(home: Path, tmp_path: Path) -> tuple[Study, Study]:
    """Two people, one of whom looked in a ledger that both use, under the key of both."""
    Home(home).own()
    (home / "keys").mkdir(exist_ok=True)
    (home / "keys" / "team").write_bytes(b"\7" * 32)
    shutil.copytree(home / "keys", tmp_path / "colleague" / "keys")
    shared = {"ledger": f"sqlite:///{tmp_path / 'team.db'}", "project": "team"}
    mine = Study(numbers(seed=9), home, settings=shared)
    Study(numbers(), tmp_path / "colleague", settings=shared).look()
    mine.look()  # another table: this home has been here
    return Study(numbers(), home, rule=Rule(1)), mine


@pytest.mark.slow
def test_looks_of_others_in_a_ledger_that_the_home_knows_count(home: Path, tmp_path: Path) -> None:
    study, _ = team(home, tmp_path)
    assert study.look().look == 2


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries were examined, each time that all of a ledger were; judgements are kept from four entries on."""
    times: list[int] = []
    real = reading.examine
    monkeypatch.setattr(reading, "FEWEST", 4)
    monkeypatch.setattr(reading, "FURTHER", 4)
    monkeypatch.setattr(reading, "examine", lambda entries, *other: (times.append(len(entries)), real(entries, *other))[1])
    return times


@pytest.mark.slow
def test_looks_of_others_are_examined_once(home: Path, tmp_path: Path, examined: list[int]) -> None:
    study, _ = team(home, tmp_path)
    assert study.look().look == 2
    examined.clear()
    assert study.but(rule=Rule(2)).look().look == 3
    assert not examined
    shutil.rmtree(home / "judged")
    assert study.but(rule=Rule(3)).look().look == 4
    assert len(examined) == 2  # the home's and the team's


@pytest.mark.slow
def test_looks_of_others_that_were_changed_are_examined_again(home: Path, tmp_path: Path, examined: list[int]) -> None:
    study, _ = team(home, tmp_path)
    study.look()
    with sqlite3.connect(tmp_path / "team.db") as raw:
        raw.execute("DROP TRIGGER entries_no_update")
        raw.execute("UPDATE entries SET body = replace(body, '\"price\"', '\"prize\"') WHERE kind = 'reveal'")
    raw.close()
    shutil.copytree(home, tmp_path / "without")
    shutil.rmtree(tmp_path / "without" / "judged")
    examined.clear()
    one, gate = study.but(rule=Rule(2)).run()
    assert len(examined) == 1
    other, without = study.but(rule=Rule(2), home=tmp_path / "without").run()
    assert len(examined) > 2
    assert (one.look, one.spent, one.interval) == (other.look, other.spent, other.interval)
    assert {finding.code for finding in gate.findings} == {finding.code for finding in without.findings}


@pytest.mark.slow
def test_a_ledger_with_looks_of_others_that_cannot_be_reached_takes_the_certificate(home: Path, tmp_path: Path) -> None:
    study, mine = team(home, tmp_path)
    (tmp_path / "team.db").rename(tmp_path / "aside.db")
    result, gate = study.run()
    assert result.interval is None
    assert {"G078", "G052"} <= {finding.code for finding in gate.findings}
    (tmp_path / "aside.db").rename(tmp_path / "team.db")
    assert mine.look().replay


@pytest.mark.slow
def test_an_unreachable_ledger_of_ones_own_takes_nothing(home: Path, tmp_path: Path) -> None:
    study = Study(numbers(), home, settings={"ledger": f"sqlite:///{tmp_path / 'gone.db'}"})
    first = study.look()
    (tmp_path / "gone.db").unlink()
    second = Study(numbers(), home, rule=Rule(1)).look()
    assert (second.look, second.spent) == (2, pytest.approx(first.price))
    assert second.interval is not None
    assert Study(numbers(seed=5), home).look().interval is not None


def test_the_first_look_is_the_first_that_the_home_knows_of(home: Path) -> None:
    gate = Study(numbers(), home).run()[1]
    (first,) = [finding.message for finding in gate.findings if finding.code == "G001"]
    assert first == f"the first look at these rows known to this home, which remembers since {Home(home).since}"
