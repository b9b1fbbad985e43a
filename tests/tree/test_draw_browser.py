"""A tree of sixty leaves in a browser: what is folded, what the buttons do, and that the root stays in view."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import Feature, Task, positions
from modelsel.learner.tree import Tree
from modelsel.tree.draw import to_html

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
LOOK = """
<pre id="told"></pre><script>
const view = document.querySelector(".tree-view"), all = [...document.querySelectorAll(".node")];
const look = () => {
  const shown = all.filter((n) => !n.classList.contains("gone"));
  const boxes = shown.map((n) => n.querySelector(".box").getBoundingClientRect());
  const clash = boxes.some((a, i) => boxes.some((b, j) => i < j
    && a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom - .5 && b.top < a.bottom - .5));
  const root = boxes[0], frame = view.getBoundingClientRect();
  return {
    ends: shown.filter((n) => n.matches(".leaf, .folded")).length, folded: shown.filter((n) => n.matches(".folded")).length,
    root: root.top >= frame.top && root.bottom <= frame.bottom && root.left >= frame.left,
    letters: parseFloat(getComputedStyle(document.querySelector(".branch")).fontSize) * boxes[0].width / 116,
    wide: document.querySelector("svg").getBoundingClientRect().width <= view.clientWidth + 1, clash,
  };
};
const press = (name) => { document.querySelector(`[data-act=${name}]`).click(); return look(); };
const told = { opened: look(), unfold: press("unfold"), fit: press("fit"), larger: press("larger"), fold: press("fold") };
const last = all.findLast((n) => n.matches(".folded") && !n.matches(".gone"));
last.dispatchEvent(new MouseEvent("click", { bubbles: true })); told.clicked = look();
last.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })); told.again = look();
document.getElementById("told").textContent = JSON.stringify(told);
</script>"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What stands on the page when it opens and after each button."""
    if BROWSER is None:
        pytest.skip("no browser here")
    page = tmp_path_factory.mktemp("page") / "tree.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'><body style='width: 1000px'>{to_html(sixty())}{LOOK}", "utf-8")
    return json.loads(unescape(re.search(r'<pre id="told">(.*?)</pre>', dumped(page))[1]))


def dumped(page: Path) -> str:
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1100,900",
        f"--user-data-dir={page.parent}",
    ]
    done = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout


def sixty() -> Any:
    """Four levels by five by three, the class of each by their sum."""
    features = tuple(Feature(f"a rather long name {n}", "nominal", tuple(f"level {i}" for i in range(n))) for n in (4, 5, 3))
    values = np.indices((4, 5, 3)).reshape(3, -1).T.astype(float)
    task = Task(
        name="levels", features=features, values=values, rows=np.arange(60), classes=("a", "b", "c"),
        target=(values.sum(axis=1) % 3).astype(np.int32),
    )  # fmt: skip
    model = Tree().fit(task, positions(task), np.random.default_rng(0))
    assert model.n_leaves == 60
    return model.cut


@pytest.mark.slow
def test_it_opens_folded_to_what_can_be_read_with_the_root_in_view(told: dict[str, Any]) -> None:
    opened = told["opened"]
    assert 12 < opened["ends"] <= 24
    assert opened["folded"] > 0
    assert opened["root"]
    assert opened["letters"] >= 9
    assert not opened["clash"]


@pytest.mark.slow
def test_buttons_unfold_all_sixty_fit_the_width_and_fold_again(told: dict[str, Any]) -> None:
    assert (told["unfold"]["ends"], told["unfold"]["folded"], told["unfold"]["root"]) == (60, 0, True)
    assert told["fit"]["wide"]
    assert told["larger"]["letters"] == pytest.approx(1.25 * told["fit"]["letters"], rel=1e-3)
    assert told["fold"]["ends"] <= 12
    assert told["fold"]["root"]
    assert not any(told[name]["clash"] for name in ("unfold", "fit", "larger", "fold"))


@pytest.mark.slow
def test_a_click_unfolds_one_node_and_a_key_folds_it_again(told: dict[str, Any]) -> None:
    assert told["clicked"]["folded"] == told["fold"]["folded"] - 1
    assert told["clicked"]["ends"] > told["fold"]["ends"]
    assert told["again"]["ends"] == told["fold"]["ends"]
