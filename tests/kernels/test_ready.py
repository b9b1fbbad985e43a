"""Kernels that a builder compiled are used where they were made from the same, and are passed over in silence elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.kernels import ready
from modelsel.kernels.compiler import is_wanted

pytestmark = pytest.mark.skipif(not is_wanted(), reason="twins were chosen")
BUILD = "from modelsel.kernels.compiler import load; from modelsel.kernels.ready import mark; assert load('preorder'); mark()"
USE = """
import sys
from pathlib import Path
import numpy as np
from modelsel.kernels import ready
from modelsel.kernels.compiler import load
ready.PLACE = Path(sys.argv[1])
from modelsel.kernels.layout import RECORD
print(load("preorder").preorder(np.zeros((1, RECORD), np.int64)).tolist(), ready.usable())
"""


def ran(script: str, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings}
    return subprocess.run(
        [sys.executable, "-c", script, *words], env=environment, capture_output=True, text=True, check=True, timeout=240
    )


def built(place: Path, cache: Path) -> None:
    place.mkdir()
    ran(
        BUILD, MODELSEL_READY_KERNELS=str(place), MODELSEL_CACHE=str(cache), NUMBA_CPU_NAME=ready.MACHINE, NUMBA_CPU_FEATURES=""
    )


def kept(cache: Path) -> list[Path]:
    return list(cache.rglob("*.nbi"))


def able() -> bool:
    features = ready.binding.get_host_cpu_features()
    return all(features.get(each, False) for each in ready.NEEDS)


@pytest.mark.slow
@pytest.mark.skipif(not able(), reason="this processor cannot run what a builder makes")
def test_what_came_along_is_used_and_nothing_is_compiled(tmp_path: Path) -> None:
    place, cache = tmp_path / "ready", tmp_path / "cache"
    built(place, tmp_path / "builder")
    assert any(place.glob("preorder.*.nbc"))
    assert not kept(tmp_path / "builder")
    used = ran(USE, str(place), MODELSEL_CACHE=str(cache))
    assert (used.stdout, used.stderr) == ("[0] True\n", "")
    assert not kept(cache)


@pytest.mark.slow
@pytest.mark.skipif(not able(), reason="this processor cannot run what a builder makes")
def test_what_was_made_from_something_else_or_is_damaged_is_compiled_here(tmp_path: Path) -> None:
    place = tmp_path / "ready"
    built(place, tmp_path / "builder")
    for machine_code in place.glob("preorder.*.nbc"):
        machine_code.write_bytes(machine_code.read_bytes()[:-1])
    damaged = ran(USE, str(place), MODELSEL_CACHE=str(tmp_path / "first"))
    assert damaged.stdout == "[0] True\n"
    assert "damaged" in damaged.stderr
    assert kept(tmp_path / "first")
    (place / "made_from").write_text("another Numba", "ascii")
    other = ran(USE, str(place), MODELSEL_CACHE=str(tmp_path / "second"))
    assert other.stdout == "[0] False\n"
    assert "compiling 'preorder'" in other.stderr


def test_a_processor_that_lacks_something_compiles_for_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ready, "PLACE", tmp_path)
    (tmp_path / "made_from").write_text(ready.made_from(), "ascii")
    features = dict.fromkeys(ready.NEEDS, True)
    for lacking in (None, *ready.NEEDS):
        monkeypatch.setattr(ready.binding, "get_host_cpu_features", lambda lacking=lacking: {**features, lacking: False})
        ready.usable.cache_clear()
        assert ready.usable() is (lacking is None)
    ready.usable.cache_clear()
