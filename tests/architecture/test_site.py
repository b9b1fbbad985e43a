"""The site: every page has a place in it, every internal link leads somewhere, its first study runs as typed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import needs

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "reference" not in path.relative_to(DOCS).parts[:-1])
LINKING = [*PAGES, *sorted(ROOT.glob("*.md")), *sorted((ROOT / "benchmarks").rglob("*.md"))]
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def listed(page: Path) -> set[Path]:
    """Pages that the page's lists of contents name."""
    entries = [line for block in TOCTREE.findall(page.read_text("utf-8")) for line in block.splitlines()]
    names = [line for line in entries if line and not line.startswith(":")]
    return {found.resolve() for name in names for found in page.parent.glob(f"{name}.md")}


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#{1,4} (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> list[str]:
    text = re.sub(r"```(?!\{).*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    dead = []
    for link in LINK.findall(text):
        place, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or (DOCS / "reference") in (page.parent / place).resolve().parents:
            continue  # another site, or a generated page: tests/manual/test_links.py looks for that one
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            dead.append(link)
    return dead


def test_every_page_is_reached_from_the_landing_page() -> None:
    reached, waiting = set(), {(DOCS / "index.md").resolve()}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= listed(page) & set(PAGES) - reached
    assert set(map(Path.resolve, PAGES)) == reached


def test_the_reference_stands_in_the_top_bar_and_guides_before_codes_in_a_search() -> None:
    (entries,) = [block.split()[1:] for block in TOCTREE.findall((DOCS / "index.md").read_text("utf-8"))]
    conf = (DOCS / "conf.py").read_text("utf-8")
    shown = int(re.search(r'"header_links_before_dropdown": (\d+)', conf)[1])
    assert {"guide", "reference"} <= set(entries[:shown])
    scorer = DOCS / "_static" / re.search(r'html_search_scorer = .*"(\w+\.js)"', conf)[1]
    rules = re.findall(r"/(.+)/\.test\(docname\)\) return score - (\d+)", scorer.read_text("utf-8"))
    less = {page: next((int(by) for rule, by in rules if re.search(rule.replace(r"\/", "/"), page)), 0) for page in (
        "guard/units", "reference/classes/Outcome", "reference/codes/G022", "errors/data", "findings")}  # fmt: skip
    assert less["guard/units"] == 0 < less["reference/classes/Outcome"] < less["reference/codes/G022"] == less["findings"]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One heading\n")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md#one-heading) [b](gone.md) [c](other.md#gone) `[d](gone.md)` [e](https://example.org/gone)\n")
    assert dead_links(page) == ["gone.md", "other.md#gone"]


@pytest.mark.slow
def test_the_first_study_runs_as_the_page_says(tmp_path: Path) -> None:
    text = (DOCS / "first_study.md").read_text("utf-8")
    commands = [line[2:] for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    python = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert len(commands) == 6
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for place, words in (("shell", [["bash", "-ec", "\n".join(commands)]]), ("python", [[sys.executable, "-c", python]])):
        (tmp_path / place).mkdir()
        home = {"MODELSEL_HOME": str(tmp_path / place / "home")}
        done = subprocess.run(*words, cwd=tmp_path / place, env={**environment, **home}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    needs("sphinx")
    needs("pydata_sphinx_theme")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    done = subprocess.run([*command, str(DOCS), str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "search.html").exists()
