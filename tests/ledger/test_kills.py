"""A writer that is killed at any moment loses nothing that it had acknowledged."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import broken

WRITER = """
import os, sys
from modelsel.ledger.database.store import Ledger
ledger = Ledger.open(sys.argv[1], sys.argv[2])
index = sum(entry.replica == sys.argv[2] for entry in ledger.entries())
while True:
    entry = ledger.append("note", {"index": index})
    os.write(1, (entry.hash + "\\n").encode())
    index += 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(6, marks=pytest.mark.slow), pytest.param(200, marks=pytest.mark.soak)])
def test_kills_at_random_moments(tmp_path: Path, kills: int) -> None:
    url, chance = sqlite_url(tmp_path / "ledger.db"), random.Random(0)
    promised: set[str] = set()
    for turn in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, url, f"r{turn % 2}"], stdout=subprocess.PIPE, env=dict(os.environ)
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()  # it is writing now
        time.sleep(chance.random() * 0.15)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read()
        writer.wait()
        promised |= set((first + rest).decode().split("\n")[:-1])  # a last line without its end was not acknowledged
    entries = Ledger.open(url, "reader").entries()
    assert len(promised) >= kills
    assert promised <= {entry.hash for entry in entries}
    assert broken(entries) == []
    written = [(entry.replica, entry.facts["index"]) for entry in entries]
    assert len(written) == len(set(written))
