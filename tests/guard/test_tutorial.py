"""The commands of the guard's pages run as typed, and the peek of the tutorial is seen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "guard"


def commands(page: str) -> list[tuple[str, int]]:
    """Lines after `$ ` with the exit code that is promised."""
    lines = [line for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    pattern = re.compile(r"\$ (.*?)(?:\s+# exit (\d+))?$")
    return [(found[1], int(found[2] or 0)) for line in lines if (found := pattern.match(line))]


@pytest.mark.slow
def test_the_tutorial_happens_as_it_is_told(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "MODELSEL_HOME": str(tmp_path / "home"), "PATH": path}
    (tmp_path / "work").mkdir()
    said = []
    for command, expected in commands((PAGES / "tutorial.md").read_text("utf-8")):
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        said.append(done.stdout)
    assert len(said) == 7
    assert "1st look" in said[0]
    assert "replay" in said[1]
    assert "G012" in said[2]
    assert "G020" in said[3]
    assert "G021" in said[3]
    assert "To quote" in said[5]


def test_every_finding_that_the_pages_name_exists() -> None:
    from modelsel.guard._flags import CATALOGUE

    named = {code for page in PAGES.glob("*.md") for code in re.findall(r"\bG0\d\d\b", page.read_text("utf-8"))}
    assert named <= CATALOGUE.keys()


def test_the_table_of_the_reviewers_page_is_what_the_certificate_says() -> None:
    from modelsel.statistics import prices
    from modelsel.statistics.certificate import Standing, interval

    page = (PAGES / "reviewer.md").read_text("utf-8")
    for look in (1, 2, 10, 100):
        cells, foreseen = [], prices.predicted_grid(10, 100, 2000, 0.1, 2000)
        for price, counts in ((prices.full(2000), (200, 200)), (foreseen, (190, 209)), (0.0, (200, 200))):
            low, high = interval(*counts, 2000, Standing(look, (look - 1) * price).nats(0.05))
            cells.append(f"[{low:.3f}, {high:.3f}]".replace("0.", "."))
        assert f"| {look} | {' | '.join(cells)} |" in page
