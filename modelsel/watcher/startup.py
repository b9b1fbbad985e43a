"""What `modelsel_watch.pth` of earlier installs calls at the start of a process: the package beside the core, if any."""

import importlib
import importlib.util

PACKAGE = "modelsel_watch"


def begin(strict: bool) -> None:
    """Watch this process; nothing is done, and nothing said, where watching is not installed."""
    try:
        there = importlib.util.find_spec(PACKAGE) is not None
    except ValueError:  # it was taken out of this process
        there = False
    if there:
        importlib.import_module(f"{PACKAGE}.startup").begin(strict)
