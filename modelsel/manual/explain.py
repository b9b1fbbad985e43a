"""The page of a word: an error's code, a finding's, a group, a kind, a setting. Plain text for a terminal."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from modelsel.config.folders import Folders, shipped_folder
from modelsel.core.satellites import folders
from modelsel.core.spec import GROUPS
from modelsel.manual import settings
from modelsel.manual.settings import ROOT, SettingEntry

# Sections of the pages that explain codes: `errors.md`, `errors/`, `findings.md` of `docs/`, which a wheel carries inside.

ERRORS, FINDINGS, CASES = "errors.md", "findings.md", "errors"
TERMS = {"interval": "guard/interval.md"}  # words of the verdict that have a page


def folder() -> Path:
    """Return the folder of the pages: `docs/` of a source tree, `manual/pages/` of an installed package."""
    inside = Path(__file__).parent / "pages"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "docs"


@cache
def text(page: str) -> str:
    """A page as it is written."""
    return (folder() / page).read_text("utf-8")


@cache
def findings() -> dict[str, str]:
    """Code of each finding to its section, in order.

    >>> findings()["G002"].splitlines()[0]
    '**Replay** (info). The same study on the same rows was asked again. The stored answer is shown and no label is read.'
    """
    parts = re.split(r"^## (\S+)$", text(FINDINGS), flags=re.MULTILINE)[1:]
    return {code: body.strip() for code, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def errors() -> dict[str, tuple[str, str]]:
    """Code of each error to the part of the package that it belongs to and what it means.

    >>> errors()["MSEL-222"]
    ('config', 'two entries of a space have one name')
    """
    rows = re.findall(r"^\| (MSEL-\d{3}) \| (\w+) \| (.+) \|$", text(ERRORS), re.MULTILINE)
    return {code: (part, meaning) for code, part, meaning in rows}


@dataclass(frozen=True)
class CodePage:
    """The page of a code in Markdown: its meaning, its weight, an example that raises it, the remedy, the way to silence it."""

    means: str
    why: str
    example: str
    do: str
    silence: str


KEPT = "It is part of the record and cannot be switched off; it goes away with its cause."
STOPS = "It cannot be silenced: the command stops, so that nothing is computed that was not meant."


@cache
def page_of(code: str) -> CodePage:
    """Put together the page of an error or of a finding.

    Parameters
    ----------
    code
        As `MSEL-222` or `G021`.

    Returns
    -------
    CodePage
        `do` is empty where the messages of the error alone say it.

    Raises
    ------
    KeyError
        Where there is no such code.

    Examples
    --------
    >>> page_of("MSEL-222").why
    'Entries are told apart by their names in every table.'
    """
    if code in errors():
        part, meaning = errors()[code]
        found = _parts(raised_by()[code])
        return CodePage(f"{meaning[0].upper()}{meaning[1:]} (part: {part}).", found["Why it matters"], found["Example"],
                        found["Do"], found["Silence"] or STOPS)  # fmt: skip
    found = _parts(findings()[code])
    silence = found["Silence"] or KEPT
    return CodePage(found[""], found["Why it matters"], found["Example"], found["Do"] or silence, silence)


@cache
def raised_by() -> dict[str, str]:
    """Code of each error to its section in the folder `errors`: why it matters, and what raises it."""
    found: dict[str, str] = {}
    for path in sorted((folder() / CASES).glob("*.md")):
        parts = re.split(r"^## (MSEL-\d{3})$", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
        found.update(zip(parts[::2], parts[1::2], strict=True))
    return found


def _parts(section: str) -> dict[str, str]:
    """Name of each part of a section to its text; what stands before the first has no name. Commands alone are an example."""
    marked = section if "*Example:*" in section else section.replace("```console", "*Example:*\n```console", 1)
    split = re.split(r"^\*(Why it matters|Example|Do|Silence):\*", marked, flags=re.MULTILINE)
    named = {name: text.strip() for name, text in zip(split[1::2], split[2::2], strict=True)}
    return {"": split[0].strip(), **dict.fromkeys(("Why it matters", "Example", "Do", "Silence"), ""), **named}


LISTED = (*GROUPS, "space", "experiment")
SHARED = {
    True: "read off one fit: candidates that differ in it alone share their fits",
    False: "every value needs a fit of its own",
}


def page(word: str) -> str:
    """All that the documentation says of a word.

    Parameters
    ----------
    word
        A code (`MSEL-205`, `G021`, `CONSTANT_COLUMN`), a setting (`learner.k`, `folds`), a group (`scheme`), or a name of a
        group's file (`knn`, `scheme=kfold`).

    Returns
    -------
    str
        Text of one or several sections; empty for a word that nobody knows.

    Examples
    --------
    >>> print(page("MSEL-222"))
    MSEL-222
      two entries of a space have one name
    <BLANKLINE>
      says    two entries are named <entry>
      do      rename one of them
    <BLANKLINE>
      why     Entries are told apart by their names in every table.
    <BLANKLINE>
      example A space of your own that names an entry as another space does:
    <BLANKLINE>
            $ mkdir -p conf/space
            $ printf 'cart: {learner: knn}\\n' > conf/space/mine.yaml
            $ modelsel plan dataset=iris --config-dir conf 'space=[cart,mine]'
    <BLANKLINE>
      silence It cannot be silenced: the command stops, so that nothing is computed that was not meant.
    """
    return "\n\n".join(list(_code(word.upper())) or _names(word.strip()))


def words() -> Iterator[str]:
    """List every word that has a page: codes, settings, groups, kinds."""
    yield from errors()
    yield from findings()
    yield from TERMS
    yield from LISTED
    for group in LISTED:
        yield from (name for name in Folders.of().options(group))
    for entry in settings.everything():
        yield from (entry.path, entry.name)


def _code(code: str) -> Iterator[str]:
    """Yield the text of an error's or a finding's code."""
    if code in errors():
        _, meaning = errors()[code]
        yield "\n".join([code, f"  {meaning}", *_messages(code), *_case(page_of(code))])
    if code in findings():
        yield f"{code}\n{_plain(findings()[code])}"


def _case(page: CodePage) -> Iterator[str]:
    """Yield the reason why an error matters, an example that raises it, and the way to silence it."""
    raised = [line for line in page.example.splitlines() if not line.startswith("```")]
    for name, lines in (("why", [page.why]), ("example", raised), ("silence", [page.silence])):
        yield from ("", *(f"  {name if first else '':<7} {line}".rstrip() for first, line in _mark_first(lines)))


def _mark_first(lines: list[str]) -> Iterator[tuple[bool, str]]:
    yield from ((place == 0, line) for place, line in enumerate(lines))


def _messages(code: str) -> Iterator[str]:
    """Yield each message of an error's code, with its advice."""
    for message in messages_of(code):
        yield ""
        yield from ([f"  says    {message.what}"] if message.what else [])
        yield from ([f"  do      {message.fix}"] if message.fix else [])


