"""What only an extra brings is asked for before it is imported, so that its absence skips tests and says which extra."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
FILES = [path for place in ("tests", "packages") for path in sorted((ROOT / place).rglob("*test*/**/*.py"))]
ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
import modelsel

X = np.random.default_rng(0).normal(size=(60, 3)).round(1)
y = np.where(X[:, 0] > 0, "yes", "no")
"""
LIGHT = (
    ABSENT
    + """
print(*modelsel.classifier("cart", max_depth=1).fit(X, y).predict(X[:2]) == y[:2])
search = modelsel.SelectionCV({"cart": {"learner": "cart", "sweep": {"max_depth": [1, 2]}}, "knn": "knn"}, cv=3).fit(X, y)
print(search.best_score_ > 0.9, len(search.predict(X)))
"""
)
STUDY = ABSENT + 'modelsel.run((X, y), space="majority", tracking="off")'


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the package of every import statement."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module, *needed(node.module)]
        yield from ((node.lineno, name.partition(".")[0]) for name in names)


@cache
def needed(module: str) -> list[str]:
    """Packages of extras that a module of the project imports at its top."""
    places = (ROOT, *(ROOT / "packages").iterdir())
    path = next((path for place in places if (path := place.joinpath(*module.split(".")).with_suffix(".py")).is_file()), ROOT)
    top = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
    froms = [node.module or "" for node in top if isinstance(node, ast.ImportFrom)]
    plain = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
    return sorted({name.partition(".")[0] for name in (*froms, *plain)} & set(EXTRAS))


def asked_for(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the extra of every `needs("package")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "needs":
            for word in (argument.value for argument in node.args if isinstance(argument, ast.Constant)):
                yield node.lineno, EXTRAS.get(word.partition(".")[0], word)


def unasked(text: str) -> list[str]:
    """Packages of extras that are imported before the file has asked for them."""
    tree = ast.parse(text)
    asked = [*asked_for(tree)]
    found = [(line, name) for line, name in imported(tree) if name in EXTRAS]
    return [name for line, name in found if not any(above < line and extra == EXTRAS[name] for above, extra in asked)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import psycopg", ["psycopg"]),
        ("from onnx import helper\nneeds('onnx')", ["onnx"]),
        ("needs('mcp')\nfrom starlette.testclient import TestClient", []),
        ("def test():\n    import polars.selectors", ["polars"]),
        ("from modelsel_exam.web import page\nneeds('mcp')", ["starlette"]),
    ],
)
def test_an_import_of_an_extra_that_was_not_asked_for_is_found(text: str, found: list[str]) -> None:
    assert unasked(text) == found


def test_tests_ask_for_what_an_extra_brings() -> None:
    assert {str(path.relative_to(ROOT)): names for path in FILES if (names := unasked(path.read_text("utf-8")))} == {}


def test_the_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {*EXTRAS.values(), "learners", "watch"} == set(project)  # `learners` is several; `watch` our own


@pytest.mark.slow
def test_a_classifier_and_a_selection_need_no_tracking_no_database_no_signatures_and_no_templates() -> None:
    words = [sys.executable, "-c", LIGHT, "mlflow", "sqlalchemy", "cryptography", "jinja2"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True", "True", "60"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "package", ["jinja2", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sqlalchemy", "cryptography"))]
)
def test_a_study_names_the_requirement_that_is_missing_and_how_to_install_it(package: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", STUDY, package]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert re.search(rf"MSEL-002: {package} is not installed; python -m pip install '{package}>=[\d.]+'$", said), done.stderr
