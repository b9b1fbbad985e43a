"""Whose error it is: what goes wrong beside a cluster that still runs is told as it is."""

from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.runner.execution import dask_cluster


@pytest.mark.parametrize(
    ("status", "problem", "told"),
    [
        ("running", ValueError("a bug"), ValueError),
        ("closed", ValueError("no comm"), ConfigurationError),
        ("running", dask_cluster.SchedulerGone(), ConfigurationError),
    ],
)
def test_a_scheduler_is_said_to_be_gone_only_where_it_is(
    status: str, problem: Exception, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "register_parallel_backend", lambda name, backend: None)
    monkeypatch.setattr(dask_cluster, "_backend", lambda: object)
    monkeypatch.setattr(dask_cluster, "_client", lambda *_: nullcontext(SimpleNamespace(status=status)))
    with pytest.raises(told) as error, dask_cluster.dask_cluster(ModuleType("distributed"), None, 1, None):
        raise problem
    assert ("MSEL-536" in str(error.value)) == (told is ConfigurationError)
