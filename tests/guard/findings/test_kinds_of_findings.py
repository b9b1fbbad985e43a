"""Each kind of finding is a file named by what it finds."""

from importlib import import_module
from pathlib import Path

import pytest

from modelsel.guard import findings
from modelsel.guard.findings.base import SEVERITIES, at_least
from modelsel.guard.findings.catalogue import catalogue, losses

FOLDER = Path(findings.__file__).parent
FILES = sorted(path.relative_to(FOLDER).with_suffix("") for path in FOLDER.glob("*/*.py") if path.stem != "__init__")


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_file_is_named_by_what_it_finds(file: Path) -> None:
    kind = import_module(".".join((findings.__name__, *file.parts))).KIND
    assert (kind.name.lower(), catalogue()[kind.code]) == (file.name, kind)
    assert kind.severity in SEVERITIES
    assert kind.advice or kind.severity == "info"


def test_the_catalogue_holds_every_file_once() -> None:
    assert len(catalogue()) == len(FILES) == len({kind.name for kind in catalogue().values()})
    assert set(losses()) < set(catalogue())


def test_at_least_keeps_the_graver_ones() -> None:
    found = [kind.finding("text") for kind in catalogue().values()]
    assert {one.severity for one in at_least(found, "high")} == {"high", "critical"}
