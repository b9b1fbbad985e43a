"""A required package that is not installed is named with the line that installs it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from modelsel.core.errors import ConfigurationError, Problem


@contextmanager
def requirements() -> Iterator[None]:
    """Name a required package that turns out not to be installed, and the line that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (named := named_requirement(error)) is error:
            raise
        raise named from error


def named_requirement(error: BaseException) -> BaseException:
    """Turn the absence of a package that modelsel requires into an error that says how to install it."""
    if not isinstance(error, ModuleNotFoundError):
        return error
    from importlib import metadata

    module = (error.name or "").partition(".")[0]
    package = {"hydra": "hydra-core", "sklearn": "scikit-learn"}.get(module, module)
    try:
        required = [line for line in metadata.requires("modelsel") or () if "extra ==" not in line]
    except metadata.PackageNotFoundError:  # a source tree that nobody installed
        return error
    for line in required:
        if (re.match(r"[\w.-]+", line) or [""])[0].lower() == package:
            return ConfigurationError(Problem("MSEL-002", f"{package} is not installed", "", f"python -m pip install '{line}'"))
    return error
