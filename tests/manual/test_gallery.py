"""The gallery: every example has a title, words, a picture, and uses what is public alone. The build of the site runs them."""

import ast
import re
from pathlib import Path

import pytest

import modelsel

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.rglob("*.py"))
SECTIONS = sorted(path for path in GALLERY.iterdir() if path.is_dir() and path.name != "__pycache__")
OTHERS = {"matplotlib.pyplot", "numpy", "pandas", "sklearn", "json", "zipfile"}


def faults(text: str) -> list[str]:
    """What an example lacks, or has too much of."""
    tree = ast.parse(text)
    head, _, words = (ast.get_docstring(tree) or "").partition("\n")
    found = [] if re.match(r"=+\n\n\S", words) and len(words.split("\n")[0]) == len(head) else ["no title with words below"]
    found += [] if ".save(" in text or "plt.subplots(" in text else ["no picture"]
    found += [] if "# %%" in text else ["one block"]
    return found + [f"{name} is not public" for name in _private(tree)]


def _private(tree: ast.Module) -> list[str]:
    """Names that an example has from modelsel, or a package, though no reader could rely on them."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found += [] if (node.module or "").partition(".")[0] in OTHERS else [str(node.module)]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name not in OTHERS | {"modelsel"}]
        elif isinstance(node, ast.Attribute):
            ours = isinstance(node.value, ast.Name) and node.value.id == "modelsel" and node.attr not in dir(modelsel)
            found += [node.attr] if ours or node.attr.startswith("_") else []
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_has_a_title_words_a_picture_and_nothing_private(path: Path) -> None:
    assert faults(path.read_text("utf-8")) == []


def test_there_are_twenty_and_every_section_has_a_header() -> None:
    assert len(EXAMPLES) >= 20
    assert all((section / "GALLERY_HEADER.rst").exists() for section in SECTIONS)
    text = (ROOT / "docs" / "gallery_pages.py").read_text("utf-8")
    assert all(f'"{section.name}"' in text for section in SECTIONS)


HEAD = '"""\nTitle\n=====\n\nWords.\n"""\n# %%\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{HEAD}x = 1\n", "no picture"),
        ('"""Words."""\n# %%\nplt.subplots()\n', "no title with words below"),
        (HEAD.replace("# %%", "") + "plt.subplots()\n", "one block"),
        (f"{HEAD}from modelsel.study import run\nplt.subplots()\n", "modelsel.study is not public"),
        (f'{HEAD}modelsel.draw().save("a.svg")\n', "draw is not public"),
        (f'{HEAD}outcome._folder.save("a.svg")\n', "_folder is not public"),
    ],
)
def test_what_an_example_lacks_is_found(text: str, fault: str) -> None:
    assert faults(text) == [fault]
