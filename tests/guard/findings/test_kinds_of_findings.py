"""Each kind of finding is a constant named by what it finds, in one of the files of its folder."""

import re
from pathlib import Path

import pytest

from modelsel.guard import findings
from modelsel.guard.findings.base import SEVERITIES, at_least, catalogue, losses

FILES = [path.read_text("utf-8") for path in sorted(Path(findings.__file__).parent.glob("*_findings.py"))]
DECLARED = re.findall(r'^([A-Z_]+) = FindingKind\(\s*"(\w+)",\s*"(\w+)"', "\n".join(FILES), re.MULTILINE)


@pytest.mark.parametrize(("constant", "code", "name"), DECLARED)
def test_a_constant_is_named_by_what_it_finds(constant: str, code: str, name: str) -> None:
    kind = catalogue()[code]
    assert constant == name == kind.name
    assert kind.severity in SEVERITIES
    assert kind.advice or kind.severity == "info"


def test_the_catalogue_holds_every_kind_once() -> None:
    assert len(catalogue()) == len(DECLARED) == len({kind.name for kind in catalogue().values()}) > 30
    assert set(losses()) < set(catalogue())


def test_at_least_keeps_the_graver_ones() -> None:
    found = [kind.finding("text") for kind in catalogue().values()]
    assert {one.severity for one in at_least(found, "high")} == {"high", "critical"}
