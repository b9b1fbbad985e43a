"""A disk that fills up at any moment of a study: exit 6, one clear message, and with room again finished cells are kept."""

import csv
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modelsel.core.errors import OK, UNWRITABLE

STUDY = ("run", "dataset=wine", "space=[cart,knn]", "final_test=false", "scheme.folds=4", "measure=log_loss")
QUICK = (30, 75)  # percent of what the study needs
LEVELS = [pytest.param(level, marks=() if level in QUICK else pytest.mark.slow) for level in (5, 15, *QUICK, 45, 60, 90, 97)]
PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], None]]:
    """`disk(bytes)` makes `work/runs` a disk of that size, its contents kept (the superuser may mount one)."""
    runs = tmp_path / "work" / "runs"

    def sized(most: int) -> None:
        again = ["-o", f"remount,size={most}"] if os.path.ismount(runs) else ["-t", "tmpfs", "-o", f"size={most}"]
        runs.mkdir(parents=True, exist_ok=True)
        source = [] if os.path.ismount(runs) else ["tmpfs"]
        done = subprocess.run(["mount", *again, *source, str(runs)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("no disk of a given size can be mounted here")

    yield sized
    if os.path.ismount(runs):
        subprocess.run(["umount", str(runs)], check=True)


def table(folder: Path) -> list[dict[str, str]]:
    with open(folder / "candidates.csv") as lines:
        return list(csv.DictReader(lines))


def used(folder: Path) -> int:
    """Bytes that a disk of pages needs for the folder."""
    paths = [folder, *folder.rglob("*")]
    return sum(PAGE if path.is_dir() else -(-path.lstat().st_size // PAGE) * PAGE for path in paths)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_a_study_on_a_disk_that_fills_up_says_so_and_goes_on_where_it_stopped(modelsel, disk, tmp_path, level):
    assert modelsel(*STUDY).code == OK
    runs = tmp_path / "work" / "runs"
    whole = table(runs / "latest")
    needed = used(runs)
    runs.rename(tmp_path / "undisturbed")
    disk(needed * level // 100)
    stopped = modelsel(*STUDY)
    assert stopped.code == UNWRITABLE, (stopped.out, stopped.err)
    assert "No space left on device" in stopped.err
    assert len(re.findall(r"MSEL-6\d\d: ", stopped.err)) == 1
    assert "Traceback" not in stopped.err
    disk(50 << 20)
    again = modelsel(*STUDY)
    assert again.code == OK, again.err
    assert table(runs / "latest") == whole
    if level >= 75:
        assert "cells were found in a journal" in again.err
