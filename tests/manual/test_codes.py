"""Every code has a page of five parts, and the commands that a page shows raise its code."""

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from modelsel.cli.dispatch import main
from modelsel.manual import messages, pages

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("What it means", "Why it matters", "An example", "What it says, and what to do", "How to silence it")
TYPED = [code for code in pages.errors() if "```console" in pages.raised_by().get(code, "")]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(page: str) -> list[str]:
    """Parts that a page lacks, or has nothing under."""
    found = dict(re.findall(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    return [part for part in PARTS if len(found.get(part, "").strip()) < 8]


@pytest.mark.parametrize("code", [*pages.errors(), *pages.findings()])
def test_a_page_has_its_five_parts(generate: ModuleType, code: str) -> None:
    assert missing(generate.code_page(code)) == []


def test_a_part_without_words_is_missing() -> None:
    page = "".join(f"## {part}\n\n{'' if part == 'An example' else 'Some words.'}\n\n" for part in PARTS[:-1])
    assert missing(page) == ["An example", "How to silence it"]


def test_every_error_has_a_section_and_every_section_an_error() -> None:
    assert set(pages.raised_by()) == set(pages.errors())
    assert [code for code, section in pages.raised_by().items() if "\n# " in section] == []


@pytest.mark.parametrize("code", pages.errors())
def test_it_is_said_what_to_do(code: str) -> None:
    says = messages.templates().get(code, ())
    assert pages.of_code(code).do or pages.of_code(code).silence or any(one.fix for one in says)


def test_most_examples_are_typed_by_the_tests() -> None:
    assert len(TYPED) > 0.5 * len(pages.errors())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the examples are typed."""
    for name in ("COLUMNS", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    rows = "".join(f"{i},{i * 7 % 23},{'yn'[i % 3 == 0]}\n" for i in range(60))
    (work / "loans.csv").write_text("age,income,default\n" + rows)
    monkeypatch.chdir(work)
    return work


def typed(code: str, capfd: pytest.CaptureFixture[str]) -> str:
    """What the last command of a page's example says."""
    said = ""
    (block,) = re.findall(r"```console\n(.*?)```", pages.raised_by()[code], re.DOTALL)
    for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        capfd.readouterr()
        if line.startswith("modelsel ") and "$(" not in line and "*" not in line:
            main(shlex.split(line)[1:])
        elif line.startswith("modelsel "):
            main(subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True).stdout.split()[1:])
        else:
            subprocess.run(["bash", "-c", line], check=True)
        said = "".join(capfd.readouterr())
    return said


@pytest.mark.slow
@pytest.mark.parametrize("code", TYPED)
def test_the_example_raises_the_code(code: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert f"{code}:" in typed(code, capfd)
