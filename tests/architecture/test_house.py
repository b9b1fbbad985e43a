"""The house can be seen through: no circle of imports, no crowded folder, no private module across packages, each name once."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from modelsel.core.spec import GROUPS, kinds_of

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 12


def named(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(folder: str = "modelsel") -> dict[str, Path]:
    return {named(path): path for path in sorted((ROOT / folder).rglob("*.py"))}


OWN = modules()


def imported(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in OWN else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_no_circle_of_imports_not_even_inside_functions() -> None:
    graph = {name: {other for other in imported(path) if other in OWN and other != name} for name, path in OWN.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"modules that import each other: {' -> '.join(circle.args[1])}")


def test_no_folder_is_crowded() -> None:
    files = Counter(path.parent for path in OWN.values() if path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): count for folder, count in files.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize("folder", ["modelsel", "tests", "benchmarks"])
def test_no_private_module_is_imported_from_another_package(folder: str) -> None:
    found = []
    for name, path in modules(folder).items():
        for other in imported(path):
            package, _, last = other.rpartition(".")
            if other in OWN and last.startswith("_") and not last.startswith("__") and package != name.rpartition(".")[0]:
                found.append(f"{name} imports {other}")
    assert found == []


def test_a_public_class_name_stands_for_one_thing() -> None:
    """Kinds of two groups may share a name (`split=predefined`, `scheme=predefined`): their file names them."""
    kinds = {kind for group in GROUPS for kind in kinds_of(group)}
    places = defaultdict(list)
    for name, path in OWN.items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path.stem not in kinds:
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
