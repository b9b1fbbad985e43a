"""Ray: its cluster on this machine, or the one that RAY_ADDRESS names; the work lies in its object store."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from joblib import parallel_config

from modelsel.core.lru_cache import LRUCache
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.backend import Cluster, is_one_of

BROUGHT: LRUCache[RunContext] = LRUCache(1)
DEATHS = "RayActorError", "WorkerCrashedError", "NodeDiedError", "OutOfMemoryError"


@dataclass(frozen=True)
class Stored:
    """The work by reference; each worker reads it once, its arrays where they lie."""

    reference: Any

    def __call__(self) -> RunContext:
        import ray

        return BROUGHT.get((self.reference.hex(),), lambda: ray.get(self.reference))


@contextmanager
def ray_cluster(ray: ModuleType, jobs: int, work: object) -> Iterator[Cluster]:
    """A cluster that was not there before is ended with the run, and reports to nobody.

    At least two jobs: one would be done in the parent, and what kills a worker must not kill the study.
    """
    from ray.util.joblib import register_ray

    jobs = max(2, jobs)
    with ExitStack() as stack:
        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": jobs, "include_dashboard": False}
            ray.init(log_to_driver=False, logging_level="ERROR", **here)
            stack.callback(ray.shutdown)
        register_ray()
        yield Cluster(partial(parallel_config, "ray", n_jobs=jobs), Stored(ray.put(work)), is_one_of(*DEATHS), 4 * jobs)
