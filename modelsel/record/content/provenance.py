"""The origin of an answer: versions, platform, user, commit."""

import getpass
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("modelsel", "numpy", "scipy", "numba", "scikit-learn", "pandas", "joblib", "hydra-core", "mlflow")


def environment() -> dict[str, str]:
    """Versions that an answer may depend on."""
    versions = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {"python": platform.python_version(), "platform": platform.platform(), **versions}


def user() -> str:
    """Return the user's name, or `unknown`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def commit() -> str:
    """The checked-out git commit of the working directory, with `+` when files differ from it; empty outside of git."""
    head = _git("rev-parse", "HEAD")
    return head and head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*words: str) -> str:
    """Run git; empty where it fails or is not there."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=2, check=False)  # noqa: S603, S607
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""
