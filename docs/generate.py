"""Write `docs/reference/`: settings from the schema, errors from the source, commands from their help, Python from docstrings.

`conf.py` calls `write` at every build; nothing of it is committed. `python docs/generate.py` writes it without Sphinx.
"""

import ast
import importlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path

from modelsel.api.commands.words import all_commands
from modelsel.cli.dispatch import main
from modelsel.cli.help import EXITS
from modelsel.config.folders import Folders, shipped_folder
from modelsel.core.spec import GROUPS
from modelsel.manual import explain, schemas, settings
from modelsel.manual.settings import ROOT, SettingEntry

ROOT_FOLDER = Path(__file__).resolve().parents[1]
PARTS = {  # how the settings are divided among pages
    "study": (ROOT, "space", "experiment"), "learners": ("learner",), "trees": ("criterion", "pruner", "softener"),
    "features": ("distance", "preparer"),
    "judging": ("scheme", "split", "measure", "rule", "calibrator", "decision"), "data": ("dataset",),
    "guard": ("guard",), "work": ("pool", "race", "tracking"),
}  # fmt: skip
RETURNED = (  # by public functions
    "modelsel.estimator.Classifier", "modelsel_exam.exams.Exam", "modelsel_exam.exams.SealedTable",
    "modelsel_exam.gates.LoopGate", "modelsel.api.results.audit.Audit",
    "modelsel.api.results.comparison.Comparison", "modelsel.reporting.forecast.Forecast",
    "modelsel.api.results.candidates.StudyCandidate", "modelsel.api.results.model.StudyClassifier",
    "modelsel.api.results.plots.Plots",
)  # fmt: skip
ONE_FIT = {True: "yes", False: "no", None: ""}


def write(folder: Path) -> list[Path]:
    """Write all pages and schemas, and return the pages."""
    written = {f"settings_{name}": settings_page(name, groups) for name, groups in PARTS.items()}
    written |= {"commands": commands_page(), "error_codes": errors_page(), "python": python_page()}
    for name in ("codes", "classes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    written |= {f"classes/{name.rpartition('.')[2]}": class_page(name, kind) for name, kind in classes().items()}
    codes = {f"codes/{code}": code_page(code) for code in (*explain.errors(), *explain.findings())}
    for name, text in (written | codes).items():
        place = folder / f"{name}.md"
        if not place.exists() or place.read_text("utf-8") != text:  # Sphinx reads again only what has changed
            place.write_text(text, "utf-8")
    (folder / "schema").mkdir(exist_ok=True)
    shapes = {f"schema/{name}": shape for name, shape in {**schemas.of_files(), **schemas.of_outputs()}.items()}
    for name, shape in shapes.items():
        (folder / f"{name}.json").write_text(json.dumps(shape, indent=1), "utf-8")
    _remove_older(folder, {*(f"{name}.md" for name in written | codes), *(f"{name}.json" for name in shapes)})
    return [folder / f"{name}.md" for name in written]


def _remove_older(folder: Path, made: set[str]) -> None:
    """Remove pages and schemas of an earlier build that are made no more: their links may be dead."""
    for place in (*folder.rglob("*.md"), *folder.rglob("*.json")):
        if place.relative_to(folder).as_posix() not in made:
            place.unlink()


def settings_page(name: str, groups: tuple[str, ...]) -> str:
    """The groups of a page, their kinds, and a table of settings per kind."""
    lines = [f"# Settings: {name}", ""]
    if name in ("learners", "trees"):
        lines += ["*One fit*: candidates that differ in this setting alone are read off one fit.", ""]
    for group in groups:
        lines += _group(group)
    return "\n".join(lines) + "\n"


def _group(group: str) -> Iterator[str]:
    if group == ROOT:
        yield from ("## Of the study", "", "Set as `NAME=VALUE`.", "", *_table(settings.of_kind(ROOT, "")), "")
        return
    yield from (f"## {group}", "", f"Chosen by `{group}=NAME`.", "")
    for name in Folders.of().options(group):
        yield from (f"### {group}={name}", "", _cell(settings.about(group, name)), "")
        if group in GROUPS and name in settings.kinds_in(group):
            yield from _table(settings.of_kind(group, name))
        else:
            text = (shipped_folder() / group / f"{name}.yaml").read_text("utf-8")
            yield from ("```yaml", *(line for line in text.splitlines() if line[:1] not in ("#", "")), "```")
        yield ""


def _table(entries: tuple[SettingEntry, ...]) -> Iterator[str]:
    if not entries:
        yield "No settings."
        return
    asked = any(entry.shared is not None for entry in entries)
    yield f"| setting | takes | default | means |{' one fit |' if asked else ''}"
    yield f"|---|---|---|---|{'---|' if asked else ''}"
    for entry in entries:
        default = f"`{entry.default}`" if entry.default not in ("", "must be given") else entry.default
        row = f"| `{entry.path}` | {_cell(entry.accepts)} | {_cell(default)} | {_cell(entry.meaning)} |"
        yield row + (f" {ONE_FIT[entry.shared]} |" if asked else "")


def _cell(text: str) -> str:
    return re.sub(r"([|*_<>\[\]{}$])", r"\\\1", text) if "`" not in text else text.replace("|", "\\|")


def commands_page() -> str:
    """What each command says of itself."""
    lines = ["# Commands", "", "`modelsel COMMAND`, or `python -m modelsel COMMAND`.", ""]
    lines += ["## Exit codes", "", "```text", f"  {EXITS}", "```", ""]
    for name in all_commands():
        lines += [f"## modelsel {name}", "", "```text", _help(name).rstrip(), "```", ""]
    return "\n".join(lines)


def _help(name: str) -> str:
    said = io.StringIO()
    with redirect_stdout(said), suppress(SystemExit):
        main([name, "--help"])
    return said.getvalue()


def errors_page() -> str:
    """The codes of errors and findings, each with a link to its page."""
    lines = ["# Codes, a page each", "", "## Errors", ""]
    lines += [f"- [{code}](codes/{code}.md): {meaning}" for code, (_, meaning) in explain.errors().items()]
    lines += ["", "## Findings", ""]
    lines += [f"- [{code}](codes/{code}.md): {_title(code)}" for code in explain.findings()]
    listed = [f"{code} <codes/{code}>" for code in (*explain.errors(), *explain.findings())]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *listed, "```", ""])


