"""Pools of more than one machine, through joblib's own registrations: Dask, and Ray or Spark where the person has them.

The work is scattered to Dask's workers once; records travel back to the parent, so that no shared file system is needed.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from joblib import parallel_config

from modelsel.core.errors import ConfigurationError, Problem

Backend = Callable[[], AbstractContextManager[Any]]


@contextmanager
def cluster(kind: str, scheduler: str | None, jobs: int, work: object) -> Iterator[Backend]:
    """A joblib backend to enter around each call, for as long as the pool is open."""
    if kind == "dask":
        distributed = _module("dask.distributed", "dask", "pip install 'modelsel[dask]'")
        with _client(distributed, scheduler, jobs) as client:
            yield partial(parallel_config, "dask", client=client, scatter=[work])
    elif kind == "ray":
        _module("ray.util.joblib", "ray", "install ray").register_ray()
        yield partial(parallel_config, "ray", n_jobs=jobs)
    else:
        _module("joblibspark", "spark", "install joblibspark and pyspark").register_spark()
        yield partial(parallel_config, "spark", n_jobs=jobs)


@contextmanager
def _client(distributed: ModuleType, scheduler: str | None, jobs: int) -> Iterator[Any]:
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, set_as_default=False)
        except OSError as problem:
            raise ConfigurationError(
                Problem("MSEL-314", f"no Dask scheduler answers at {scheduler}", "pool.scheduler", "start it, or leave it out")
            ) from problem
        with client:
            yield client
    else:
        with (
            distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as local,
            distributed.Client(local, set_as_default=False) as client,
        ):
            yield client


def _module(name: str, pool: str, fix: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ConfigurationError(
            Problem("MSEL-313", f"pool={pool} needs a package that is not installed", "pool", fix)
        ) from problem
