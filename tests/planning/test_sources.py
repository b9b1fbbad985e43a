"""What a cell runs decides whether what it once said may be used again."""

import ast
import sys
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

import pytest
import sklearn

import modelsel
from modelsel.core.spec import classes_in, make
from modelsel.core.types import Candidate
from modelsel.learner.tree import Tree
from modelsel.planning import sources
from modelsel.planning.sources import ROOMS, code
from tests import doubles
from tests.doubles import Double, spread
from tests.runner.studies import study

PACKAGE = Path(modelsel.__file__).parent
GROUPS = ("learner", "preparer", "criterion", "pruner", "softener", "distance", "measure")  # kinds are imported by name
STARTS = ("modelsel.runner.evaluation.cell", "modelsel.runner.evaluation.context", "modelsel.runner.families")


def modules():
    files = {file.relative_to(PACKAGE.parent).with_suffix("").parts: file for file in PACKAGE.rglob("*.py")}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): file for parts, file in files.items()}


def imported(file, known):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def reached(starts, known):
    found, waiting = set(), list(starts)
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found.add(name)
            waiting.extend(imported(known[name], known))
    return found


def test_every_module_that_a_cell_runs_through_counts():
    known = modules()
    starts = [name for name in known if name.startswith(tuple(f"modelsel.{group}." for group in GROUPS))]
    found = reached([*STARTS, *starts], known)
    assert len(found) > 100
    assert {name.split(".")[1] for name in found} <= set(ROOMS)
    assert all((PACKAGE / room).is_dir() for room in ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_an_edit_in_any_room_at_any_depth_changes_the_digest(room, tmp_path, monkeypatch):
    (tmp_path / room / "deep").mkdir(parents=True)
    file = tmp_path / room / "deep" / "inside.py"
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    found = []
    for text in ("", "x = 1\n"):
        file.write_text(text)
        found.append(sources.own_digest.__wrapped__())
    assert found[0] != found[1]


CRITERION = """
from dataclasses import dataclass
from theirs.helper import FACTOR

@dataclass(frozen=True)
class Theirs:
    kind = "theirs"
    weight: float = FACTOR
"""


@pytest.mark.parametrize("where", ["helper.py", "part.py"])
def test_an_edit_in_the_package_of_a_plug_in_counts_however_deep_its_part_stands(where, tmp_path, monkeypatch):
    """A criterion inside our tree, and a helper that its module imports."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "helper.py").write_text("FACTOR = 1.0\n")
    (folder / "part.py").write_text(CRITERION)
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    try:
        candidate = Candidate(Tree(criterion=import_module("theirs.part").Theirs()))
        before = code((candidate,))
        (folder / where).write_text((folder / where).read_text() + "\n# another\n")
        sources._text_of.cache_clear()
        assert code((candidate,)) != before != code((Candidate(Tree()),))
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
            del sys.modules[name]
        sources._text_of.cache_clear()


def test_a_foreign_part_of_any_member_counts():
    """Pruners share a batch: the one from elsewhere may stand anywhere in it."""

    @dataclass(frozen=True)
    class Elsewhere:
        kind = "elsewhere"

    ours, theirs = Candidate(Tree()), Candidate(Tree(pruner=Elsewhere()))
    assert code((ours, theirs)) == code((theirs, ours)) != code((ours,))


def test_what_was_typed_into_a_session_is_told_apart_by_its_text_or_never_believed():
    """A class without a file, whose text nobody kept (`python -c`)."""
    module = ModuleType("typed_in")
    exec("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Typed:\n    kind = 'typed'\n", vars(module))
    sys.modules["typed_in"] = module
    try:
        candidate = Candidate(module.Typed())
        first = code((candidate,))
        assert code((candidate,)) == first
        sources._text_of.cache_clear()
        assert code((candidate,)) != first, "another session"
    finally:
        del sys.modules["typed_in"]


def test_parts_are_found_in_fields_and_in_lists():
    bundle = Candidate(Tree(criterion=make("criterion", "gini")), (make("preparer", "impute"),))
    assert {"Tree", "Gini", "Impute", "Unpruned", "Hard"} <= {kind.__name__ for kind in classes_in([[bundle]])}


def test_cells_of_other_code_are_computed_again_with_the_reason(tmp_path, monkeypatch):
    study(tmp_path, spread(3), name="a")
    monkeypatch.setattr(sources, "own_digest", lambda: "other")
    again = study(tmp_path, spread(3), name="b", older=[tmp_path / "a"])
    assert again.why == {"the code that a cell runs has changed since": 3}


def test_the_version_of_the_library_behind_a_learner_counts(monkeypatch):
    candidate = Candidate(make("learner", "sklearn"))
    before = code((candidate,))
    monkeypatch.setattr(sklearn, "__version__", "99")
    assert code((candidate,)) != before
    assert code((Candidate(Double()),)) == code((Candidate(Double()),))
    assert doubles.__file__
