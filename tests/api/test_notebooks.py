"""The notebooks of examples/ are executed; a notebook shows a bar, works in a running event loop, keeps what is finished."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.extras import needs

nbformat, nbclient = needs("nbformat"), needs("nbclient")
needs("ipykernel")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))
STUDY = (
    "import numpy as np, pandas as pd, modelsel\n"
    "rng = np.random.default_rng(0)\n"
    "frame = pd.DataFrame({'x': rng.normal(size=90), 'y': rng.choice(['a', 'b'], 90)})\n"
    "study = {'target': 'y', 'space': ['naive_bayes', 'knn', 'cart'], 'tracking': 'off', 'final_test': False}\n"
)


@pytest.fixture(autouse=True)
def _the_kernel_finds_this_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def executed(notebook: Any, folder: Path) -> Any:
    nbclient.NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


def made(*cells: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def shown(notebook: Any) -> str:
    return "".join(str(output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(path: Path, folder: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "examples are kept without outputs"
    executed(notebook, folder)


def test_there_are_three_examples() -> None:
    assert [path.stem for path in EXAMPLES] == ["a_peek_caught", "first_study", "instead_of_grid_search"]


@pytest.mark.slow
def test_a_notebook_shows_a_bar_and_the_outcome_and_has_a_running_loop(folder: Path) -> None:
    loop = "import asyncio\nassert asyncio.get_running_loop().is_running()\n"
    kept = "from modelsel.api.run import Notebook\nNotebook.__exit__ = lambda *_: None  # else the bar goes at the end\n"
    said = shown(executed(made(STUDY, f"{loop}{kept}modelsel.run(frame, **study)"), folder))
    assert "<progress max=" in said
    assert "modelsel-card" in said
    assert " cells, best so far" not in said.replace("<small>", "").split("<progress")[0]  # no lines beside the bar


@pytest.mark.slow
def test_an_interrupted_cell_leaves_what_is_finished(folder: Path) -> None:
    stop = (
        "from modelsel.api.run import Notebook\n"
        "seen = []\n"
        "def impatient(self, cells=1, best=None, failures=0):\n"
        "    seen.append(cells)\n"
        "    if len(seen) > 5: raise KeyboardInterrupt\n"
        "Notebook.advance = impatient\n"
    )
    with pytest.raises(nbclient.exceptions.CellExecutionError) as raised:
        executed(made(STUDY, f"{stop}modelsel.run(frame, **study)"), folder)
    assert raised.value.ename == "KeyboardInterrupt"
    assert "cells were found in a journal" in shown(executed(made(STUDY, "modelsel.run(frame, **study)"), folder))
