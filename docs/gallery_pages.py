"""How Sphinx makes the gallery: every example of `docs/gallery/` is run, alone, and its page shows what it printed and drew."""

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from modelsel.reporting import terminal

HERE = Path(__file__).parent
SOURCE, PAGES = HERE / "gallery", "examples"  # what is written by hand, and what is made of it
SECTIONS = ("choosing", "trees", "learners", "scores", "guard")
_SCRATCH = tempfile.TemporaryDirectory(prefix="modelsel-gallery-")


def settings() -> dict[str, Any]:
    """The settings of sphinx-gallery."""
    return {
        "examples_dirs": [str(_copied())],
        "gallery_dirs": [PAGES],
        "filename_pattern": r"\.py$",
        "subsection_order": _place,
        "within_subsection_order": "FileNameSortKey",
        "image_scrapers": ("matplotlib", saved_pictures),
        "reset_modules": ("matplotlib", alone),
        "capture_repr": ("_repr_html_", "__repr__"),
        "only_warn_on_example_error": True,  # and warnings are errors
        "remove_config_comments": True,
        "min_reported_time": 3600,
        "show_memory": False,
        "show_signature": False,
        "write_computation_times": False,
        "download_all_examples": False,
        "plot_gallery": "True",
    }


def _copied() -> Path:
    """The examples where they may leave files behind: they run in the folder that they stand in."""
    place = Path(_SCRATCH.name) / "gallery"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    return place


def _silent(_stream: Any = None) -> terminal.Lines:
    return terminal.Lines(io.StringIO())


def _place(section: str) -> int:
    return SECTIONS.index(Path(section).name)


def alone(_conf: dict[str, Any], _name: str | None) -> None:
    """Before each example: no runs beside it, a ledger of its own, and no progress among what it printed."""
    terminal.progress = _silent
    os.environ["MODELSEL_HOME"] = tempfile.mkdtemp(dir=_SCRATCH.name)
    for runs in (Path(_SCRATCH.name) / "gallery").glob("*/runs"):  # the copy's alone: a name may be one in the reader's folder
        shutil.rmtree(runs)


def saved_pictures(_block: Any, facts: dict[str, Any], conf: dict[str, Any]) -> str:
    """The SVG files that a block of an example has saved."""
    shown = []
    for drawn in sorted(Path(facts["src_file"]).parent.glob("*.svg")):
        place = Path(next(facts["image_path_iterator"])).with_suffix(".svg")
        shutil.move(drawn, place)
        shown.append(str(place))
    return figure_rst(shown, conf["src_dir"])
