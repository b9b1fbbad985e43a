"""A pool of more than one machine as the runner sees it, and what is asked of its workers before the first cell.

The work goes to the workers once; records travel back to the parent, so that no shared file system is needed.
"""

import importlib
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.planning.sources import own_digest

TOLD_AFTER = 5.0  # seconds without a worker after which it is said
LOOK = 0.5  # seconds between two looks at a cluster
NAMED = 3  # workers that are named
NONE = ("", "")


@dataclass(frozen=True)
class Cluster:
    """A joblib backend to enter around a call, and the work as workers are given it."""

    enter: Callable[[], AbstractContextManager[object]]
    work: Any  # or a function that brings it
    is_death: Callable[[BaseException], bool]  # does this exception say that a worker is lost?
    round: int | None = None  # jobs given out at a time where joblib waits for all of them; None: results come one by one


def is_one_of(*types: str) -> Callable[[BaseException], bool]:
    """Return a test of whether an exception is of one of these types, of packages that need not be installed."""
    return lambda problem: any(kind.__name__ in types for kind in type(problem).__mro__)


def import_package(name: str, pool: str, fix: str) -> ModuleType:
    """Import a package that a pool needs. ConfigurationError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        what = f"pool={pool} needs a package that is not installed"
        raise ConfigurationError(Problem("MSEL-533", what, "pool", fix)) from problem


def await_workers(are_there: Callable[[], bool], cluster: str, start: str, wait: float) -> None:
    """Wait for the first worker, and say so after a while; ConfigurationError where none comes."""
    began, told = time.monotonic(), False
    while not are_there():
        waited = time.monotonic() - began
        if waited > wait:
            what = f"{cluster} has had no workers for {wait:g} s"
            fix = f"start some ({start}), or wait longer: pool.wait=SECONDS"
            raise ConfigurationError(Problem("MSEL-537", what, "pool.scheduler", fix))
        if waited > TOLD_AFTER and not told:
            told = True
            sys.stderr.write(f"modelsel: {cluster} has no workers yet: waiting for them up to {wait:g} s (pool.wait)\n")
        time.sleep(LOOK)


def code_teller() -> Callable[[], tuple[str, str]]:
    """A function for workers, sent by value as they may lack this package: its version there, and the digest of its files."""

    def tell() -> tuple[str, str]:
        version = digest = ""
        try:
            import modelsel

            version = modelsel.__version__
            from modelsel.planning.sources import own_digest

            digest = own_digest()
        except ImportError:
            pass
        return version, digest

    return tell


def refuse_other_code(found: Mapping[str, object]) -> None:
    """Refuse workers that lack the package or run other files of it: their cells would count as computed by this one.

    `found` is what each worker told, or the error in its place.
    """
    here = importlib.import_module("modelsel").__version__
    said = {name: told if isinstance(told, tuple) else NONE for name, told in found.items()}
    others = {
        name: (version or "none") if version != here else f"{here} with other files"
        for name, (version, digest) in said.items()
        if (version, digest) != (here, own_digest())
    }
    if others:
        named = ", ".join(f"{name} has {version}" for name, version in sorted(others.items())[:NAMED])
        more = f", and {len(others) - NAMED} more" if len(others) > NAMED else ""
        what = f"{len(others)} of {len(found)} workers do not run modelsel {here}: {named}{more}"
        raise ConfigurationError(
            Problem("MSEL-538", what, "pool.scheduler", f"install modelsel {here} where they run, as here")
        )


def demand_answer(address: str, who: str) -> None:
    """Raise ConfigurationError where nothing listens at `[NAME://]host:port`: engines try for minutes before they say so."""
    found = re.fullmatch(r"(?:\w+://)?([\w.-]+|\[[0-9a-fA-F:]+\]):(\d+)", address)
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), TOLD_AFTER).close()
    except OSError as problem:
        raise ConfigurationError(nobody_answers(f"{who} answers at {address}")) from problem


def nobody_answers(what: str) -> Problem:
    """The problem of an address at which no cluster answers."""
    return Problem("MSEL-534", f"no {what}", "pool.scheduler", "start it, or leave it out")
