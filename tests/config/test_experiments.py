"""Frozen studies compose, one by one."""

import pytest

from modelsel.config import settings
from modelsel.config.compose import compose
from modelsel.config.folders import Folders


@pytest.mark.parametrize("name", Folders.of().options("experiment"))
def test_every_experiment_is_a_study(name: str) -> None:
    config = compose([f"experiment={name}"])
    assert config.candidates
    assert config.name == name or config.compare  # one study of several, named after its data set


@pytest.mark.slow
@pytest.mark.parametrize("group", ["guard", "pool", "tracking", "split", "scheme", "measure", "rule"])
def test_every_option_of_a_group_composes_and_keeps_its_name(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _: True)  # as if every pool's package were installed
    for name in Folders.of().options(group):
        part = getattr(compose(["dataset=iris", "space=majority", f"{group}={name}"]), group)
        assert part is not None
