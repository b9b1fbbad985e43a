"""Settings that an error or a finding proposes, in the one form in which they can be typed for any name of a column.

    'dataset.ignore=["Interest.Rate","is member?"]'

That is a word of a POSIX shell, within it an override of Hydra's grammar, and, but for names with a backslash, text of Python
too: `modelsel.run(FILE, TARGET, 'dataset.ignore=["is member?"]')`.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

Setting = str | int | bool | tuple[str, ...] | Mapping[str, object]
APOSTROPHE = "'"
BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # words that need no quotes in either grammar
TAKEN = {"true", "false", "null", "nan", "inf", "none"}  # words that mean something else there


@dataclass(frozen=True)
class Proposal:
    """A setting and its value. `sure`: one reading is nearly certain, and this is it.

    >>> print(Proposal("dataset.ignore", ("a b", "it's")))
    'dataset.ignore=["a b","it'"'"'s"]'
    >>> print(Proposal("dataset.unit", "patient"), Proposal("dataset.unit", "patient no"), Proposal("task", "regression"))
    dataset.unit=patient "dataset.unit='patient no'" task=regression
    """

    setting: str
    value: Setting
    sure: bool = False

    def __str__(self) -> str:
        """The word as it is typed in a shell."""
        plain = isinstance(self.value, str) and not is_bare(self.value) and not set(self.value) & set("'\"\\$`!\n")
        return f'"{self.override}"' if plain else shlex.quote(self.override)

    @property
    def override(self) -> str:
        """The setting in Hydra's grammar, as it is handed over in Python."""
        return f"{self.setting}={write_value(self.value)}"


def is_bare(text: str) -> bool:
    """Say whether a text needs no quotes: a word, and none that means a number or a truth value."""
    return BARE.fullmatch(text) is not None and text.lower() not in TAKEN


def write_value(value: object) -> str:
    """Write a value in Hydra's grammar; texts within a list or a mapping in quotes, so that none is taken for a number."""
    if isinstance(value, str):
        return value if is_bare(value) else in_quotes(value, "" if APOSTROPHE in value else APOSTROPHE)
    if isinstance(value, list | tuple):
        return f"[{','.join(in_quotes(item) if isinstance(item, str) else write_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{write_value(item)}" for key, item in value.items()) + "}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def in_quotes(text: str, quote: str = "") -> str:
    r"""A text in Hydra's grammar that stays what it is: quotes, backslashes before them and `${` are told.

    >>> print(in_quotes("a \\n"), in_quotes('a "b"'), in_quotes("${x}"), in_quotes("C:\\"))
    "a \n" 'a "b"' "\${x}" "C:\\"
    """
    quote = quote or (APOSTROPHE if '"' in text and APOSTROPHE not in text else '"')
    text = re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + r"\${", text)
    text = re.sub(rf"(\\+)(?={quote}|\Z)", lambda found: found[1] * 2, text)
    return quote + text.replace(quote, f"\\{quote}") + quote
