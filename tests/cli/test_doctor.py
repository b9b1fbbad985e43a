"""`modelsel doctor` tells the state of everything that a study needs, and its exit code the worst of it."""

import json

import pytest

from modelsel.core.errors import OK, UNTRUSTED_LEDGER


def test_a_fresh_folder_is_in_order(modelsel, folder):
    done = modelsel("doctor")
    assert done.code == OK, done.out
    assert not [line for line in done.out.splitlines() if line.startswith("!")]
    for what in ("python", "numpy", "mlflow", "runs", "home", "kernel cache", "studies", "ledger"):
        assert any(line[2:].startswith(what) for line in done.out.splitlines()), what


@pytest.mark.slow
def test_it_tells_finished_and_unfinished_studies_and_the_ledger(modelsel, small, folder):
    assert modelsel("run", *small).code == OK
    stale = folder / "runs" / "broken" / "20260101-000000-aaaaaaaa"
    (stale / "journal").mkdir(parents=True)
    said = modelsel("doctor").out
    assert "1 finished, 1 not" in said
    assert f"{stale.relative_to(folder)}: the same command again uses its cells" in said
    assert "intact" in said
    assert "state" in said.split("anchors", 1)[1].splitlines()[0]


@pytest.mark.slow
def test_a_changed_ledger_is_exit_5(modelsel, small, folder, tmp_path):
    assert modelsel("run", *small).code == OK
    state = tmp_path / "home" / "state.json"
    known = json.loads(state.read_text())
    (tmp_path / "home" / "ledger.db").unlink()
    done = modelsel("doctor")
    assert known
    assert done.code == UNTRUSTED_LEDGER
    assert any(line.startswith("! ledger") for line in done.out.splitlines())


def test_a_secret_in_the_environment_is_not_shown(modelsel, folder, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:topsecret@tracking.example:5000")
    said = modelsel("doctor").out
    assert "topsecret" not in said
    assert "wins over it" in said
