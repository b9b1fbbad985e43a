"""Docstrings are plain statements: none is a question turned into a heading ("What a cell found out", "How a tree is cut")."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUESTION = re.compile(r"(what|how|where|why|which|who|whom|whose|when|whether)\b", re.IGNORECASE)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring in a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def questions(source: str) -> list[tuple[int, str]]:
    return [(line, text.splitlines()[0]) for line, text in docstrings(source) if QUESTION.match(text)]


def test_no_docstring_begins_with_a_question_word() -> None:
    files = sorted((ROOT / "modelsel").rglob("*.py"))
    found = {str(path.relative_to(ROOT)): asked for path in files if (asked := questions(path.read_text("utf-8")))}
    assert found == {}, "say what it is (A candidate's ...) or what it does (Return ...)"


def test_the_check_finds_a_question_and_leaves_a_statement() -> None:
    source = '"""What a cell found out."""\n\n\ndef least(values):\n    """Whatever is least."""\n'
    assert questions(source) == [(1, "What a cell found out.")]
