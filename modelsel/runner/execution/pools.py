"""Pools of more than one machine, through joblib's own registrations: Dask, and Ray or Spark where the person has them."""

from contextlib import AbstractContextManager

from modelsel.runner.execution.cluster import Cluster, import_package
from modelsel.runner.execution.dask_pool import dask_cluster
from modelsel.runner.execution.ray_pool import ray_cluster
from modelsel.runner.execution.spark_pool import spark_cluster


def open_pool(kind: str, address: str | None, jobs: int, work: object, wait: float = 60.0) -> AbstractContextManager[Cluster]:
    """Open a pool for the block. ConfigurationError when a package is missing or there are no workers."""
    if kind == "dask":
        distributed = import_package("dask.distributed", kind, "pip install 'modelsel[dask]'")
        return dask_cluster(distributed, address, jobs, work, wait)
    if kind == "ray":
        return ray_cluster(import_package("ray", kind, "install ray"), address, jobs, work, wait)
    backend = import_package("joblibspark.backend", kind, "install joblibspark and pyspark")
    return spark_cluster(backend, address, jobs, work, wait)
