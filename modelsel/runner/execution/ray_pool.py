"""Ray: a cluster on this machine, or the one at an address; the work lies in its object store."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from modelsel.core.errors import ConfigurationError
from modelsel.core.lru_cache import LRUCache
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.cluster import (
    Cluster,
    await_workers,
    code_teller,
    demand_answer,
    is_one_of,
    nobody_answers,
    refuse_other_code,
)

BROUGHT: LRUCache[RunContext] = LRUCache(1)
RAY_DEATHS = "RayActorError", "WorkerCrashedError", "NodeDiedError", "OutOfMemoryError"


@dataclass(frozen=True)
class Stored:
    """The work by reference; each worker reads it once, its arrays where they lie."""

    reference: Any

    def __call__(self) -> RunContext:
        import ray

        return BROUGHT.get((self.reference.hex(),), lambda: ray.get(self.reference))


@contextmanager
def ray_cluster(ray: ModuleType, address: str | None, jobs: int, work: object, wait: float) -> Iterator[Cluster]:
    """Use the cluster that runs, or the one at an address (RAY_ADDRESS), or one of this machine, which ends with the run.

    At least two jobs: one would be done in the parent, and what kills a worker must not kill the study. Raises
    ConfigurationError where no cluster answers, none of its nodes computes, or one runs other code.
    """
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    jobs, address = max(2, jobs), address or os.environ.get("RAY_ADDRESS")
    with ExitStack() as stack:
        elsewhere = ray.is_initialized() or address is not None
        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            _connect(ray, address, jobs)
            stack.callback(ray.shutdown)
        if elsewhere:
            who = f"the Ray cluster at {address}" if address else "the Ray cluster"
            await_workers(lambda: bool(_nodes(ray)), who, f"`ray start --address={address or 'HOST:PORT'}`", wait)
            refuse_other_code(_told_by_nodes(ray))
        register_ray()
        yield Cluster(partial(parallel_config, "ray", n_jobs=jobs), Stored(ray.put(work)), is_one_of(*RAY_DEATHS), 4 * jobs)


def _connect(ray: ModuleType, address: str | None, jobs: int) -> None:
    """Connect to the cluster at an address, or start one on this machine."""
    here = {"num_cpus": jobs, "include_dashboard": False} if address is None else {"address": address}
    if address is not None:
        demand_answer(address, "Ray cluster")
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **here)
    except (ConnectionError, TimeoutError, ValueError) as problem:
        if address is None:
            raise
        raise ConfigurationError(nobody_answers(f"Ray cluster answers at {address}")) from problem


def _nodes(ray: ModuleType) -> dict[str, str]:
    """The nodes that compute: id and name."""
    living = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    return {node["NodeID"]: f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}" for node in living}


def _told_by_nodes(ray: ModuleType) -> dict[str, object]:
    """Ask each node which code of ours it runs; the error of one that cannot say it."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    teller = ray.remote(num_cpus=0)(code_teller())
    asked = {
        name: teller.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote()
        for node, name in _nodes(ray).items()
    }
    return {name: _answer(ray, told) for name, told in asked.items()}


def _answer(ray: ModuleType, told: object) -> object:
    """Return what a node told, or the error in its place."""
    try:
        return ray.get(told)
    except Exception as problem:  # whatever hinders a node from answering hinders it from computing
        return problem