def _plain(text: str) -> str:
    """Markdown as text, indented: no asterisks but in code, which is indented further."""
    blocks = re.split(r"^```\w*\n", text, flags=re.MULTILINE)  # words and code by turns
    lines = [(place % 2 == 1, line) for place, block in enumerate(blocks) for line in block.splitlines()]
    return "\n".join(f"{'      ' if code else '  '}{line if code else line.replace('*', '')}".rstrip() for code, line in lines)


def _names(word: str) -> Iterator[str]:
    """Sections of a group, of kinds and recipes, of settings; `learner.pruner.alpha` is looked up as `pruner.alpha`."""
    name = word.replace("=", ".")
    if name in TERMS:
        yield _plain(text(TERMS[name]).lstrip("# "))
    if name in LISTED:
        yield _group(name)
    yield from _kinds(name)
    yield from _settings(name)
    first, _, rest = name.partition(".")
    if rest and first in GROUPS and not any(entry.path == name for entry in settings.everything()):
        yield from _settings(rest)


def _group(group: str) -> str:
    options = (f"  {name:<24} {settings.about(group, name)}" for name in Folders.of().options(group))
    return "\n".join([f"{group}: one of", *options])


def _kinds(name: str) -> Iterator[str]:
    """Yield the settings of each kind of that name."""
    group, _, kind = name.rpartition(".")
    for each in LISTED if not group else {group} & set(LISTED):
        if kind in Folders.of().options(each):
            own = settings.of_kind(each, kind) if each in GROUPS and kind in settings.kinds_in(each) else ()
            body = [line for entry in own for line in _lines(entry, entry.name)]
            yield "\n".join([f"{each}={kind}", f"  {settings.about(each, kind)}", *(body or _recipe(each, kind))])


