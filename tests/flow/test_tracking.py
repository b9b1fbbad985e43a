"""A study beside a tracker that never answers: ten seconds at most, the same choice, nothing lost."""

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from modelsel.record.mlflow.track import PATIENCE

SMALL = ("dataset=wine", "space=[cart,naive_bayes,majority]", "scheme.folds=3", "pool=sequential", "name=beside")
BUSY = 3.0  # seconds that a busy machine may add to two runs of a study


@pytest.mark.slow
def test_a_tracker_that_never_answers_costs_ten_seconds_in_all_and_is_made_whole_later(modelsel: Any) -> None:
    """Looks are witnessed there, the audit asks it, the study is recorded there: all waiting counts together."""
    began = time.monotonic()
    alone = modelsel("run", *SMALL, "tracking=off")
    seconds = time.monotonic() - began
    assert alone.code == 0, alone.err
    known = alone.outcome.winner
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tracking.uri=http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        beside = modelsel("run", *SMALL, "tracking=server", address)
        waited = time.monotonic() - began - seconds
    assert beside.code == 0, beside.err
    assert waited < PATIENCE + BUSY
    log = Path("runs/latest/study.log").read_text()
    assert "did not answer in time" in log
    assert "`modelsel sync" in log
    assert beside.outcome.winner == known
    store = Path("later.db").resolve()
    for found in (0, beside.outcome.candidates["distinct"]):
        made_whole = modelsel("sync", "latest", "--uri", f"sqlite:///{store}")
        assert made_whole.code == 0, made_whole.err
        assert f"{found} found there" in made_whole.out


def test_an_address_that_cannot_be_meant_is_refused_before_anything_is_computed(modelsel: Any) -> None:
    refused = modelsel("run", *SMALL, "tracking=server", "tracking.uri=htp://tracking.example")
    assert (refused.code, "MSEL-636" in refused.err) == (2, True)
    assert "'htp://tracking.example' is no address of a tracking store" in refused.err
    assert not list(Path("runs").glob("beside/*"))
