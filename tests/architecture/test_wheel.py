"""A wheel whose kernels do not compile is not built: the builder ends, and says why."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.extras import needs

needs("hatchling")
ROOT = Path(__file__).resolve().parents[2]
BUILD = "from hatchling.build import build_wheel; print(build_wheel('dist'))"
PLACE = "modelsel/api/commands/setup.py"
READY = """
import os
def building(): return os.environ["MODELSEL_READY_KERNELS"]
def made_from(): return "these sources and tools"
def mark(): pass
"""
COMPILE = "open(os.environ['MODELSEL_READY_KERNELS'] + '/grow.nbi', 'w').close()"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small source tree with the project's build: its kernels are what the test writes."""
    monkeypatch.delenv("MODELSEL_BUILD_CACHE", raising=False)
    for name in ("hatch_build.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    for name in targets["wheel"]["force-include"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    for name in ("modelsel", "modelsel/api", "modelsel/api/commands", "modelsel/kernels"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "modelsel/kernels/ready.py").write_text(READY)
    return tmp_path


def build(source: Path, monkeypatch: pytest.MonkeyPatch, kernels: str, wheel: str = "") -> subprocess.CompletedProcess[str]:
    """Build a wheel by the project's backend; `kernels` is what compiling them does."""
    monkeypatch.setenv("MODELSEL_WHEEL", wheel)
    (source / PLACE).write_text(f"import os\nimport warnings\n\ndef compile_kernels():\n    {kernels}\n    return ()\n")
    return subprocess.run([sys.executable, "-c", BUILD], cwd=source, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="wheels with machine code are made on Linux alone")
@pytest.mark.parametrize(
    ("kernels", "why"),
    [
        ("raise TypeError('no such type')", "TypeError: no such type"),
        ("warnings.warn('the cache is of no use')", "UserWarning: the cache is of no use"),
        ("os._exit(9)", "no reason given"),
        ("pass", "no reason given"),
    ],
    ids=["an error", "a warning", "a process that dies", "no code"],
)
def test_a_wheel_without_its_kernels_is_not_built(
    source: Path, monkeypatch: pytest.MonkeyPatch, kernels: str, why: str
) -> None:
    done = build(source, monkeypatch, kernels)
    assert done.returncode != 0
    assert f"kernels were not compiled: {why}" in done.stderr
    assert "MODELSEL_WHEEL=pure builds a wheel without machine code" in done.stderr
    assert [*source.glob("dist/*.whl")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="wheels with machine code are made on Linux alone")
def test_a_wheel_with_its_kernels_is_of_this_platform(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = build(source, monkeypatch, COMPILE)
    assert done.returncode == 0, done.stderr
    assert "linux_x86_64.whl" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="wheels with machine code are made on Linux alone")
def test_a_further_build_finds_machine_code_of_the_same_sources_where_it_is_told_to(
    source: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And takes none of other sources or tools; without the folder a build compiles for itself."""
    cache = str(tmp_path_factory.mktemp("machine_code"))
    monkeypatch.setenv("MODELSEL_BUILD_CACHE", cache)
    assert build(source, monkeypatch, COMPILE).returncode == 0
    assert build(source, monkeypatch, "pass").returncode == 0
    monkeypatch.delenv("MODELSEL_BUILD_CACHE")
    assert "no reason given" in build(source, monkeypatch, "pass").stderr
    monkeypatch.setenv("MODELSEL_BUILD_CACHE", cache)
    # of another length: Python takes compiled code for that of a file of the same size and second
    (source / "modelsel/kernels/ready.py").write_text(READY.replace("these", "any other"))
    assert "no reason given" in build(source, monkeypatch, "pass").stderr


@pytest.mark.skipif(sys.platform != "linux", reason="wheels with machine code are made on Linux alone")
def test_what_pip_hands_over_by_the_path_is_found_when_kernels_are_compiled(
    source: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An isolated build finds its requirements by PYTHONPATH; the tree comes first there, and does not stand alone."""
    place = tmp_path_factory.mktemp("requirements")
    (place / "handed_over.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(place))
    done = build(source, monkeypatch, f"import handed_over; {COMPILE}")
    assert done.returncode == 0, done.stderr


def test_a_pure_wheel_asks_for_no_kernels(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = build(source, monkeypatch, "raise TypeError('no such type')", wheel="pure")
    assert done.returncode == 0, done.stderr
    assert "py3-none-any.whl" in done.stdout


def test_an_installed_package_finds_the_configuration_and_the_pages_that_it_brings(tmp_path: Path) -> None:
    """As a wheel lays them out; in a checkout they stand beside the package, and a wrong path goes unnoticed."""
    package = tmp_path / "modelsel"
    shutil.copytree(ROOT / "modelsel", package, ignore=shutil.ignore_patterns("__pycache__"))
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    for name, place in targets["wheel"]["force-include"].items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / place)
    code = "from modelsel.config.folders import Folders, shipped_folder; from modelsel.manual import explain;"
    code += "print(shipped_folder());"
    code += "print(len(Folders.of().options('learner')) > 5, len(explain.errors()) > 100)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == [str(package / "conf"), "True True"], done.stderr
