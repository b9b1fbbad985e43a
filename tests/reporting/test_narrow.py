"""The page on a narrow window, and charts that say no more than they know."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from modelsel.reporting import page
from modelsel.reporting.charts import NARROW, WIDE, Plot
from modelsel.reporting.sections import slices
from modelsel.reporting.sections.view import View

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
LOOK = """<pre id="told"></pre><script>
document.querySelectorAll(".folded > details").forEach((one) => { one.open = true; });
const shown = (e) => e.getBoundingClientRect().width > 0;
const figures = [...document.querySelectorAll("figure")].filter(shown);
document.getElementById("told").textContent = JSON.stringify({
  window: innerWidth, page: document.scrollingElement.scrollWidth,
  figures: figures.length,
  wide: figures.filter((f) => f.scrollWidth > f.clientWidth + 1).length,
  outside: [...document.querySelectorAll("figure svg text")].filter(shown).filter((t) => {
    const box = t.getBoundingClientRect(), frame = t.closest("figure").getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1;
  }).map((t) => t.textContent),
  narrowest: Math.min(...[...document.querySelectorAll("td:first-child")].filter(shown).filter((t) =>
    t.textContent.trim().length > 3).map((t) => t.getBoundingClientRect().width)),
  small: Math.min(...[...document.querySelectorAll("figure.small svg text")].filter(shown).map((t) =>
    parseFloat(getComputedStyle(t).fontSize) * t.closest("svg").getBoundingClientRect().width
    / t.closest("svg").viewBox.baseVal.width)),
});</script>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no browser here")
@pytest.mark.parametrize("width", [360, 1100])
def test_no_chart_is_cut_off(width: int, finished: Any, recorded: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page.render(recorded(finished)).replace("</body>", f"{LOOK}</body>"), "utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]
    done = subprocess.run([*command, f"--user-data-dir={tmp_path}", "--dump-dom", file.as_uri()], capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout)
    assert found
    told = json.loads(unescape(found[1]))
    assert told["page"] <= told["window"]
    assert told["figures"] >= 4
    assert told["narrowest"] >= 40  # pixels: no name is broken letter by letter
    assert (told["wide"], told["outside"]) == (0, [])
    if width < 500:
        assert told["small"] >= 9  # pixels


def test_names_stand_above_the_rows_of_a_narrow_chart() -> None:
    wide, narrow = Plot(940, 100, ""), Plot(330, 100, "")
    name = "c45 " * 20
    assert WIDE.name(wide, 0, 1, name, "name") == 42
    assert NARROW.name(narrow, 0, 1, name, "name") == 68
    assert 'y="46"' in wide.parts[0]
    assert 'y="59"' in narrow.parts[0]
    assert "…" in wide.parts[0]


def test_marks_stand_at_their_number_and_aside_of_words(small: Any, recorded: Any) -> None:
    """Three candidates of equal k would be read as k = 2.8 and 3.2 if they stood aside."""
    view = View(recorded(small.finished()))
    numbers, words = ("3", "5"), ("gini", "entropy")
    for values, aside in ((numbers, False), (words, True)):
        rows = [replace(view.ranked[0], id=f"{i:016x}", parameters={"k": values[i % 2]}) for i in range(8)]
        drawn = slices._slice(view, view.entries[0], "k", rows)
        marks = re.search(r'<path class="mark[^"]*faint" d="([^"]*)"', drawn)
        assert marks
        places = {float(x) for x in re.findall(r"M([\d.]+) ", marks[1])}
        assert (len(places) > 2) is aside


def test_charts_of_entries_that_lost_are_folded_away(small: Any, recorded: Any) -> None:
    study = small.finished()
    view = View(recorded(study))
    section = slices.section(view)
    winner = view.winner.label
    assert all(panel["title"].startswith(f"{winner}:") for panel in section["slices"])
    html = page.render(recorded(study))
    assert ("Charts of entries that lost" in html) is bool(section["lost"])


def test_a_losing_entry_fills_no_screen(finished: Any, recorded: Any) -> None:
    view = View(recorded(finished))
    section = slices.section(view)
    near = {row.label for row in view.ranked if row.id in {view.winner.id, *view.outcome.winner["indistinguishable"]}}
    assert {panel["title"].split(":")[0] for panel in section["slices"]} <= near
    assert not {panel["title"].split(":")[0] for panel in section["lost"]} & near
    assert len(section["slices"]) + len(section["lost"]) + section["left_out"] == len(slices.panels(view))
