"""The oldest versions that are tested are those that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_floors_are_the_versions_of_make_oldest() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    floors = dict(re.match(r"([a-z0-9-]+)>=([\d.]+)", each).groups() for each in declared)  # type: ignore[union-attr]
    lines = (ROOT / ".ci" / "oldest.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned.keys() == floors.keys()
    for name, version in floors.items():
        assert (pinned[name] + ".").startswith(version + "."), name
