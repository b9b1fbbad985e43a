"""Every code has a page of five parts, and the commands and the Python that a page shows raise its code."""

import importlib.util
import json
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from modelsel.cli.dispatch import main
from modelsel.manual import explain

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("What it means", "Why it matters", "An example", "What it says, and what to do", "How to silence it")
CODES = [*explain.errors(), *explain.findings()]
TYPED = [code for code in CODES if "```" in explain.page_of(code).example]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOT_TYPED = {  # why nothing on a page is run, to its codes
    "a defect of modelsel's": "MSEL-001",
    "a package that is missing": "MSEL-002 MSEL-256 MSEL-260 MSEL-277 MSEL-289 MSEL-533 MSEL-621 MSEL-952 MSEL-965",
    "a network, or a server that answers so": "MSEL-307 MSEL-309 MSEL-633 MSEL-634 MSEL-635 MSEL-961 "
    "MSEL-962 MSEL-963 MSEL-966 FROM_OPENML OPENML_STATUS G077 G078",
    "a server of PostgreSQL, or a disk that is full or can only be read": "MSEL-642 MSEL-643 MSEL-644 MSEL-645 MSEL-646 "
    "MSEL-647 MSEL-648 MSEL-649",
    "a cluster": "MSEL-534 MSEL-536 MSEL-537 MSEL-538",
    "a disk that is full, or lies": "MSEL-602 MSEL-604 MSEL-906 MSEL-912",
    "several people, machines or homes": "MSEL-275 MSEL-505 MSEL-509 MSEL-510 MSEL-822 G074 G079",
    "files that are damaged in a certain way": "MSEL-503 MSEL-504 MSEL-614 MSEL-905 MSEL-907 MSEL-908 MSEL-909 MSEL-916",
    "a loop that knows what it cannot": "G028",
    "a package that changes while it is used": "G029",
    "code of one's own: a plug-in, a call of what is not public": "MSEL-405 MSEL-521 MSEL-523 MSEL-531 MSEL-532 MSEL-709 "
    "MSEL-710 G032 MSEL-261 MSEL-262 MSEL-263 MSEL-265 ADAPTIVE_SWEEP",
    "another version of modelsel or of a library": "MSEL-805 G010",
    "a process that is killed, or a clock that is set back": "G060 G075",
    "memory that suffices for folds alone": "MSEL-705 MSEL-706 WINNER_NOT_FITTED",
    "data that are not at hand, or made for it": "MSEL-308 ROWS_LEFT_OUT G011 G031 G041 MSEL-703 MSEL-708",
    "very many looks": "G050 G051",
    "another Python, or an environment of somebody else's": "MSEL-843 MSEL-844",
}


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


@pytest.mark.parametrize("code", CODES)
def test_a_page_has_its_five_parts(generate: ModuleType, code: str) -> None:
    assert missing(generate.code_page(code)) == []


def test_a_part_without_words_is_missing() -> None:
    page = "".join(f"## {part}\n\n{'' if part == 'An example' else 'Some words.'}\n\n" for part in PARTS[:-1])
    assert missing(page) == ["An example", "How to silence it"]


def test_every_error_has_a_section_and_every_section_an_error() -> None:
    assert set(explain.raised_by()) == set(explain.errors())
    assert [code for code, section in explain.raised_by().items() if "\n# " in section] == []


@pytest.mark.parametrize("code", explain.errors())
def test_it_is_said_what_to_do(code: str) -> None:
    says = explain.templates().get(code, ())
    assert explain.page_of(code).do or explain.page_of(code).silence or any(one.fix for one in says)


def test_what_is_not_typed_has_a_reason() -> None:
    reasons = [code for codes in NOT_TYPED.values() for code in codes.split()]
    assert sorted(reasons) == sorted(set(CODES) - set(TYPED))


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


def typed(page: str, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> str:
    """What the last command of a page, or its last Python, says or raises."""
    said = ""
    for language, block in BLOCK.findall(page):
        lines = [block] if language == "python" else re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        for line in lines:
            capfd.readouterr()
            raised = _python(line) if language == "python" else _shell(line, patch)
            said = "".join(capfd.readouterr()) + raised
    return said


def _python(text: str) -> str:
    """Run Python as a script would, and return the error that it ends with."""
    try:
        exec(compile(text, "page", "exec"), {"__name__": "__main__"})
    except Exception as error:
        return str(error)
    return ""


def _shell(line: str, patch: pytest.MonkeyPatch) -> str:
    """Type a line; `export` holds for the lines below it."""
    if line.startswith("export "):
        name, _, value = line.removeprefix("export ").partition("=")
        patch.setenv(name, value.replace("$PWD", str(Path.cwd())))
    elif line.startswith("modelsel ") and "$(" not in line and "*" not in line:
        main(shlex.split(line)[1:])
    elif line.startswith("modelsel "):
        main(subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True).stdout.split()[1:])
    else:  # a variable that is read once needs a process of its own
        alone = re.match(r"[A-Z_]+=\S+ modelsel ", line)
        subprocess.run(["bash", "-c", line], check=alone is None)
    return ""


def on_record() -> set[str]:
    """Codes in the studies of this folder: those that only inform stand in the report and in study.json."""
    found = [json.loads(path.read_text("utf-8")) for path in Path("runs").glob("*/*/study.json")]
    flags = [flag for one in found if one["test"] for flag in one["test"]["flags"]]
    return {*flags, *(finding["code"] for one in found for finding in one["findings"])}


@pytest.mark.slow
@pytest.mark.parametrize("code", TYPED)
def test_the_example_raises_the_code(
    code: str, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = typed(explain.page_of(code).example, capfd, monkeypatch)
    assert re.search(rf"\b{code}\b", said) or (code in explain.findings() and code in on_record()), said[-1500:]


@pytest.mark.slow
def test_an_example_that_raises_nothing_is_found(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "```console\n$ modelsel plan loans.csv default\n```\n\n```python\nprint(1 + 1)\n```"
    assert typed(page, capfd, monkeypatch) == "2\n"
    assert on_record() == set()
