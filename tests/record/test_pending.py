"""What could not be written into MLflow waits with its last error, is said, and is taken along by the next study."""

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from modelsel.api.commands.setup import outbox
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.anchor import read_file
from modelsel.record.mlflow.sync import NOTE, note_pending, sync, waiting
from modelsel.record.mlflow.track import Tracker
from tests.record.test_track import tracking


@pytest.mark.slow
def test_a_dead_server_leaves_a_note_with_its_error_that_doctor_shows(folder, monkeypatch):
    tracker = Tracker(tracking("http://127.0.0.1:9", "server"), folder, patience=60)
    assert tracker.finish().state == "failed"
    (left,) = waiting(folder.root)
    assert left.folder == folder.path
    assert "does not answer" in left.error
    monkeypatch.chdir(folder.root.parent)
    ((what, said, _),) = outbox()
    assert what == "outbox"
    assert "is not in MLflow yet" in said
    assert "does not answer" in said


@pytest.mark.slow
def test_the_next_study_takes_along_what_is_left_and_says_its_error(folder, finished, store, caplog):
    earlier = RunFolder.create(folder.root, finished.outcome.study)
    earlier.save(replace(finished, config={**finished.config, "tracking": {"kind": "sqlite"}}))
    note_pending(earlier.path, "auto", "database is locked")
    tracker = Tracker(tracking(), folder, patience=120)
    assert tracker.finish().state == "recorded"
    assert "database is locked; it is tried again now" in caplog.text
    assert tracker.outbox.process.wait(120) == 0
    assert list(waiting(folder.root)) == []
    assert (earlier.path / "mlflow.json").exists()


@pytest.mark.slow
def test_a_study_on_record_waits_no_longer_than_said_and_who_was_handed_it_goes_on(folder, finished, store):
    tracker = Tracker(tracking(wait=0.0), folder)
    (anchor,) = tracker.anchors
    looks = [{"testset": "5d0c2f", "look": "1"}, {"testset": "5d0c2f", "look": "2"}]
    for facts in looks:
        anchor.witness(facts)  # MLflow is still importing itself
    assert tracker.finish().state == "going on"
    (left,) = waiting(folder.root)
    assert (left.error, list(left.looks)) == ("", looks)
    assert tracker.outbox.process.wait(120) == 0
    assert list(waiting(folder.root)) == []
    assert sorted(facts["look"] for facts in read_file(store.sqlite, "5d0c2f")) == ["1", "2"], "each was witnessed once"


@pytest.mark.slow
def test_a_hand_over_that_is_killed_loses_neither_run_nor_look(folder, store):
    tracker = Tracker(tracking(wait=0.0), folder)
    (anchor,) = tracker.anchors
    anchor.witness({"testset": "5d0c2f", "look": "1"})
    assert tracker.finish().state == "going on"
    tracker.outbox.process.send_signal(signal.SIGKILL)
    tracker.outbox.process.wait(60)
    assert len(list(waiting(folder.root))) == 1
    with ThreadPoolExecutor(2) as two:  # and two that write it at once take turns
        done = list(two.map(lambda _: sync(folder, store), range(2)))
    assert sorted(one.written for one in done) == [0, done[0].written + done[1].written]
    assert [facts["look"] for facts in read_file(store.sqlite, "5d0c2f")] == ["1"]
    assert list(waiting(folder.root)) == []


@pytest.mark.slow
def test_a_replay_clears_the_note(folder, store):
    note_pending(folder.path, "auto", "gone")
    sync(folder, store)
    assert list(waiting(folder.root)) == []


@pytest.mark.slow
def test_a_note_that_cannot_be_written_ends_no_study_that_is_on_record(folder, store, caplog):
    (folder.path / NOTE).mkdir()  # as on a full disk: nothing can be put in its place
    tracker = Tracker(tracking(), folder)
    assert tracker.finish().state in ("recorded", "failed")  # the folder cannot be cleared away either
    assert "cannot write outbox.json" in caplog.text
