"""The house can be seen through: no circle of imports, no private module across packages, each name once."""

import ast
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import benchmarks.__main__
from modelsel.core.spec import GROUPS, kinds_of

ROOT = Path(__file__).resolve().parents[2]
BESIDE = sorted((ROOT / "packages").iterdir())


def named(path: Path) -> str:
    beside = next((place for place in BESIDE if place in path.parents), ROOT)
    parts = path.relative_to(beside).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(folder: str = "modelsel") -> dict[str, Path]:
    return {named(path): path for path in sorted((ROOT / folder).rglob("*.py"))}


SATELLITES = {name: path for place in BESIDE for name, path in modules(str(place.relative_to(ROOT))).items()}
OWN = modules() | {name: path for name, path in SATELLITES.items() if name.startswith("modelsel_")}
MEASURED = modules("benchmarks")
TESTS = modules("tests") | {name: path for name, path in SATELLITES.items() if name not in OWN}


def imported(path: Path, known: dict[str, Path] = OWN) -> Iterator[str]:
    """Modules that a file imports, wherever in the file; names of `known` as modules."""
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a file, wherever in it: several tests ask for them."""
    return [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("own", [OWN, MEASURED, TESTS], ids=["modelsel", "benchmarks", "tests"])
def test_no_circle_of_imports_not_even_inside_functions(own: dict[str, Path]) -> None:
    graph = {name: {other for other in imported(path, own) if other in own and other != name} for name, path in own.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"modules that import each other: {' -> '.join(circle.args[1])}")


@cache
def known_names(path: Path) -> set[str]:
    """Every name that a module defines or imports, wherever."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).partition(".")[0] for name in node.names}
    return found


@pytest.mark.parametrize("folder", ["benchmarks", "docs", "examples"])
def test_what_is_run_by_hand_imports_names_that_are_there(folder: str) -> None:
    """Nothing else would tell that a benchmark names a function that has another name by now."""
    every, gone = OWN | MEASURED | TESTS, []
    ours = {module: path for module, path in every.items() if module.startswith(("modelsel", "benchmarks"))}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in import_statements(path):
            # what the package itself offers comes by name, when it is first asked for
            if isinstance(node, ast.ImportFrom) and node.module in ours and node.module != "modelsel":
                below = {name.rpartition(".")[2] for name in every if name.startswith(f"{node.module}.")}
                there = known_names(ours[node.module]) | below
                gone += [f"{path.name}: {node.module}.{name.name}" for name in node.names if name.name not in there]
    assert gone == []


def test_a_benchmark_is_found_by_its_short_name() -> None:
    """Short names are unique; the sections of results.json are named by them."""
    shorts = Counter(path.stem for path in MEASURED.values() if not path.stem.startswith("_"))
    assert [name for name, count in shorts.items() if count > 1] == []
    places = benchmarks.__main__.modules()
    assert set(places) == set(shorts)
    assert set(json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))) <= set(places)
    assert set(places.values()) <= set(MEASURED)


@pytest.mark.parametrize("folder", ["modelsel", "tests", "benchmarks"])
def test_no_private_module_is_imported_from_another_package(folder: str) -> None:
    found = []
    for name, path in modules(folder).items():
        for other in imported(path):
            package, _, last = other.rpartition(".")
            if other in OWN and last.startswith("_") and not last.startswith("__") and package != name.rpartition(".")[0]:
                found.append(f"{name} imports {other}")
    assert found == []


NAMED = re.compile(r"`([\w/.]+(?:/|\.py|\.md|\.toml))`")  # files and folders, as architecture.md names them
PATTERNS = {"cli/COMMAND.py"}


def test_every_place_that_the_page_of_architecture_names_is_there() -> None:
    """Paths start at the root, at the package, or at one beside it."""
    places = set(NAMED.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))) - PATTERNS
    assert len(places) > 40
    assert {
        place
        for place in places
        if not any((root / place).exists() for root in (ROOT, ROOT / "modelsel", *(ROOT / "packages").iterdir()))
    } == set()


def test_every_package_stands_in_the_picture_and_in_the_order_of_imports() -> None:
    """The picture lists the packages as the import contract does, from the top down."""
    picture = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("```")[1]
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]["layers"]
    level = {name: place for place, layer in enumerate(layers) for name in re.split(r"[ :|]+", layer)}
    lines = [re.split(r"\s{2,}", line)[0].split(", ") for line in picture.strip().splitlines()]
    assert {name for line in lines for name in line} == set(level)
    assert [level[line[0]] for line in lines] == sorted(level[line[0]] for line in lines)
    assert all(len({level[name] for name in line}) == 1 for line in lines)


PUBLIC_CLASS = re.compile(r"^class ([^_\W]\w*)", re.MULTILINE)


def test_a_public_class_name_stands_for_one_thing() -> None:
    """Kinds of two groups may share a name (`split=predefined`, `scheme=predefined`): their file names them."""
    kinds = {kind for group in GROUPS for kind in kinds_of(group)}
    places = defaultdict(list)
    for name, path in OWN.items():
        if path.stem not in kinds:
            for public in PUBLIC_CLASS.findall(path.read_text("utf-8")):
                places[public].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