def _recipe(group: str, name: str) -> Iterator[str]:
    """The settings that a file without a kind of its name fixes."""
    lines = (shipped_folder() / group / f"{name}.yaml").read_text("utf-8").splitlines()
    yield from (f"  {line}" for line in lines if line and not line.startswith("#"))


def _settings(name: str) -> Iterator[str]:
    """One section per group and meaning; kinds that agree are named together."""
    same: dict[tuple[str, ...], list[SettingEntry]] = {}
    for entry in settings.everything():
        if name in (entry.path, entry.name):
            same.setdefault((entry.path, entry.accepts, entry.default, entry.meaning), []).append(entry)
    for entries in same.values():
        kinds = ", ".join(entry.kind for entry in entries)
        of = f" ({kinds})" if entries[0].group != ROOT else ""
        yield "\n".join(_lines(entries[0], f"{entries[0].path}{of}", indent=""))


def _lines(entry: SettingEntry, title: str, indent: str = "  ") -> Iterable[str]:
    """Yield the lines of one setting: meaning, default, whether one fit answers many values."""
    yield f"{indent}{title}"
    yield f"{indent}    {entry.meaning}"
    default = f"; default {entry.default}" if entry.default and entry.default != "must be given" else ""
    yield f"{indent}    takes {entry.accepts}{default or ('; must be given' if entry.default else '')}"
    if entry.shared is not None:
        yield f"{indent}    {SHARED[entry.shared]}"


# Texts of all errors, read off the source: the words that follow its code where it is raised.
#
# A part of a message that is only known when the error happens is written in angle brackets, `<name>`.

PACKAGE = Path(__file__).parents[1]
WORDS = ("what", "where", "fix")


@dataclass(frozen=True)
class MessageTemplate:
    """A message of a code; texts are empty where the source computes them."""

    what: str
    fix: str


@cache
def templates() -> dict[str, tuple[MessageTemplate, ...]]:
    """Code to the messages that may come with it, in the order of the source files."""
    found: dict[str, dict[MessageTemplate, None]] = {}
    for path in _sources():
        text = path.read_text("utf-8")
        if '"MSEL-' in text and path.parent != PACKAGE / "core":
            for code, template in _of_module(text):
                found.setdefault(code, {})[template] = None
    return {code: tuple(messages) for code, messages in found.items()}


def messages_of(code: str) -> tuple[MessageTemplate, ...]:
    """Messages of one code; only files that name it are read.

    >>> messages_of("MSEL-222")[0].fix
    'rename one of them'
    """
    found: dict[MessageTemplate, None] = {}
    for path in _sources():
        text = path.read_text("utf-8")
        if f'"{code}"' in text and path.parent != PACKAGE / "core":
            found.update({template: None for name, template in _of_module(text) if name == code})
    return tuple(found)


def _sources() -> list[Path]:
    """The source files of modelsel and of the packages beside it."""
    return [path for place in (PACKAGE, *map(Path, folders())) for path in sorted(place.rglob("*.py"))]


def _of_module(text: str) -> Iterator[tuple[str, MessageTemplate]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[tuple[str, MessageTemplate]]:
    """A `Problem`, or a function that makes one of a code and the words after it."""
    codes = [place for place, word in enumerate(call.args) if re.fullmatch(r"MSEL-\d{3}", _printed_text(word))]
    if not codes:
        return
    words = list(call.args[codes[0] + 1 :])
    order = WORDS if len(words) > 2 or _name_of_call(call) == "Problem" else ("what", "fix")
    given: dict[str | None, ast.expr] = dict(zip(order, words))
    given |= {word.arg: word.value for word in call.keywords}
    template = MessageTemplate(*(_printed_text(given[name]) if name in given else "" for name in ("what", "fix")))
    if re.sub(r"<\w+>", "", template.what + template.fix).strip():
        yield _printed_text(call.args[codes[0]]), template


def _name_of_call(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _printed_text(node: ast.expr) -> str:
    """A text as it is printed; empty where it is computed as a whole."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else f"<{_name(part)}>" for part in node.values)
    return ""


def _name(part: ast.expr) -> str:
    """The last name of what is filled in: `<column>` for `{table.column!r}`."""
    assert isinstance(part, ast.FormattedValue)
    names = [node.attr if isinstance(node, ast.Attribute) else node.id
             for node in ast.walk(part.value) if isinstance(node, ast.Attribute | ast.Name)]  # fmt: skip
    return names[0].strip("_") if names else "value"
