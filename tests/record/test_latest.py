"""`latest` points to the newest run, whatever stands in its place."""

import shutil
from pathlib import Path

import pytest

from modelsel.record.folder import LATEST, RunFolder


@pytest.mark.parametrize("kind", ["nothing", "link", "folder of a run", "line of text"])
def test_a_run_begins_and_latest_is_it(tmp_path: Path, kind: str) -> None:
    first = RunFolder.create(tmp_path, "s").path
    (first / "mark").write_text("first")
    link = tmp_path / LATEST
    if kind != "link":
        link.unlink()
    if kind == "folder of a run":
        shutil.copytree(first, link)  # as `cp -rL runs elsewhere` leaves it
    elif kind == "line of text":
        link.write_text(first.relative_to(tmp_path).as_posix())
    second = RunFolder.create(tmp_path, "s").path
    assert RunFolder.open(LATEST, tmp_path).path == second.resolve()
    aside = [path for path in tmp_path.iterdir() if path.name.startswith("latest_copied")]
    assert [(path / "mark").read_text() for path in aside] == ["first"] * (kind == "folder of a run")  # nothing is deleted
