"""What version 1.0 wrote is read as it was then, and what is written now is what it wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.extras import needs

needs("modelsel_exam")
from tests.figures.golden import make  # noqa: E402


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make.unpack(tmp_path_factory.mktemp("golden"))


def without_sums(said: dict[str, Any]) -> dict[str, Any]:
    """What was told, without the nats so far: a sum over the looks of other sets then, a running total of the table now."""
    lines = [line.split(" | ") for line in said.get("markdown", "").splitlines()]
    kept = "\n".join(" | ".join(cells[:7] + cells[8:] if len(cells) == 10 else cells) for cells in lines)
    return {**said, "markdown": kept} if "markdown" in said else said


@pytest.mark.slow
def test_ledgers_exams_runs_and_certificates_are_read_as_before(record: Path) -> None:
    wanted, found = json.loads((record / make.TOLD).read_text("utf-8")), make.tell(record)
    assert found.keys() == wanted.keys()
    for place, said in wanted.items():
        if place.endswith(".zip"):  # later verifiers check more
            (held, faults, unknown), now = said, found[place]
            assert (set(held) <= set(now[0]), now[1], set(unknown) <= set(now[2])) == (True, faults, True), place
        else:
            assert make.includes(without_sums(found[place]), without_sums(said)), place


@pytest.mark.slow
def test_the_same_looks_write_the_same_ledgers(record: Path, tmp_path: Path) -> None:
    make.build(tmp_path / "again")
    wanted, found = make.chains(record), make.chains(tmp_path / "again")
    assert found.keys() == wanted.keys()
    for place, entries in wanted.items():
        assert [name for name, _ in found[place]] == [name for name, _ in entries]
        for (name, now), (_, before) in zip(found[place], entries, strict=True):
            assert make.includes(now, before), f"{place} {name}"
