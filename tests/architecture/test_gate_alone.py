"""Only the gate asks for sealed labels: read off the source of the whole package."""

import ast
from pathlib import Path

import modelsel

PACKAGE = Path(modelsel.__file__).parent
SECRETS = {"open_labels", "_LABELS"}


def _mentions(path: Path) -> set[str]:
    source = path.read_text("utf-8")
    tree = ast.parse(source if any(secret in source for secret in SECRETS) else "")
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    own = path.name == "types.py" and path.parent.name == "core"
    return (names & SECRETS) or ({"defined here"} if own else set())


def test_only_the_gate_opens_labels() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if _mentions(path)}
    assert found == {"core/types.py", "guard/gate.py"}


def test_nothing_else_in_the_package_learns_of_the_ledger_but_what_stands_above_it() -> None:
    below = ("dataset", "split", "learner", "preparer", "scheme", "measure", "rule", "tree", "kernels", "statistics", "core")
    for room in below:
        for path in (PACKAGE / room).rglob("*.py"):
            assert "modelsel.ledger" not in path.read_text("utf-8"), path
