"""The structure that the project promises: one import direction, mirror trees, data-only configs, one home per framework."""

import ast
import re
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest
import yaml

from modelsel.core.spec import GROUPS, class_of, kinds_of

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "modelsel").rglob("*.py"))
YAMLS = sorted((ROOT / "conf").rglob("*.yaml"))


def test_imports_point_one_way() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed (make check installs it)")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("group", GROUPS)
def test_every_kind_has_a_yaml_of_its_name(group: str) -> None:
    kinds = {kind for kind in kinds_of(group) if _is_kind(group, kind)}
    yamls = {path.stem for path in (ROOT / "conf" / group).glob("*.yaml")}
    assert kinds - yamls == set()


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_config_is_data(path: Path) -> None:
    text = path.read_text()
    assert "_target_" not in text
    assert "!!python" not in text
    content = yaml.safe_load(text)
    assert content is None or isinstance(content, dict)


OWN_BYTES = (
    "kernels/ready.py",  # Numba keeps machine code pickled; it is read there behind a checksum
    "runner/execution/single_job.py",  # what our own worker sends back to the process that started it
    "foreign/objects.py",  # what this process sends to its own workers: objects that were made in Python
    "record/model.py",  # written where tracking.allow_pickle says so, and never read
)


DOORS = ("modelsel/api", "modelsel/cli")  # name the types of what they import only when it is needed: commands start at once


def test_no_pickle_and_below_the_doors_no_type_checking_imports() -> None:
    for path in MODULES:
        door = path.relative_to(ROOT).as_posix().startswith(DOORS)
        forbidden = re.compile(rf"\b(pickle|cloudpickle|instantiate{'' if door else '|TYPE_CHECKING'})\b")
        if path.as_posix().endswith(OWN_BYTES):
            continue
        if not forbidden.search(source := path.read_text("utf-8")):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
        assert not {name for name in names if forbidden.fullmatch(name)}, path


def test_help_imports_neither_hydra_nor_mlflow() -> None:
    code = (
        "import sys; from modelsel.cli.dispatch import main; main(['--help']); "
        "bad = {'hydra', 'mlflow', 'numpy', 'numba'} & set(sys.modules); sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_study_imports_nothing_that_only_few_need() -> None:
    few = {"joblib", "matplotlib", "mlflow", "narwhals", "pandas", "polars", "rich", "scipy.optimize", "scipy.stats", "sklearn"}
    code = f"import sys, modelsel.cli.run, modelsel.study.perform; sys.exit(str({few} & set(sys.modules) or 0))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.strip() in ("", "0"), done.stderr


def _is_kind(group: str, kind: str) -> bool:
    """A frozen specification of that name; `guard/gate.py` holds a class of its name that is none."""
    try:
        return is_dataclass(class_of(group, kind))
    except AttributeError:
        return False
