"""Write `docs/reference/`: settings from the schema, errors from the source, commands from their help, Python from docstrings.

`conf.py` calls `write` at every build; nothing of it is committed. `python docs/generate.py` writes it without Sphinx.
"""

import ast
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path

from modelsel.cli.dispatch import main
from modelsel.cli.parsing.help import COMMANDS, EXITS
from modelsel.config.sources.folders import Folders, shipped
from modelsel.core.spec import GROUPS
from modelsel.manual import editor, messages, pages, settings
from modelsel.manual.settings import ROOT, SettingEntry

ROOT_FOLDER = Path(__file__).resolve().parents[1]
GOLDEN = ROOT_FOLDER / "tests" / "cli" / "golden" / "errors.txt"
PARTS = {  # how the settings are divided among pages
    "study": (ROOT, "space", "experiment"), "learners": ("learner",), "trees": ("criterion", "pruner", "softener"),
    "features": ("distance", "preparer"),
    "judging": ("scheme", "split", "measure", "rule", "calibrator", "decision"), "data": ("dataset",),
    "guard": ("guard",), "work": ("pool", "race", "tracking"),
}  # fmt: skip
ONE_FIT = {True: "yes", False: "no", None: ""}


def write(folder: Path) -> list[Path]:
    """Write all pages and schemas, and return the pages."""
    written = {f"settings_{name}": settings_page(name, groups) for name, groups in PARTS.items()}
    written |= {"commands": commands_page(), "error_codes": errors_page(), "python": python_page()}
    folder.mkdir(exist_ok=True)
    for name, text in written.items():
        place = folder / f"{name}.md"
        if not place.exists() or place.read_text("utf-8") != text:  # Sphinx reads again only what has changed
            place.write_text(text, "utf-8")
    (folder / "schema").mkdir(exist_ok=True)
    for name, schema in editor.schemas().items():
        (folder / "schema" / f"{name}.json").write_text(json.dumps(schema, indent=1), "utf-8")
    return [folder / f"{name}.md" for name in written]


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
            text = (shipped() / group / f"{name}.yaml").read_text("utf-8")
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
    for name in COMMANDS:
        lines += [f"## modelsel {name}", "", "```text", _help(name).rstrip(), "```", ""]
    return "\n".join(lines)


def _help(name: str) -> str:
    said = io.StringIO()
    with redirect_stdout(said), suppress(SystemExit):
        main([name, "--help"])
    return said.getvalue()


def errors_page() -> str:
    """A section per code: what it means, what it says, an example where a test has one."""
    lines = ["# Error codes, one by one", "", "Words in angle brackets are filled in.", ""]
    found, examples = messages.templates(), _examples()
    for code, (part, meaning) in pages.errors().items():
        lines += [f"## {code}", "", f"{meaning[0].upper()}{meaning[1:]} (part: {part}).", ""]
        for message in found.get(code, ()):
            says = f"Says `{message.what}`." if message.what else ""
            do = f" What to do: `{message.fix}`." if message.fix else ""
            lines.append(f"- {says}{do}".replace("-  ", "- "))
        if code in examples:
            lines += ["", "Example:", "", "```text", examples[code], "```"]
        lines.append("")
    return "\n".join(lines)


def _examples() -> dict[str, str]:
    """Code to a command that raises it and what a terminal then shows, from the golden file of the tests."""
    found: dict[str, str] = {}
    for block in GOLDEN.read_text("utf-8").split("\n\n"):
        codes = set(re.findall(r"^(MSEL-\d{3}):", block, re.MULTILINE))
        if len(codes) == 1:
            found.setdefault(codes.pop(), block.strip())
    return found


def python_page() -> str:
    """The public names of `modelsel/__init__.pyi`, by their docstrings."""
    lines = ["# Python", "", "Names of `modelsel`. [In Python](../python.md) shows them at work.", ""]
    for name, kind in public_names().items():
        members = ["   :members:", "   :exclude-members: set_fit_request, set_score_request"] if kind == "class" else []
        lines += [f"## {name}", "", "```{eval-rst}", f".. auto{kind}:: modelsel.{name}", *members, "```", ""]
    return "\n".join(lines)


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
