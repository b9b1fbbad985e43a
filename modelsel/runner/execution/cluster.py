"""Pools of more than one machine, through joblib's own registrations: Dask, and Ray or Spark where the person has them.

The work goes to the workers once; records travel back to the parent, so that no shared file system is needed.
"""

import importlib
from contextlib import AbstractContextManager
from types import ModuleType

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.runner.execution.backend import Cluster


def open_pool(kind: str, scheduler: str | None, jobs: int, work: object) -> AbstractContextManager[Cluster]:
    """Open a pool for the block. ConfigurationError when a package is missing or no scheduler answers."""
    if kind == "dask":
        from modelsel.runner.execution.dask_cluster import dask_cluster  # here and below: each imports joblib

        return dask_cluster(_import_package("dask.distributed", kind, "pip install 'modelsel[dask]'"), scheduler, jobs, work)
    if kind == "ray":
        from modelsel.runner.execution.ray_cluster import ray_cluster

        return ray_cluster(_import_package("ray", kind, "install ray"), jobs, work)
    from modelsel.runner.execution.spark_cluster import spark_cluster

    return spark_cluster(_import_package("joblibspark.backend", kind, "install joblibspark and pyspark"), jobs, work)


def _import_package(name: str, pool: str, fix: str) -> ModuleType:
    """Import a package that a pool needs. ConfigurationError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        what = f"pool={pool} needs a package that is not installed"
        raise ConfigurationError(Problem("MSEL-533", what, "pool", fix)) from problem
