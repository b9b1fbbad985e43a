"""The commands of the guard's pages run as typed, and the peek of the tutorial is seen."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import needs

PAGES = Path(__file__).resolve().parents[2] / "docs" / "guard"


def commands(page: str) -> list[tuple[str, int]]:
    """Lines after `$ ` with the exit code that is promised."""
    lines = [line for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    pattern = re.compile(r"\s*\$ (.*?)(?:\s+# exit (\d+))?$")
    return [(found[1], int(found[2] or 0)) for line in lines if (found := pattern.match(line))]


def typed(command: str, work: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """A command as a person types it."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "MODELSEL_HOME": str(home), "PATH": path}
    work.mkdir(exist_ok=True)
    return subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True, check=False)


def told(page: str, work: Path, home: Path) -> list[str]:
    """What each command of a page prints; each ends with the code that is promised."""
    said = []
    for command, expected in commands((PAGES / page).read_text("utf-8")):
        done = typed(command, work, home)
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        said.append(done.stdout)
    return said


@pytest.mark.slow
def test_the_tutorial_happens_as_it_is_told_and_the_reviewer_sees_it(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    said = told("tutorial.md", work, home)
    assert len(said) == 7
    assert "1st look" in said[0]
    assert "replay" in said[1]
    assert "G012" in said[2]
    assert "G021" in said[3]  # the gravest; of others there is a count
    (third,) = (work / "runs" / "third").glob("*/study.json")
    assert {"G020", "G021"} <= {one["code"] for one in json.loads(third.read_text("utf-8"))["findings"]}
    assert "To quote" in said[5]
    shown = told("reviewer.md", work, home)
    assert len(shown) == 4
    assert "In short" in shown[0]
    assert json.loads(shown[1])["ledger"]["intact"] is True
    assert (work / "audit.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.slow
def test_a_team_shares_ledger_and_key_as_its_page_says(tmp_path: Path) -> None:
    needs("psycopg")
    from sqlalchemy import create_engine, text

    from modelsel.ledger.database.store import Ledger
    from tests.ledger.postgresql import Server

    work, home, laptop = tmp_path / "work", tmp_path / "home", tmp_path / "laptop"
    look = "modelsel run dataset=iris scheme.folds=3 tracking=off"  # at wine the team's look would be the home's second
    assert typed(f"{look} space=[majority]", work, home).returncode == 0
    shutil.copytree(home / "keys", laptop / "keys")
    assert typed(f"{look} space=[naive_bayes]", tmp_path / "trip", laptop).returncode == 0
    (work / "laptop").mkdir()
    shutil.copy(laptop / "ledger.db", work / "laptop")
    page = (PAGES / "teams.md").read_text("utf-8")
    (settings,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (grants,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    with Server() as server:
        Ledger.open(server.url, "owner").close()
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            connection.execute(text("CREATE ROLE modelsel LOGIN"))
            for statement in filter(None, map(str.strip, grants.split(";"))):
                connection.execute(text(statement))
        (work / "conf" / "guard").mkdir(parents=True)
        address = server.url.replace("ledger@", "modelsel@")
        settings = settings.replace("postgresql://modelsel@db.example.org/modelsel", address)
        (work / "conf" / "guard" / "team.yaml").write_text(settings, "utf-8")
        said = told("teams.md", work, home)
        kinds = [entry.kind for entry in Ledger.open(server.url, "reader").entries()]
    assert len(said) == 2
    assert "1st look" in said[0]
    assert kinds == ["seal", "selection", "intent", "reveal"]
    assert "superseded" in said[1]


def test_the_comparison_of_the_reviewers_page_is_what_the_benchmark_claims() -> None:
    from benchmarks.attacks.guard_evasions import ROWS

    page = (PAGES / "reviewer.md").read_text("utf-8")
    table = dict(
        re.findall(r"^\| (.+?) \| .+? \| (\S.*?) \|$", page.partition("## Beside")[2].partition("\n## ")[0], re.MULTILINE)
    )
    assert {name: claimed for name, _, claimed, _ in ROWS} == {name: said for name, said in table.items() if name != "attempt"}


def test_every_finding_that_the_pages_name_exists() -> None:
    from modelsel.guard.findings.base import catalogue

    named = {code for page in PAGES.glob("*.md") for code in re.findall(r"\bG0\d\d\b", page.read_text("utf-8"))}
    assert named <= catalogue().keys()


def test_the_table_of_widths_is_what_the_certificate_says() -> None:
    from modelsel.statistics import prices
    from modelsel.statistics.certificate import SpendingState, interval

    page = (PAGES / "measured.md").read_text("utf-8")
    for look in (1, 2, 10, 100):
        cells, foreseen = [], prices.predicted_grid(10, 100, 2000, 0.1, 2000)
        for price, counts in ((prices.full(2000), (200, 200)), (foreseen, (190, 209)), (0.0, (200, 200))):
            low, high = interval(*counts, 2000, SpendingState(look, (look - 1) * price).nats(0.05))
            cells.append(f"[{low:.3f}, {high:.3f}]".replace("0.", "."))
        assert f"| {look} | {' | '.join(cells)} |" in page
