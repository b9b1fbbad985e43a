"""From a name to a class, through the allow-list: nothing is imported that does not come from an allowed distribution.

    lightgbm.LGBMClassifier      package . [module .] class

The package has to be one of `libraries.LIBRARIES`, or named by an entry point of the group `modelsel.estimators` (a package
that offers its estimators), or by `plugins=` of the study; and the file that Python would import for it has to be the one that
the installed distribution brought, so that a file of the same name in the working directory is never run.
"""

import hashlib
import importlib
import importlib.util
import inspect
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from pathlib import Path

from modelsel.foreign.libraries import LIBRARIES, Library, Origin
from modelsel.kernels.compiler import base

GROUP = "modelsel.estimators"
KNOWN = {  # classes that people call by their short names
    "LGBMClassifier": "lightgbm.LGBMClassifier", "XGBClassifier": "xgboost.XGBClassifier",
    "CatBoostClassifier": "catboost.CatBoostClassifier",
}  # fmt: skip


class NotAllowedError(ValueError):
    """A name that leads to no allowed class, with what to do."""


@cache
def class_of(name: str, plugins: tuple[str, ...] = ()) -> type:
    """The class of a dotted name. Raises NotAllowedError.

    >>> class_of("sklearn.tree.DecisionTreeClassifier").__name__
    'DecisionTreeClassifier'
    """
    package, *inner, last = _parts(name)
    home = home_of(package, plugins)
    where = ".".join((package, *inner))
    asked = package in sys.modules or home.library is LIBRARIES["sklearn"]
    if not asked and (end := crash_on_import(package, f"{home.distribution} {home.version}")):
        raise NotAllowedError(f"{name}: importing {package} ends the process that does it ({end})")
    try:
        module = importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name and not where.startswith(error.name):
            raise NotAllowedError(f"{name}: importing it needs {error.name}, which is not installed") from error
        raise NotAllowedError(f"{package} has no module {where!r}") from error
    except (Exception, SystemExit) as error:
        raise NotAllowedError(f"{name}: importing {where} ended with {type(error).__name__}: {error}") from error
    found = getattr(module, last, None)
    if not inspect.isclass(found) or not _is_vouched_for(found.__module__.partition(".")[0], package, plugins):
        raise NotAllowedError(f"{where} has no class {last!r}{near(last, vars(module))}")
    return found


@cache
def home_of(package: str, plugins: tuple[str, ...] = ()) -> Origin:
    """Return the library of an allowed package. Raises NotAllowedError: not allowed, absent, or another file of that name."""
    library = LIBRARIES.get(package) or _offered_package(package, plugins)
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise NotAllowedError(f"{package} is not installed: {library.install}")
    for distribution in library.distributions:
        if (version := _version(distribution)) is not None and _brought(distribution, package, spec.origin):
            return Origin(library, distribution, version)
    raise NotAllowedError(f"{package} would be imported from {spec.origin}, which {library.distributions[0]} did not install")


def near(name: str, known: Collection[str]) -> str:
    """Suggest the name that may have been meant, to be put behind a message."""
    close = get_close_matches(name, [one for one in known if not one.startswith("_")], 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _parts(name: str) -> list[str]:
    """Divide a dotted name, and refuse what names no public class."""
    parts = name.split(".")
    if not all(part.isidentifier() and not part.startswith("_") for part in parts) or "tests" in parts:
        raise NotAllowedError(f"{name!r} is not a name of a public class")
    if len(parts) < 2:
        raise NotAllowedError(f"{name!r} names no package; write it whole{_whole(name)}")
    return parts


def _whole(name: str) -> str:
    """Guess the whole name that was meant."""

    from sklearn.utils import all_estimators

    known = {**KNOWN, **{short: public_name(kind) for short, kind in all_estimators()}}
    close = get_close_matches(name, list(known), 1)
    return f": {known[close[0]]}" if close else ", as in sklearn.linear_model.LogisticRegression"


def public_name(kind: type) -> str:
    """The shortest dotted name under which a class can be had.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> public_name(RandomForestClassifier)
    'sklearn.ensemble.RandomForestClassifier'
    """
    parts, name = kind.__module__.split("."), str(kind.__name__)
    for depth in range(1, len(parts) + 1):
        where = ".".join(parts[:depth])
        if getattr(sys.modules.get(where), name, None) is kind:
            return f"{where}.{name}"
    return f"{kind.__module__}.{kind.__qualname__}"


def _offered_package(package: str, plugins: tuple[str, ...]) -> Library:
    """Return a package that an entry point or the study's plug-ins name; any other is refused."""
    if package not in plugins and not any(package in (one.name, one.value) for one in metadata.entry_points(group=GROUP)):
        allowed = ", ".join(LIBRARIES)
        raise NotAllowedError(
            f"estimators may come from {allowed}, not from {package!r}; allow an installed package: plugins=[{package}]"
        )
    return Library(package, tuple(metadata.packages_distributions().get(package, ())) or (package,))


def _is_vouched_for(package: str, named: str, plugins: tuple[str, ...]) -> bool:
    """Say whether a class found under one package's name may come from another package."""
    if package == named:
        return True
    try:
        home_of(package, plugins)
    except NotAllowedError:
        return False
    return True


def _version(distribution: str) -> str | None:
    """Return the installed version of a distribution; None where there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _brought(distribution: str, package: str, origin: str) -> bool:
    """Say whether the file that would be imported is the distribution's own; an editable installation is believed."""
    found = metadata.distribution(distribution)
    if '"editable": true' in (found.read_text("direct_url.json") or ""):
        return True
    own = Path(str(found.locate_file(""))).resolve()
    here = Path(origin).resolve()
    return here in (own / package / "__init__.py", own / f"{package}.py")


# Imports tried in a process of their own, since native code may take its process along while it is imported.
#
# What could be imported leaves an empty file in the cache, for this version of it and of Python, and is not asked again.

RAISED, IMPORTED = "raised", "imported"
ASK = f"""
import os, sys
sys.path[:] = sys.argv[2:]
try:
    __import__(sys.argv[1])
except BaseException:
    end = "{RAISED}"
else:
    end = "{IMPORTED}"
sys.__stdout__.write(end)
sys.__stdout__.flush()
os._exit(0)  # what it does or says when a process ends is not asked
"""


@cache
def crash_on_import(package: str, source: str) -> str:
    """Import a package in a process of its own; tell how that ended, empty where it went on.

    `source` is the distribution and its version.

    >>> crash_on_import("json", "of Python itself")
    ''
    """
    if _marker_file(package, source).exists():
        return ""
    # -I: nothing of the working directory is imported before the path is that of this process
    asked = [sys.executable, "-I", "-c", ASK, package, *sys.path]
    done = subprocess.run(  # noqa: S603  it is this Python
        asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    if done.stdout.endswith(IMPORTED):
        with suppress(OSError):  # a cache that cannot be written costs an import each time, and nothing else
            _marker_file(package, source).parent.mkdir(parents=True, exist_ok=True)
            _marker_file(package, source).touch()
    return "" if done.stdout.endswith((IMPORTED, RAISED)) else _describe_end(done.returncode)


def _marker_file(package: str, source: str) -> Path:
    name = hashlib.sha256(f"{package} {source} {sys.version} {sys.prefix}".encode()).hexdigest()[:16]
    return base() / "imports" / name


def _describe_end(code: int) -> str:
    """Name a process's end.

    >>> _describe_end(-11), _describe_end(3)
    ('SIGSEGV', 'exit code 3')
    """
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"
