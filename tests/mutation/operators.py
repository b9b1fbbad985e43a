"""Mutants: one operator (comparison, arithmetic, and/or) of one file changed into its twin."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = (
    "modelsel/guard",
    "modelsel/ledger",
    "modelsel/statistics/certificate.py",
    "modelsel/statistics/prices.py",
)
NOT_OTHERS = ("modelsel/guard", "modelsel/ledger", "modelsel/statistics", "modelsel/kernels")  # no tracer sees compiled lines
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def others() -> tuple[str, ...]:
    """Every file outside guard, ledger and statistics that is not compiled."""
    files = (str(path.relative_to(ROOT)) for path in sorted((ROOT / "modelsel").rglob("*.py")))
    return tuple(file for file in files if not file.startswith(NOT_OTHERS))


@dataclass(frozen=True)
class Mutant:
    """The so-many-th operator of a file, which stands on these lines."""

    place: str
    number: int
    first: int
    last: int
    change: str

    @property
    def key(self) -> str:
        return f"{self.place}:{self.number}"

    @property
    def name(self) -> str:
        """The line itself and which of its operators: the same after other lines have come and gone."""
        text = (ROOT / self.place).read_text("utf-8").splitlines()
        twins = [m for m in mutants(self.place) if text[m.first - 1] == text[self.first - 1] and m.change == self.change]
        return "\t".join((self.place, self.change, str(twins.index(self)), text[self.first - 1].strip()))

    def source(self) -> str:
        """The whole file with that operator changed."""
        tree = ast.parse((ROOT / self.place).read_text("utf-8"))
        changed(*list(operators(tree))[self.number])
        return ast.unparse(tree)

    def __str__(self) -> str:
        return f"{self.place} line {self.first}: {self.change} (operator {self.number})"


@cache
def mutants(place: str) -> tuple[Mutant, ...]:
    """All mutants of a file."""
    return tuple(_mutants(place))


def every(places: tuple[str, ...] = PLACES) -> list[Mutant]:
    """All mutants of files and folders, in order."""
    found = (path for place in places for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py")))
    return [mutant for path in sorted(found) for mutant in mutants(str(path.relative_to(ROOT)))]


def _mutants(place: str) -> Iterator[Mutant]:
    for number, (node, field, index) in enumerate(operators(ast.parse((ROOT / place).read_text("utf-8")))):
        old = type(node.ops[index] if field == "ops" else node.op)  # type: ignore[attr-defined]
        change = f"{old.__name__} -> {SWAPS[old].__name__}"
        yield Mutant(place, number, node.lineno, node.end_lineno, change)  # type: ignore[attr-defined]


def changed(node: ast.AST, field: str, index: int) -> ast.AST:
    """The node itself, one operator of it turned into its twin."""
    if field == "ops":
        node.ops[index] = SWAPS[type(node.ops[index])]()  # type: ignore[attr-defined]
    else:
        node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]
    return node


def operators(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    """Every operator that has a twin: the node, its field, and which of several."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            yield node, "op", 0
        elif isinstance(node, ast.Compare):
            yield from ((node, "ops", index) for index, op in enumerate(node.ops) if type(op) in SWAPS)
