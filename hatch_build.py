"""Building a wheel compiles the kernels into it, so that a first study does not wait for a compiler.

As many processes compile as there are cores. `MODELSEL_BUILD_CACHE` names a folder in which a further build of the same sources
by the same tools finds their machine code; without it a build compiles all.

`MODELSEL_WHEEL=pure` builds one for every platform, without machine code; so does a platform other than x86-64 Linux. A
compilation that fails ends the build and says why: pip hides warnings, and a wheel without machine code looks like any other.
A wheel with machine code is of one platform and one minor version of Python.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDS = ["numba>=0.61", "numpy>=2.0", "scipy>=1.13", "platformdirs>=4", "filelock>=3.16"]
COMPILE = """
import os
import shutil
from pathlib import Path
from modelsel.api.commands.setup import compile_kernels
from modelsel.kernels.ready import building, made_from, mark
shared = os.environ.get("MODELSEL_BUILD_CACHE")
before = Path(shared, made_from()) if shared else None
if before and before.is_dir():
    shutil.copytree(before, building(), dirs_exist_ok=True)
dict(compile_kernels())
mark()
if before:
    shutil.copytree(building(), before, dirs_exist_ok=True)
"""


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Machine code of the kernels as files of the package."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return NEEDS if wanted(self.target_name) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard" or not wanted(self.target_name):
            return
        self.place = tempfile.mkdtemp(prefix="modelsel-kernels-")
        ready = Path(self.place, "ready")
        problem = compiled(Path(self.root), ready)
        if problem:
            shutil.rmtree(self.place, ignore_errors=True)
            raise RuntimeError(f"kernels were not compiled: {problem}\nMODELSEL_WHEEL=pure builds a wheel without machine code")
        build_data["force_include"][str(ready)] = "modelsel/kernels/ready"
        build_data.update(pure_python=False, infer_tag=True)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if place := getattr(self, "place", None):
            shutil.rmtree(place, ignore_errors=True)


def wanted(target: str) -> bool:
    """Is it a wheel, on a platform whose machine code we make?"""
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    return target == "wheel" and here and os.environ.get("MODELSEL_WHEEL") != "pure"


def compiled(root: Path, ready: Path) -> str:
    """Compile all kernels into a folder; what went wrong, or nothing."""
    ready.mkdir()
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]  # pip hands its build requirements over by PYTHONPATH
    settings = {
        **os.environ, "PYTHONPATH": os.pathsep.join(paths), "NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "",
        "MODELSEL_READY_KERNELS": str(ready), "MODELSEL_CACHE": str(ready.parent / "cache"),
    }  # fmt: skip
    command = [sys.executable, "-W", "error::UserWarning", "-c", COMPILE]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)  # noqa: S603  our own words
    if done.returncode != 0 or not any(ready.glob("*.nbi")):
        return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return ""