def _title(code: str) -> str:
    """What an error means; the first words of a finding's section: its bold name, or its first sentence."""
    if code in explain.errors():
        return explain.errors()[code][1]
    text = explain.page_of(code).means
    named = re.match(r"\*\*(.+?)\*\*", text)
    return named[1] if named else re.sub(r"^\(.*?\) ", "", " ".join(text.split())).partition(". ")[0].rstrip(".")


def code_page(code: str) -> str:
    """A page: what the code means, why it matters, what raises it, what to do, how to silence it."""
    page = explain.page_of(code)
    says = [*_says(explain.templates().get(code, ()))]
    parts = {
        "What it means": [page.means], "Why it matters": [_sentence(page.why)], "An example": [_sentence(page.example)],
        "What it says, and what to do": [*filter(None, [_sentence(page.do)]), *says] or ["What is wrong, and where."],
        "How to silence it": [_sentence(page.silence)],
    }  # fmt: skip
    lines = [f"# {code}: {_title(code)}", ""]
    for heading, text in parts.items():
        lines += [
            f"## {heading}",
            "",
            *(_from_reference(line) for line in text),
            "",
        ]
    return "\n".join([*lines, f"In a terminal: `modelsel explain {code}`.", ""])


def _from_reference(line: str) -> str:
    """Links of `findings.md` and of `errors/`, as a page two folders below `docs/` needs them."""
    return re.sub(r"\]\((?:\.\./|(?=guard/|corrected))", "](../../", line)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _says(found: Iterable[explain.MessageTemplate]) -> Iterator[str]:
    for message in found:
        says = f"Says `{message.what}`." if message.what else ""
        do = f" What to do: `{message.fix}`." if message.fix else ""
        yield f"- {says}{do}".replace("-  ", "- ")


def python_page() -> str:
    """The public functions of `modelsel/__init__.pyi` by their docstrings, and a list of the pages of its classes."""
    lines = [
        "# Python",
        "",
        "Names of `modelsel`. [In Python](../python.md) shows them at work.",
        "",
        "## Classes, a page each",
        "",
    ]
    pages = {name.rpartition(".")[2]: name for name in classes()}
    lines += [f"- [{name}](classes/{name}.md): {_first_line(path)}" for name, path in pages.items()]
    lines += ["", "```{toctree}", ":hidden:", "", *(f"{name} <classes/{name}>" for name in pages), "```", ""]
    for name, kind in public_names().items():
        if kind == "function":
            lines += [f"## {name}", "", "```{eval-rst}", f".. autofunction:: modelsel.{name}", "```", ""]
    return "\n".join(lines)


def class_page(path: str, kind: str) -> str:
    """The page of a class, with all that it offers."""
    name = path.rpartition(".")[2]
    members = ["   :members:", "   :exclude-members: set_fit_request, set_score_request"] if kind == "class" else []
    shown = [f".. auto{kind}:: {path}", *members]
    return "\n".join([f"# {name}", "", "```{eval-rst}", *shown, "```", "", "[All public names](../python.md)", ""])


def classes() -> dict[str, str]:
    """Path of a class that people meet, to `class` or `exception`: the public ones, and those that public functions return."""
    public = {f"modelsel.{name}": kind for name, kind in public_names().items() if kind != "function"}
    return {**public, **dict.fromkeys(RETURNED, "class")}


def _first_line(path: str) -> str:
    module, _, name = path.rpartition(".")
    doc = getattr(importlib.import_module(module), name).__doc__ or ""
    return str(doc.strip().splitlines()[0])


def public_names() -> dict[str, str]:
    """Public name to `function`, `class` or `exception`."""
    import modelsel

    stub = ast.parse((ROOT_FOLDER / "modelsel" / "__init__.pyi").read_text("utf-8"))
    names = [alias.asname or alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return {name: _kind(getattr(modelsel, name)) for name in names}


def _kind(value: object) -> str:
    if not isinstance(value, type):
        return "function"
    return "exception" if issubclass(value, Exception) else "class"


if __name__ == "__main__":
    write(Path(__file__).parent / "reference")
