"""Every function that does not speak for itself has a docstring.

A function may do without where it is short, or where it overrides a method that a base describes.
"""

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "modelsel").rglob("*.py"))
SHORT = 3  # lines of a body that speak for themselves
FINDINGS = ROOT / "modelsel" / "guard" / "findings"  # the message, a sentence already, is all that most of them hold

Function = ast.FunctionDef | ast.AsyncFunctionDef


def bases_of(owner: ast.ClassDef) -> Iterator[str]:
    """Names of the classes that a class inherits from, as they are written."""
    for base in owner.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(base, ast.Name | ast.Attribute):
            yield base.id if isinstance(base, ast.Name) else base.attr


def classes_in(owner: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef]:
    """Classes of a module and classes inside them."""
    for node in owner.body:
        if isinstance(node, ast.ClassDef):
            yield node
            yield from classes_in(node)


def described(classes: dict[str, list[ast.ClassDef]], owner: ast.ClassDef, name: str) -> bool:
    """Whether a base, or a base of it, documents the method."""
    above = [cls for base in bases_of(owner) for cls in classes.get(base, []) if cls is not owner]
    own = (one for cls in above for one in cls.body if isinstance(one, Function) and one.name == name)
    return any(map(ast.get_docstring, own)) or any(described(classes, cls, name) for cls in above)


def undocumented(sources: dict[Path, str]) -> Iterator[str]:
    """Functions and methods that should say what they do, and do not."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    owners = {path: list(classes_in(tree)) for path, tree in trees.items()}
    classes: dict[str, list[ast.ClassDef]] = {}
    for owner in chain(*owners.values()):
        classes.setdefault(owner.name, []).append(owner)
    for path, tree in trees.items():
        speak = FINDINGS in path.parents
        yield from (f"{path}: {one.name}" for one in silent(tree) if long(one) or not (speak or one.name.startswith("_")))
        for owner in owners[path]:
            needing = (one for one in silent(owner) if long(one) and not described(classes, owner, one.name))
            yield from (f"{path}: {owner.name}.{one.name}" for one in needing)


def silent(owner: ast.Module | ast.ClassDef) -> list[Function]:
    return [one for one in owner.body if isinstance(one, Function) and not ast.get_docstring(one)]


def long(function: Function) -> bool:
    return (function.end_lineno or 0) - function.body[0].lineno >= SHORT


def test_what_is_public_or_longer_than_a_few_lines_says_what_it_does() -> None:
    assert list(undocumented({path: path.read_text("utf-8") for path in FILES})) == []


def test_the_check_finds_long_and_public_functions_and_leaves_overrides() -> None:
    body = "\n        ".join(f"x = {k}" for k in range(SHORT + 1))
    base = f'class Base:\n    def fit(self):\n        """Fit."""\n        {body}\n'
    derived = f"class Own(Base):\n    def fit(self):\n        {body}\n    def cut(self):\n        {body}\n"
    source = f"{base}{derived}def short():\n    return 1\ndef _short():\n    return 1\n"
    assert list(undocumented({Path("a.py"): source})) == ["a.py: short", "a.py: Own.cut"]
