"""A comparison as text, Markdown and page: golden files (MODELSEL_GOLDEN=write writes them), and what must not slip in."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from modelsel.comparison.runs import ComparedRun, EntryResult
from modelsel.core.errors import ConfigurationError
from modelsel.reporting.charts import Document, DocumentTable, document_markdown, document_text
from modelsel.reporting.comparison import check, first_screen, of_runs, page, write

GOLDEN = Path(__file__).with_name("golden")
LEARNERS = {"cart": 0.20, "knn": 0.22, "naive_bayes": 0.25, "majority": 0.5}


def run(number: int, learners: dict[str, float] | None = None, tried: int = 3) -> ComparedRun:
    """Ten folds whose scores go up and down a little, so that every figure is the same on every machine."""
    wave = np.array([np.sin(np.arange(10) * (k + 2) + number) / 40 for k in range(len(learners or LEARNERS))])
    best = tuple(
        EntryResult(name, f"id-{name}", float(np.mean(mean + w)), mean + w, tried, 5.0 + number, "leaves")
        for (name, mean), w in zip((learners or LEARNERS).items(), wave)
    )
    return ComparedRun(f"set{number}-all", f"set{number}", f"task{number}", f"folds{number}", "error", 1 / 9, best)


def compare(name: str, found: str) -> None:
    path = GOLDEN / name
    if os.environ.get("MODELSEL_GOLDEN") == "write":
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.slow
def test_data_sets_in_the_terminal_and_in_markdown() -> None:
    document = of_runs([run(i) for i in range(6)])
    compare("comparison_sets.txt", first_screen(document) + "\n")
    compare("comparison_sets.md", document_markdown(document, "sets.svg"))


def test_one_data_set_in_the_terminal() -> None:
    compare("comparison_folds.txt", document_text(of_runs([run(0)])) + "\n")
    compare("comparison_folds_screen.txt", first_screen(of_runs([run(0)])) + "\n")


def test_every_pair_has_a_line_above_the_axis() -> None:
    html = page(of_runs([run(0)]))
    height = float(re.search(r'viewBox="0 0 940 (\d+)"', html)[1])  # type: ignore[index]
    spans = [float(y) for y in re.findall(r'class="span" x1="[\d.]+" y1="([\d.]+)"', html)]
    assert len(spans) == 2 * 6
    assert max(spans) < height - 40


def test_a_learner_that_a_data_set_lacks_is_named() -> None:
    without = {name: mean for name, mean in LEARNERS.items() if name != "knn"}
    document = of_runs([run(0), run(1, without), run(2)])
    assert "Left out: knn, which has no score on set1." in document.sentences
    assert "knn" not in document.tables[0].head


@pytest.mark.slow
def test_settings_that_nobody_chose_are_not_said_to_be_chosen() -> None:
    said = [" ".join(of_runs([run(i, tried=tried) for i in range(3)]).sentences) for tried in (1, 2)]
    assert ["chosen for every fold" in words for words in said] == [False, True]


def test_the_page_is_whole_and_escapes_what_came_from_data() -> None:
    document = of_runs([run(i, {"<b>&": 0.1, "knn": 0.2}) for i in range(3)])
    html = page(document)
    assert "<b>&" not in html
    assert "&lt;b&gt;&amp;" in html
    assert not re.findall(r"""(?:src|href)=|@import|url\(""", html)
    assert html.count("<table>") == len(document.tables)
    assert html.count("<svg ") == 1


@pytest.mark.slow
def test_an_ending_says_what_is_written(tmp_path: Path) -> None:
    document = of_runs([run(i) for i in range(4)])
    assert [path.name for path in write(document, tmp_path / "a.html")] == ["a.html"]
    assert [path.name for path in write(document, tmp_path / "b.svg")] == ["b.svg"]
    assert [path.name for path in write(document, tmp_path / "c.md")] == ["c.md", "c.svg"]
    assert "](c.svg)" in (tmp_path / "c.md").read_text()
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "c.svg").read_bytes()
    with pytest.raises(ConfigurationError, match="MSEL-287"):
        check(tmp_path / "d.pdf")


def test_a_star_stands_by_every_best_of_a_row() -> None:
    table = DocumentTable("T", ("", "a", "b"), (("x", "1", "1"), ("y", "2", "3")), marked=frozenset({(0, 1), (0, 2), (1, 1)}))
    assert document_text(Document("d", "", (), (table,))).splitlines()[1:4] == ["    a   b", "x  1*  1*", "y  2*  3"]
