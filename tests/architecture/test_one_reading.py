"""Cells are compared with words for missing, truth values and decimal signs in one place: `modelsel.dataset`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APART = (
    "modelsel/core/reading.py",  # what a reading holds where nobody says otherwise
    "modelsel/dataset",
    "modelsel/config",  # settings as people type them
    "modelsel/core/proposal.py",  # and as they are proposed
    "modelsel/api/commands/settle.py",  # and written into a file
    "modelsel/cli/sweep.py",  # and those of sweepers
    "modelsel/ledger/rows",  # the identity of a row is older than any reading, and stays
)
WORDS = {"?", "true", "True", "TRUE", "false", "False", "FALSE", "NA", "N/A", "na", "n/a", "#n/a", "<na>", "nan", "NaN", "null"}
MODULES = [
    path for place in ("modelsel", "packages") for path in (ROOT / place).rglob("*.py")
    if not str(path.relative_to(ROOT)).startswith(APART) and not any(part.endswith("tests") for part in path.parts)
]  # fmt: skip


def compared(tree: ast.AST) -> Iterator[str]:
    """Lines that compare a value with such a word, gather words to compare with, or change a decimal sign."""
    for node in ast.walk(tree):
        inner = (
            node.comparators if isinstance(node, ast.Compare) else node.elts if isinstance(node, ast.Tuple | ast.Set) else []
        )
        words = [one.value for part in inner for one in ast.walk(part) if isinstance(one, ast.Constant) and one.value in WORDS]
        asked = isinstance(node, ast.Compare) or "?" in words or len(words) > 1
        sign = isinstance(node, ast.Call) and [one.value for one in node.args if isinstance(one, ast.Constant)] == [",", "."]
        if (words and asked) or sign:
            yield f"line {node.lineno}: {ast.unparse(node)[:80]}"


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in MODULES])
def test_no_module_outside_the_data_sets_reads_a_cell_by_words_of_its_own(path: Path) -> None:
    assert not list(compared(ast.parse(path.read_text("utf-8"))))


def test_such_a_comparison_is_found() -> None:
    for line in ("cell in ('', '?')", "word == 'true'", "text.replace(',', '.')", "MISSING = ('', '?')"):
        assert list(compared(ast.parse(line))), line
