"""Ledgers of two machines that did not know of each other, merged: what can be told of each look, and what cannot."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.guard.policy.base import Identity
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import items, limits_of, story
from modelsel.ledger.home import Home
from tests.guard.studies import Rule, Study, numbers


def homes(folder: Path) -> tuple[Path, Path]:
    """Two homes with the same keys, so that either knows the other's rows; what they sign with is their own."""
    first, second = folder / "a", folder / "b"
    Home(first).key()
    shutil.copytree(first / "keys", second / "keys")
    return first, second


def told(one: Study, other: Path, ledger: str = "ledger.db") -> list[str]:
    gate = one.gate()
    gate.merge(str(other / ledger))
    return [flag["message"] for flag in audit(one.gate())["flags"] if flag["code"] == "G074"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"identity": Identity(store="digest_only"), "ledger": "project"}, {"identity": Identity(key="another")}],
    ids=["digest only", "another key"],
)
def test_merged_looks_at_rows_that_cannot_be_compared_are_told(tmp_path: Path, settings: dict[str, Any]) -> None:
    first, second = homes(tmp_path)
    one, two = Study(numbers(), first), Study(numbers(), second, rule=Rule(1), split_seed=5, settings=settings)
    one.look()
    two.look()
    said = told(one, second, "runs/ledger.db" if "ledger" in settings else "ledger.db")
    assert any("their rows cannot be compared" in message for message in said)


@pytest.mark.slow
def test_merged_looks_that_can_be_compared_raise_no_such_finding(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    one = Study(numbers(), first)
    one.look()
    Study(numbers(seed=8), second).look()
    assert told(one, second) == []


@pytest.mark.slow
def test_the_same_rows_stored_by_their_digest_alone_are_one_set(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    settings = {"identity": Identity(store="digest_only")}
    one, two = (Study(numbers(), home, rule=Rule(n), settings=settings) for n, home in enumerate((first, second)))
    one.look()
    two.look()
    assert told(one, second) == []
    (looks,) = [found["looks"] for found in audit(one.gate())["test_sets"]]
    assert [look["superseded"]["look"] for look in looks] == [2, 2]


@pytest.mark.slow
def test_what_is_to_be_quoted_after_a_merge_is_what_stands_instead(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    one, two = (Study(numbers(), home, rule=Rule(n)) for n, home in enumerate((first, second)))
    one.look()
    two.look()
    told(one, second)
    report = audit(one.gate())
    (found,) = report["test_sets"]
    last = found["looks"][-1]
    assert last["superseded"]["interval"][0] < last["interval"][0]
    (quoted,) = [part for part in next(each for each in story(report) if each.title.startswith("Test set")).parts
                 if str(part).startswith("To quote")]  # fmt: skip
    assert "look 2 of this test set; earlier answers cost" in str(quoted)
    assert limits_of(last["superseded"]["interval"]) in str(quoted)
    assert limits_of(last["interval"]) not in str(quoted).split("As a first look")[0]
    assert items(found, report)["uncertainty estimate"] == last["superseded"]["interval"]


@pytest.mark.slow
def test_a_board_after_a_merge_has_no_interval_that_was_taken(tmp_path: Path) -> None:
    """Two looks apart, then answers by the ladder: where the board stays, its model's interval is the one that stands now."""
    first, second = homes(tmp_path)
    settings = {"quota": 1}
    one, two = (Study(numbers(), home, rule=Rule(n), settings=settings) for n, home in enumerate((first, second)))
    one.look()
    two.look()
    told(one, second)
    looks = audit(one.gate())["test_sets"][0]["looks"]
    stays = one.but(rule=Rule(2)).look()
    assert stays.errors is None
    instead = [look["superseded"]["interval"] for look in looks]
    assert list(stays.interval) in instead
    again = one.look()
    assert again.replay
    assert list(again.interval) in instead


@pytest.mark.slow
def test_a_certificate_after_a_merge_is_of_its_own_look_and_says_what_supersedes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)).round(4), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=300) > 0, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    made = {}
    for name, home, learner in zip("ab", homes(tmp_path), ("majority", "naive_bayes")):
        monkeypatch.setenv("MODELSEL_HOME", str(home))
        (tmp_path / f"work {name}").mkdir()
        monkeypatch.chdir(tmp_path / f"work {name}")
        said = [f"dataset.path={tmp_path / 'table.csv'}", "dataset.target=y", f"learner={learner}", "tracking=off"]
        made[name] = modelsel.run("dataset=csv", *said)
    for name, other in (("a", "b"), ("b", "a")):
        monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / name))
        monkeypatch.chdir(tmp_path / f"work {name}")
        before = modelsel.verify(modelsel.certify("latest", tmp_path / f"before {name}.zip"))
        assert before["faults"] == []
        modelsel.audit(merge=str(tmp_path / other / "ledger.db"))
        file = modelsel.certify("latest", tmp_path / f"{name}.zip")
        found = modelsel.verify(file)
        assert found["faults"] == []
        assert any("beside looks of another machine" in line for line in found["unknown"])
        (claim,) = _statement(file)["claims"]
        assert claim["score"] == made[name].test.score
        assert (claim["look"], claim["superseded"]["look"]) == (1, 2)
        assert claim["superseded"]["interval"][0] < claim["interval"][0]


def _statement(path: Path) -> dict[str, Any]:
    import json
    import zipfile

    with zipfile.ZipFile(path) as archive:
        statement: dict[str, Any] = json.loads(archive.read("certificate.json"))
    return statement
