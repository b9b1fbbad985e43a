"""Mutants as switches: one copy of the package holds them all, and the environment says which of them is on.

`a < b` becomes `(a <= b if switched('modelsel/FILE.py:17') else a < b)`. Where REACH names a file, each test that comes by a
switch is written there. Two kinds are no switches: what is compiled knows no environment, and what is computed at import is
computed before.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from mutation.operators import Mutant, changed, operators

RUNTIME = """
import os

ON, INTO = os.environ.get("MUTANT"), os.environ.get("REACH")
SEEN = set()


def switched(key):
    if INTO:
        met = (key, os.environ.get("PYTEST_CURRENT_TEST", ""))
        if met not in SEEN:
            SEEN.add(met)
            with open(INTO, "a", encoding="utf-8") as file:
                file.write(f"{key} {met[1]}\\n")
    return ON == key
"""


def write(folder: Path, mutants: Sequence[Mutant]) -> set[str]:
    """Put all mutants that can be switched into a copy of the project; return the keys of those that are compiled."""
    left: set[str] = set()
    (folder / "modelsel/switch.py").write_text(RUNTIME, "utf-8")
    for place in {mutant.place for mutant in mutants}:
        file = folder / place
        tree = ast.parse(file.read_text("utf-8"))
        nodes, compiled = list(operators(tree)), set(_compiled(tree))
        here: dict[ast.AST, list[tuple[str, str, int]]] = {}
        for mutant in mutants:
            if mutant.place == place:
                node, field, index = nodes[mutant.number]
                here.setdefault(node, []).append((mutant.key, field, index))
        left |= {key for node in here.keys() & compiled for key, _, _ in here.pop(node)}
        _Switches(here).visit(tree)
        start = next(turn for turn, line in enumerate(tree.body) if not _is_first(line))
        tree.body[start:start] = ast.parse("from modelsel.switch import switched").body
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
    return left


class _Switches(ast.NodeTransformer):
    def __init__(self, here: dict[ast.AST, list[tuple[str, str, int]]]) -> None:
        self.here = here

    def visit(self, node: ast.AST) -> ast.AST:
        whole = original = self.generic_visit(node)
        for key, field, index in self.here.get(node, ()):
            mutated = changed(copy.deepcopy(original), field, index)
            asked = ast.Call(ast.Name("switched", ast.Load()), [ast.Constant(key)], [])
            whole = ast.IfExp(asked, cast("ast.expr", mutated), cast("ast.expr", whole))
        return whole


def _is_first(line: ast.stmt) -> bool:
    """Is it a docstring, or an import that has to stand first?"""
    return isinstance(line, ast.Expr) or (isinstance(line, ast.ImportFrom) and line.module == "__future__")


def _compiled(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands in functions that a class hands over to the compiler: `loop = staticmethod(gain)`."""
    names = {
        call.args[0].id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "staticmethod"
        and isinstance(call.args[0], ast.Name)
    }  # fmt: skip
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in names:
            yield from ast.walk(function)
