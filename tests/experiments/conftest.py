"""Published experiments as they are run by `benchmarks.experiments`: in a folder and a home of each test's own."""

import pytest

from benchmarks.experiments.__main__ import OWN
from modelsel.config.settings import SHOWS
from tests.flow.conftest import modelsel as modelsel


@pytest.fixture(autouse=True)
def _shows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in OWN.items():
        monkeypatch.setitem(SHOWS, name, module)
