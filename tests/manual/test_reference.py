"""Nothing goes undocumented: settings, kinds, codes, findings, public names; and the generated pages hold all of them."""

import importlib.util
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import modelsel
from modelsel.config.folders import Folders, shipped_folder
from modelsel.core.spec import GROUPS
from modelsel.guard.findings.base import catalogue
from modelsel.manual import explain, schemas, settings
from tests.extras import needs

ROOT = Path(__file__).resolve().parents[2]
RAISED = re.compile(r'(?:\b(?:Finding|_left_out)\(\s*|\bFindingFacts\(code=|^CODE = )"([A-Z0-9_-]{3,})"', re.MULTILINE)


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The generated pages by name."""
    return {page.stem: page.read_text("utf-8") for page in generate.write(tmp_path_factory.mktemp("site") / "reference")}


def raised() -> Iterator[str]:
    for path in (ROOT / "modelsel").rglob("*.py"):
        yield from RAISED.findall(path.read_text("utf-8"))


def test_every_setting_says_what_it_means() -> None:
    silent = [f"{entry.group}={entry.kind} {entry.name}" for entry in settings.everything() if not entry.meaning]
    assert silent == []


def test_every_finding_has_a_section_and_no_section_is_of_nothing() -> None:
    assert set(explain.findings()) == set(catalogue()) | set(raised())
    assert len(set(raised())) > 20


@pytest.mark.parametrize("code", catalogue())
def test_the_section_names_the_usual_severity(code: str) -> None:
    severity = catalogue()[code].severity
    assert severity in explain.findings()[code].partition(")")[0]


@pytest.mark.parametrize("group", settings.groups())
def test_the_reference_lists_every_kind_and_setting(written: dict[str, str], group: str) -> None:
    text = "\n".join(page for name, page in written.items() if name.startswith("settings_"))
    for kind in settings.kinds_in(group):
        assert not group or f"### {group}={kind}\n" in text
        missing = [entry.path for entry in settings.of_kind(group, kind) if f"| `{entry.path}` |" not in text]
        assert missing == []


def test_the_reference_has_every_code_command_and_public_name(written: dict[str, str], generate: ModuleType) -> None:
    assert [
        code for code in (*explain.errors(), *explain.findings()) if f"](codes/{code}.md)" not in written["error_codes"]
    ] == []
    assert [name for name in generate.all_commands() if f"## modelsel {name}\n" not in written["commands"]] == []
    functions = {name for name, kind in generate.public_names().items() if kind == "function"}
    assert [name for name in functions if f"autofunction:: modelsel.{name}\n" not in written["python"]] == []
    shown = (
        "Outcome",
        "SelectionCV",
        "ModelselError",
        "Audit",
        "Comparison",
        "Exam",
        "Classifier",
        "Forecast",
        "StudyCandidate",
    )
    pages = [*shown, *(path.rpartition(".")[2] for path in generate.RETURNED)]
    assert [name for name in pages if name not in written or f"](classes/{name}.md)" not in written["python"]] == []
    assert set(generate.public_names()) == set(dir(modelsel)) - {"__version__"} - set(vars(modelsel))


def test_the_lists_of_contents_name_every_generated_page(written: dict[str, str]) -> None:
    listed = re.findall(r"^reference/(\w+)$", (ROOT / "docs" / "reference.md").read_text("utf-8"), re.MULTILINE)
    classes = re.findall(r"^\w+ <classes/(\w+)>$", written["python"], re.MULTILINE)
    assert sorted([*listed, *classes]) == sorted(written)


def test_pages_of_an_earlier_build_are_removed(generate: ModuleType, tmp_path: Path) -> None:
    stale = [tmp_path / name for name in ("settings_gone.md", "codes/MSEL-999.md", "schema/gone.json")]
    for page in stale:
        page.parent.mkdir(exist_ok=True)
        page.write_text("[dead](../errors.md)")
    made = generate.write(tmp_path)
    assert [page.name for page in stale if page.exists()] == []
    assert all(page.exists() for page in (*made, tmp_path / "codes" / "MSEL-205.md", tmp_path / "schema" / "space.json"))


@pytest.mark.parametrize("name", sorted(set(dir(modelsel)) - {"__version__"}))
def test_every_public_name_has_a_docstring_of_its_own(name: str) -> None:
    if not name.startswith("_") and not inspect.ismodule(getattr(modelsel, name)):
        assert inspect.getdoc(getattr(modelsel, name))


@pytest.mark.parametrize("name", ["k", "vote", "prior"])
def test_what_is_read_off_one_search_is_said(name: str) -> None:
    shared = {entry.name: entry.shared for entry in settings.of_kind("learner", "knn")}
    assert shared[name] is True
    assert shared["distance"] is False


def test_messages_are_read_off_the_source() -> None:
    assert explain.messages_of("MSEL-222") == explain.templates()["MSEL-222"]
    assert len(set(explain.errors()) & set(explain.templates())) > 0.8 * len(explain.errors())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("group", [*GROUPS, "space", "experiment"])
def test_every_file_of_the_package_is_valid_by_its_schema(group: str) -> None:
    jsonschema, schema = needs("jsonschema"), json.loads(json.dumps(schemas.of_files()[group]))
    jsonschema.Draft7Validator.check_schema(schema)
    for name in Folders.of().options(group):
        jsonschema.validate(yaml.safe_load((shipped_folder() / group / f"{name}.yaml").read_text("utf-8")) or {}, schema)


@pytest.mark.parametrize(
    ("group", "wrong"),
    [
        ("scheme", {"kind": "kfold", "folds": 1}),
        ("scheme", {"kind": "kfold", "fold": 3}),
        ("scheme", {"kind": "kfolds"}),
        ("learner", {"kind": "knn", "vote": "loud"}),
        ("experiment", {"sed": 1}),
        ("space", {"mine": {"sweep": "all"}}),
        ("space", {"defaults": {"trees": None}}),
    ],
)
def test_what_is_wrong_is_invalid(group: str, wrong: dict[str, object]) -> None:
    jsonschema = needs("jsonschema")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schemas.of_files()[group])
