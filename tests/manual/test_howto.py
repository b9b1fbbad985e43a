"""The commands and the Python of the landing page, of how-tos and of pages about settings run as typed, in order."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    DOCS / "index.md",
    *sorted(set((DOCS / "howto").glob("*.md")) - {DOCS / "howto" / "cluster.md"}),  # typed by tests/flow/test_clusters_page.py
    *(DOCS / f"{name}.md" for name in ("thresholds", "calibration", "explanations", "export", "measures", "schemes", "tables")),
]
BLOCK = re.compile(r"^( *)```(console|python)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
GIVEN = {"grid_search.md": "from sklearn.datasets import load_wine\nX, y = load_wine(return_X_y=True)\n"}


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of what a page lets one type."""
    return [
        (found[2], re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE))
        for found in BLOCK.finditer(page.read_text("utf-8"))
    ]


def run(language: str, text: str, given: str) -> tuple[bool, list[str], str]:
    """Type a block; return the first that does not end as its comment says, or none."""
    if language == "python":
        raised = re.search(r"# raises: (\S+)$", text, re.MULTILINE)
        went, words, said = _typed([sys.executable, "-c", given + text], 1 if raised else 0)
        return went and (raised is None or raised[1] in said), words, said
    for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        expected = re.search(r"# exit (\d)$", line)
        went = _typed(["bash", "-c", line], int(expected[1]) if expected else 0)
        if not went[0]:
            return went
    return True, [], ""


def _typed(words: list[str], code: int) -> tuple[bool, list[str], str]:
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode == code, words, f"exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def loans() -> str:
    """A table of two classes that hang on income and age."""
    draw = random.Random(1)
    people = [(draw.randint(18, 80), draw.gauss(40, 12), draw.choice("nesw"), draw.choice("fm")) for _ in range(240)]
    rows = [
        f"{age},{income:.2f},{region},{sex},{int(draw.random() < (0.7 if income < 32 else 0.1))}"
        for age, income, region, sex in people
    ]
    return "\n".join(["age,income,region,sex,default", *rows, ""])


def installed(place: Path, page: str, code: str = "") -> None:
    """Install the plug-in that a page declares: `code`, else the page's first Python."""
    text = (DOCS / "howto" / page).read_text("utf-8")
    code = code or blocks(DOCS / "howto" / page)[0][1]
    group, name, target = re.findall(r'^\[project\.entry-points\."(modelsel\.\w+)"\]\n(\w+) = "(.*)"$', text, re.MULTILINE)[0]
    module, _, cls = target.partition(":")
    file, info = place / f"{module.replace('.', '/')}.py", place / f"{name}-1.0.dist-info"
    file.parent.mkdir(parents=True, exist_ok=True)
    info.mkdir()
    (file.parent / "__init__.py").touch()
    file.write_text(re.sub(r"^class \w+", f"class {cls}", code, count=1, flags=re.MULTILINE))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `loans.csv`, new rows without labels, and the plug-ins that pages declare, installed."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "loans.csv").write_text(loans())
    (work / "new.csv").write_text("\n".join(line.rpartition(",")[0] for line in loans().splitlines()[:21]) + "\n")
    installed(tmp_path / "installed", "own_distance.md", (DOCS.parent / "modelsel/distance/manhattan.py").read_text("utf-8"))
    installed(tmp_path / "installed", "own_criterion.md")
    paths = [str(tmp_path / "installed"), str(DOCS.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(work)
    return work


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_in_order(page: Path, scratch: Path) -> None:
    typed = blocks(page)
    for language, text in typed:
        went, words, said = run(language, text, GIVEN.get(page.name, "") + _before(typed, text))
        assert went, f"{words}: {said}"


def _before(typed: list[tuple[str, str]], text: str) -> str:
    """Imports of the page's blocks above: a reader types on in one session."""
    texts = [block for language, block in typed if language == "python"]
    above = texts[: texts.index(text)] if text in texts else []
    return "".join(line + "\n" for block in above for line in block.splitlines() if line.startswith(("import ", "from ")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_command_hides_in_a_block_that_is_not_run(page: Path) -> None:
    rest = BLOCK.sub("", page.read_text("utf-8"))
    assert re.findall(r"^(?: {4}|\$ )?(?:\$ )?modelsel [a-z].*", re.sub(r"`[^`\n]+`", "", rest), re.MULTILINE) == []


def test_a_block_that_fails_is_found(scratch: Path) -> None:
    assert run("console", "$ true\n", "")[0]
    assert not run("console", "$ true\n$ exit 3\n", "")[0]
    assert run("console", "$ (exit 4)  # exit 4\n", "")[0]
    assert not run("console", "$ true  # exit 4\n", "")[0]
    assert not run("python", "1 / 0", "")[0]
    assert run("python", "1 / 0  # raises: ZeroDivisionError", "")[0]
    assert not run("python", "1 / 0  # raises: KeyError", "")[0]
    assert not run("python", "1 / 1  # raises: ZeroDivisionError", "")[0]
