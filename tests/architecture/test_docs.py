"""The worked examples of the documentation are run, and every criterion, policy and pruner has one."""

import doctest
import re
from pathlib import Path

import pytest

from modelsel.config.schema import kinds
from modelsel.tree.growing.growth import MISSING, NOMINAL
from modelsel.tree.pruning import StoppingLimits
from tests.extras import needs

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "```pycon" in path.read_text("utf-8"))


def examples(page: str) -> str:
    """The page's pycon blocks, every line where it stood."""
    inside, kept = False, []
    for line in page.splitlines():
        fence = line.startswith("```")
        kept.append(line if inside and not fence else "")
        inside = line.startswith("```pycon") if fence else inside
    return "\n".join(kept) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_example_of_a_page_runs_as_it_stands(path: Path) -> None:
    text = examples(path.read_text("utf-8"))
    if "import optuna" in text:
        needs("optuna")
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert test.examples
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def _sections(page: str) -> dict[str, str]:
    """Words of each heading to what stands under it."""
    parts = re.split(r"^#{2,3} (.*)$", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {word: body for heading, body in zip(parts[::2], parts[1::2]) for word in heading.split()}


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *(("trees/criteria.md", name) for name in kinds("criterion")),
        *(("trees/missing_values.md", name) for name in MISSING),
        *(("trees/splits.md", name) for name in ("threshold", *NOMINAL)),
        *(("trees/stopping.md", name) for name in ("min_leaf", *StoppingLimits._fields)),
        *(("trees/leaves.md", name) for name in ("frequency", "laplace", "m_estimate", "costs", "weights")),
        *(("pruning.md", name) for name in kinds("pruner")),
    ],
)
def test_each_has_a_section_with_a_worked_example(page: str, name: str) -> None:
    assert ">>> " in _sections(page)[name]
