"""Files around the project: they name what exists, and translations from other tools are studies that can be planned."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import modelsel
from modelsel.cli.dispatch import main

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
PAGE = (ROOT / "docs" / "coming_from.md").read_text("utf-8")
SPACES = re.findall(r"^space = (\{.*\})$", PAGE, re.MULTILINE)
COMMANDS = re.findall(r"^modelsel run (dataset=.*)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_says_that_it_has_not_run_and_runs_what_there_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# Unproven")
    steps = [step.get("run", "") for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{target}:" in makefile for step in steps for target in re.findall(r"make (\w+)", step))
    assert all((ROOT / place).exists() for step in steps for place in re.findall(r"\.ci/\w+", step))


def test_there_are_workflows_of_tests_site_and_release() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "other_systems", "site", "release"}


def test_classifiers_say_the_systems_and_versions_that_the_tests_run_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    told = [each.split(" :: ") for each in project["classifiers"]]
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yaml").read_text("utf-8"))["jobs"]["tests"]["strategy"][
        "matrix"
    ]
    systems = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Microsoft"}
    assert {each[-1] for each in told if each[0] == "Operating System"} == {systems[os.split("-")[0]] for os in matrix["os"]}
    assert [each[-1] for each in told if each[:-1] == ["Programming Language", "Python"] and "." in each[-1]] == matrix[
        "python"
    ]
    assert project["requires-python"] == f">={matrix['python'][0]}"


def test_the_changelog_has_the_version_and_an_entry_is_one_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert heads[:2] == ["Unreleased", project["version"]]
    body = text[text.index("## [Unreleased]") :].splitlines()
    assert [line for line in body if len(line) > 128] == [], "an entry is what a user notices, in one line"
    assert [line for line in body if line.startswith((" ", "\t"))] == [], "an entry is one line"


def test_what_a_version_brought_fits_a_screen() -> None:
    _, *versions = re.split(r"^## \[\d.*$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    assert [len(version.strip().splitlines()) for version in versions if len(version.strip().splitlines()) > 24] == []


def test_nothing_that_a_study_leaves_is_part_of_the_project() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    words = ["git", "ls-files", "runs", "*.lock", "*.db"]
    tracked = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert tracked.stdout.split() == ["runs/README.md"]


def test_the_citation_names_the_version_and_the_licence() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 110


def test_eight_tools_are_translated() -> None:
    tools = ["scikit-learn", "tidymodels", "mlr3", "Weka", "Optuna", "Hydra", "MLflow", "AutoML"]
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == tools


@pytest.mark.parametrize("space", SPACES)
def test_a_space_of_the_translations_can_be_planned(space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    declared = eval(space)  # our own page
    assert modelsel.plan("dataset=iris", space=declared).candidates >= 1


def test_the_space_in_yaml_can_be_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    plan = modelsel.plan("dataset=iris", "scheme.folds=5", "final_test=false", space=yaml.safe_load(text))
    assert (plan.candidates, plan.cells) == (5, 5)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_translations_can_be_planned(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    assert main(["plan", *shlex.split(words)]) == 0
