"""Four questions of a newcomer, answered from the tree alone: one file bears the word, and it is what runs when it happens."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import positions
from modelsel.learner.tree import Tree
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.runner.execution.executors import Pool
from modelsel.tree import cutting
from tests.doubles import Double, candidates, spread
from tests.guard.studies import Study, numbers
from tests.runner.studies import study

PACKAGE = Path(__file__).resolve().parents[2] / "modelsel"


def file_of(word: str) -> str:
    """The one file of the package that has the word in its name, by whole words."""
    found = [path for path in PACKAGE.rglob("*.py") if f"_{path.stem}_".find(f"_{word}_") >= 0]
    exact = [path for path in found if path.stem == word] or found
    assert len(exact) == 1, exact
    return str(exact[0].relative_to(PACKAGE))


@contextmanager
def running() -> Iterator[set[str]]:
    """Gather the files of the package whose functions run within the block, in this thread."""
    seen: set[str] = set()

    def note(frame: FrameType, _event: str, _argument: Any) -> None:
        if frame.f_code.co_flags & CO_OPTIMIZED:  # a function's, not that of a module which is imported now
            seen.add(frame.f_code.co_filename)

    before, own = sys.getprofile(), str(PACKAGE)
    sys.setprofile(note)
    files: set[str] = set()
    try:
        yield files
    finally:
        sys.setprofile(before)
        files |= {str(Path(name).relative_to(own)) for name in seen if name.startswith(own)}


def look(folder: Path) -> None:
    one = Study(numbers(), folder)
    gate, sealing = one.gate(), one.sealing()
    assert gate.look(one.request(sealing)).price > 0


def cell(folder: Path) -> None:
    assert study(folder, spread(2)).status == ("ok", "ok")


def crash(folder: Path) -> None:
    some = (*spread(3), *candidates(Double(cut=9.5, deed="kill")))
    results = study(folder, some, pool=Pool("processes", 1), folds=2)
    assert results.status == ("ok", "ok", "ok", "crashed")


@pytest.mark.parametrize(
    ("word", "place", "happens"),
    [
        ("prices", "statistics", look),  # where is a look priced?
        ("cell", "runner/evaluation", cell),  # where is a cell computed?
        ("crash", "runner/execution", crash),  # where is a crashed batch bisected?
    ],
)
def test_a_place_is_found_by_its_word_and_is_what_runs(
    word: str, place: str, happens: Callable[[Path], None], tmp_path: Path
) -> None:
    with running() as files:
        happens(tmp_path)
    assert file_of(word) in files
    assert file_of(word).startswith(f"{place}/")


def test_weakest_links_are_cut_by_the_kernel_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled loop leaves no trace in a profile: asked is which kernel the pruner takes."""
    asked: list[str] = []
    load = cutting.load
    monkeypatch.setattr(cutting, "load", lambda name: asked.append(name) or load(name))
    task = numbers(80)
    Tree(pruner=CostComplexity(alpha=0.02)).fit(task, positions(task), np.random.default_rng(0))
    assert asked == ["weakest_links"]
    assert file_of("weakest_links") == "kernels/trees/weakest_links.py"
