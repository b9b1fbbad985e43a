"""`modelsel lint` as it is typed, its SARIF, the steps of the action in a shell, and the pre-commit hook."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelsel.core.types import Finding
from modelsel.guard.reporting.lint import LintReport, PlacedFinding
from modelsel.reporting.lint import _rule, annotations, catalogue, sarif, summary
from tests.cli.conftest import Ran
from tests.guard.studies import Rule, Study, numbers

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")
ODD = Finding("G083", "high", "2 looks at <b>a|b</b>,\n50 % seen", "commit `it`")
REPORT = LintReport(("a b/modelsel.lock",), (PlacedFinding(ODD, "a b/modelsel.lock", 3, "5f2c"),))


@pytest.fixture
def looked(folder: Path) -> Path:
    """A git work tree whose head has one look, and whose lock file has two; the runner of the tests has the ledger."""
    git(folder, "init", "-q")
    Study(numbers(), folder.parent / "home", runs=folder / "runs").look()
    git(folder, "add", "modelsel.lock")
    git(folder, "commit", "-qm", "looks")
    Study(numbers(), folder.parent / "home", rule=Rule(1), runs=folder / "runs").look()
    return folder


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.mark.slow
def test_the_exit_code_follows_fail_on_and_a_line_is_as_compilers_write_it(looked: Path, modelsel: Callable[..., Ran]) -> None:
    ran = modelsel("lint", "--against", "HEAD")
    assert ran.code == 4
    assert re.match(r"modelsel\.lock:8: G012 \(high\): .*", ran.out)
    assert modelsel("lint", "--fail-on", "critical").code == 0
    assert modelsel("lint", "--fail-on", "never", "--against", "HEAD").code == 0
    assert modelsel("lint", "--fail-on", "medium", ".").code == 4
    assert modelsel("lint", "nowhere").code == 2
    data = json.loads(modelsel("lint", "--json").out)
    assert {one["finding"]["code"] for one in data["found"]} == {"G012"}


def test_a_ledger_that_does_not_hold_is_exit_5(looked: Path, modelsel: Callable[..., Ran]) -> None:
    import sqlite3

    base = sqlite3.connect(looked.parent / "home/ledger.db")
    for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        base.execute(f"DROP TRIGGER {name}")
    base.execute("DELETE FROM entries WHERE seq = 1")
    base.commit()
    base.close()
    assert modelsel("lint", "--fail-on", "never").code == 5


# SARIF 2.1.0, held against the text of the standard: OASIS allows reading its schema, not handing it on under our licence.
# Where the official schema lies at SARIF_SCHEMA, it is asked too.


def faults(log: Mapping[str, Any]) -> list[str]:
    """What breaks a rule of the standard, by its section."""
    found = [] if log.get("version") == "2.1.0" else ["3.13.2 version"]
    for run in log["runs"]:  # 3.13.4
        driver = run["tool"]["driver"]
        if not driver.get("name"):
            found.append("3.19.8 name")
        rules = driver.get("rules", [])
        if len({rule["id"] for rule in rules}) != len(rules):
            found.append("3.49.3 id")
        for rule in rules:
            if not {"id", "shortDescription", "help"} <= set(rule) or not rule["shortDescription"]["text"].endswith("."):
                found.append("3.49.9 shortDescription")
            if rule["defaultConfiguration"]["level"] not in ("none", "note", "warning", "error"):
                found.append("3.50.3 level")
        for result in run["results"]:
            found += _of_result(result, rules)
    return found


def _of_result(result: Mapping[str, Any], rules: list[Mapping[str, Any]]) -> list[str]:
    found = [] if result["message"].get("text") else ["3.27.11 message"]
    if not 0 <= result["ruleIndex"] < len(rules) or rules[result["ruleIndex"]]["id"] != result["ruleId"]:
        found.append("3.27.5 ruleId, 3.27.6 ruleIndex")
    if result["level"] not in ("none", "note", "warning", "error"):
        found.append("3.27.10 level")
    for location in result["locations"]:
        place = location["physicalLocation"]
        if not re.fullmatch(r"(?!/)[\w\-.~%!$&'()*+,;=:@/]+", place["artifactLocation"]["uri"]):  # RFC 3986
            found.append("3.4.3 uri")
        if place["region"]["startLine"] < 1:
            found.append("3.30.5 startLine")
    if not all(re.fullmatch(r"[^/]+/v\d+", name) for name in result["partialFingerprints"]):
        found.append("3.27.17 partialFingerprints")
    return found


def test_sarif_is_as_the_standard_says_and_anchored_to_lines(looked: Path, modelsel: Callable[..., Ran]) -> None:
    modelsel("lint", "--against", "HEAD", "--sarif", "out.sarif")
    log = json.loads(Path("out.sarif").read_text())
    assert faults(log) == []
    lines = Path("modelsel.lock").read_text().splitlines()
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "modelsel.lock"
        assert '"look": "2"' in lines[place["region"]["startLine"] - 1]
    assert {result["ruleId"] for result in log["runs"][0]["results"]} == {"G012", "G084"}


def test_sarif_of_nothing_and_of_odd_words_is_as_the_standard_says_too() -> None:
    assert faults(json.loads(sarif(LintReport(("modelsel.lock",), ()), "1"))) == []
    odd = json.loads(sarif(REPORT, "1"))
    assert faults(odd) == []
    assert odd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/modelsel.lock"
    broken = json.loads(sarif(REPORT, "1"))
    broken["runs"][0]["results"][0]["ruleIndex"] = 7
    assert faults(broken) == ["3.27.5 ruleId, 3.27.6 ruleIndex"]


@pytest.mark.skipif("SARIF_SCHEMA" not in os.environ, reason="SARIF_SCHEMA: where the official schema lies")
def test_the_official_schema_agrees() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text())
    for report in (REPORT, LintReport(("modelsel.lock",), ())):
        jsonschema.validate(json.loads(sarif(report, "1")), schema)


def test_annotations_and_the_summary_take_no_words_for_commands_or_markup() -> None:
    (line,) = annotations(REPORT)
    assert line.startswith("::error file=a b/modelsel.lock,line=3,title=G083 (high)::2 looks at <b>a|b</b>,%0A50 %25 seen")
    assert "\n" not in line
    assert "| a b/modelsel.lock:3 | 2 looks at &lt;b&gt;a\\|b&lt;/b&gt;, 50 % seen | commit 'it' |" in summary(REPORT)
    assert "not whole" in summary(LintReport(("modelsel.lock",), (), intact=False))


# The action.


def step(number: int, folder: Path, inputs: Mapping[str, str]) -> tuple[int, str, str, str]:
    """Run a step of action.yml as a runner does: exit code, output, summary, outputs."""
    if BASH is None:
        pytest.skip("bash is not installed")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | {"against": ""} | inputs
    one = action["runs"]["steps"][number]
    assert "${{" not in one["run"]  # an input's text is never part of a script
    environment = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
                   for name, value in one["env"].items()}  # fmt: skip
    written = {name: folder.parent / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PATH": path, **environment, **{name: str(place) for name, place in written.items()}},
    )  # fmt: skip
    said = [place.read_text() if place.exists() else "" for place in written.values()]
    return done.returncode, done.stdout, said[0], said[1]


@pytest.mark.slow
def test_the_steps_of_the_action_run_in_a_shell(looked: Path) -> None:
    assert step(0, looked, {"install": ""})[0] == 0
    code, out, page, outputs = step(1, looked, {"against": "HEAD", "sarif": "found here.sarif"})
    assert code == 4
    assert "::error file=modelsel.lock,line=8,title=G012 (high)::" in out
    assert "::warning file=modelsel.lock,line=8,title=G084 (medium)::" in out
    assert page.startswith("## modelsel\n")
    assert "| high | G012 | modelsel.lock:8 |" in page
    assert outputs == "sarif=found here.sarif\n"
    assert faults(json.loads((looked / "found here.sarif").read_text())) == []
    code, out, _, _ = step(1, looked, {"paths": "modelsel.lock $(touch broken)", "fail-on": "never"})
    assert (code, (looked / "broken").exists()) == (2, False)
    assert step(1, looked, {"fail-on": "never"})[0] == 0


def test_every_input_of_the_action_is_used_and_its_outputs_exist() -> None:
    text = (ROOT / "action.yml").read_text()
    action = yaml.safe_load(text)
    assert set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text)) == set(action["inputs"])
    assert {one.get("id") for one in action["runs"]["steps"]} >= set(re.findall(r"steps\.(\w+)\.outputs", text))
    assert all(one["shell"] == "bash" for one in action["runs"]["steps"])


def test_the_hook_of_pre_commit_is_a_command_that_runs(looked: Path, modelsel: Callable[..., Ran]) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "modelsel"
    assert re.search(hook["files"], "work/modelsel.lock")
    assert not re.search(hook["files"], "work/.modelsel.lock.lock")
    assert modelsel(*words, "modelsel.lock").code == 4


def test_a_rule_of_a_log_has_the_advice_of_its_finding() -> None:
    told = _rule("G052")
    assert (told["id"], told["name"]) == ("G052", "NotCertified")
    assert told["help"] == {"text": f"{catalogue()['G052'].advice} (modelsel explain G052)"}
