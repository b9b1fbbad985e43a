"""Installed versions of packages, each looked up once in a process: a look-up reads the package's whole description."""

from functools import cache
from importlib import metadata


@cache
def version_of(package: str) -> str:
    """Return the installed version of a package; importlib.metadata.PackageNotFoundError where there is none.

    >>> version_of("numpy").split(".")[0].isdigit()
    True
    """
    return metadata.version(package)
