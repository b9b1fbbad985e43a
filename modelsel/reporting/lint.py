"""What `modelsel lint` found, as text, as SARIF 2.1.0, and as GitHub's annotations and job summary."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from modelsel.core.types import Finding
from modelsel.guard.findings.base import catalogue
from modelsel.guard.reporting.lint import LintReport, PlacedFinding

VERSION, SCHEMA = "2.1.0", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SARIF_LEVEL = {"info": "note", "low": "note", "medium": "warning", "high": "error", "critical": "error"}
COMMAND = {"note": "notice", "warning": "warning", "error": "error"}  # of GitHub's workflow


def text(report: LintReport) -> str:
    """A line per finding, as compilers write them."""
    lines = [f"{one.place}: {one.finding.code} ({one.finding.severity}): {_say_finding(one.finding)}" for one in report.found]
    return "\n".join(lines or [f"{_files(report)}: nothing to say"])


def _say_finding(finding: Finding) -> str:
    return f"{finding.message}; {finding.do}" if finding.do else finding.message


def _files(report: LintReport) -> str:
    return ", ".join(report.files)


# SARIF 2.1.0 (OASIS Standard, 2020): one run of one tool, a rule per code of a finding, a result per finding.


def sarif(report: LintReport, version: str) -> str:
    """The findings as a SARIF log."""
    codes = list(dict.fromkeys(one.finding.code for one in report.found))
    driver = {"name": "modelsel", "version": version, "rules": [_rule(code) for code in codes]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints",
           "results": [_result(one, codes.index(one.finding.code)) for one in report.found]}  # fmt: skip
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _rule(code: str) -> dict[str, object]:
    """The description of a code: its name, usual level and advice."""
    kind = catalogue()[code]
    words = kind.name.replace("_", " ").capitalize()
    return {
        "id": code, "name": "".join(word.capitalize() for word in kind.name.split("_")),
        "shortDescription": {"text": f"{words}."},
        "help": {"text": f"{kind.advice or 'nothing'} (modelsel explain {code})"},
        "defaultConfiguration": {"level": SARIF_LEVEL[kind.severity]}, "properties": {"severity": kind.severity},
    }  # fmt: skip


def _result(one: PlacedFinding, rule: int) -> dict[str, object]:
    """A finding at its line. What makes it the same one in a later run is its code, its test set and its words."""
    print_ = hashlib.sha256("\0".join((one.finding.code, one.testset, one.finding.message)).encode()).hexdigest()
    artifact = {"uri": quote(PurePosixPath(one.path).as_posix())}
    return {
        "ruleId": one.finding.code, "ruleIndex": rule, "level": SARIF_LEVEL[one.finding.severity],
        "message": {"text": _say_finding(one.finding)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": one.line}}}],
        "partialFingerprints": {"modelselFinding/v1": print_}, "properties": {"severity": one.finding.severity},
    }  # fmt: skip


# GitHub: commands that a step prints, which become annotations at lines, and Markdown for the page of the job.


def annotations(report: LintReport) -> Iterator[str]:
    """Yield a workflow command per finding.

    >>> found = Finding("G083", "high", "2 looks, the file shows 1", "commit it")
    >>> print(*annotations(LintReport(("a,b.lock",), (PlacedFinding(found, "a,b.lock", 3),))))
    ::error file=a%2Cb.lock,line=3,title=G083 (high)::2 looks, the file shows 1; commit it
    """
    for one in report.found:
        command = COMMAND[SARIF_LEVEL[one.finding.severity]]
        title = _property(f"{one.finding.code} ({one.finding.severity})")
        yield f"::{command} file={_property(one.path)},line={one.line},title={title}::{_data(_say_finding(one.finding))}"


def _data(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    return _data(words).replace(":", "%3A").replace(",", "%2C")


def summary(report: LintReport) -> str:
    """The findings as Markdown, the gravest first."""
    whole = "" if report.intact else "\n**The ledger is not whole: trust no number here.**\n"
    if not report.found:
        return f"## modelsel\n{whole}\nNothing found in {_files(report)}.\n"
    order = list(SARIF_LEVEL)
    rows = sorted(report.found, key=lambda one: -order.index(one.finding.severity))
    table = "".join(f"| {' | '.join(map(_cell, _row(one)))} |\n" for one in rows)
    return f"## modelsel\n{whole}\n| severity | finding | where | what | do |\n|---|---|---|---|---|\n{table}"


def _row(one: PlacedFinding) -> Sequence[str]:
    found = one.finding
    return found.severity, found.code, one.place, found.message, found.do


def _cell(words: str) -> str:
    """Words as a cell of Markdown, in which nothing is HTML."""
    for sign, written in {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "\\|", "\n": " ", "`": "'"}.items():
        words = words.replace(sign, written)
    return words
