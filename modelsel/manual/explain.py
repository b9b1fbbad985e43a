"""The page of a word: an error's code, a finding's, a group, a kind, a setting. Plain text for a terminal."""

import re
from collections.abc import Iterable, Iterator

from modelsel.config.sources.folders import Folders, shipped
from modelsel.core.spec import GROUPS
from modelsel.manual import messages, pages, settings
from modelsel.manual.pages import CodePage
from modelsel.manual.settings import ROOT, SettingEntry

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
    """Everything that has a page."""
    yield from pages.errors()
    yield from pages.findings()
    yield from pages.TERMS
    yield from LISTED
    for group in LISTED:
        yield from (name for name in Folders.of().options(group))
    for entry in settings.everything():
        yield from (entry.path, entry.name)


def _code(code: str) -> Iterator[str]:
    """Yield the text of an error's or a finding's code."""
    if code in pages.errors():
        _, meaning = pages.errors()[code]
        yield "\n".join([code, f"  {meaning}", *_messages(code), *_case(pages.of_code(code))])
    if code in pages.findings():
        yield f"{code}\n{_plain(pages.findings()[code])}"


def _case(page: CodePage) -> Iterator[str]:
    """Yield the reason why an error matters, an example that raises it, and the way to silence it."""
    raised = [line for line in page.example.splitlines() if not line.startswith("```")]
    for name, lines in (("why", [page.why]), ("example", raised), ("silence", [page.silence])):
        yield from ("", *(f"  {name if first else '':<7} {line}".rstrip() for first, line in _counted(lines)))


def _counted(lines: list[str]) -> Iterator[tuple[bool, str]]:
    yield from ((place == 0, line) for place, line in enumerate(lines))


def _messages(code: str) -> Iterator[str]:
    """Yield each message of an error's code, with its advice."""
    for message in messages.of_code(code):
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
    if name in pages.TERMS:
        yield _plain(pages.text(pages.TERMS[name]).lstrip("# "))
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
    lines = (shipped() / group / f"{name}.yaml").read_text("utf-8").splitlines()
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
