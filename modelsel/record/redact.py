"""Nothing secret goes on record: passwords in addresses and the values of secret-looking variables become `***`.

What counts as a secret: the password of any `scheme://user:password@host`, query values and settings named like one, and the
value of every environment variable whose name says so (TOKEN, SECRET, PASSWORD, CREDENTIAL, API_KEY and the like at its end).
"""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "***"
SHORTEST = 6  # characters: shorter values would blank out ordinary words
FOLDERS = ("PWD", "OLDPWD")  # the shell's, and no passwords
_NAME = re.compile(
    r"(?i)(token|secret|password|passwd|passphrase|pwd|credentials?|(?:api|access|private|account|auth)[_-]?key)$"
)
_ADDRESS = re.compile(r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@'\"]*:)(?P<password>[^\s/'\"]+)(?=@)")
_WORDS = (
    "token", "secret", "password", "passwd", "pwd", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key",
    "signature", "sig",
)  # fmt: skip
# Reports are long: both begin with signs that are rare, and what stands before them is looked at where they stand.
_SETTING = re.compile(rf"(?i)=(?:{'|'.join(f'(?<={word}=)' for word in _WORDS)})[^\s&'\",;}}\])]+")
_PASSWORD = re.compile(r"://[^\s:/@'\"]*:[^\s/'\"]+@")  # in every text in which there is such an address


@dataclass(frozen=True)
class Redactor:
    """Hides secrets in text and in plain data. `extra` are values known to be secret."""

    extra: tuple[str, ...] = ()

    @classmethod
    def of(cls, *addresses: str | None) -> "Redactor":
        """A redactor that also knows the passwords of these addresses and of the environment, wherever they turn up."""
        found = [match["password"] for address in addresses if address for match in _ADDRESS.finditer(address)]
        return cls((*found, *map(unquote, found), *_environment(os.environ)))

    def text(self, value: str) -> str:
        """Hide passwords and secret values in a text.

        >>> Redactor(("canary-1",)).text("postgresql://me:pa55@db/x?password=abc said canary-1")
        'postgresql://me:***@db/x?password=*** said ***'
        """
        value = _ADDRESS.sub(rf"\g<head>{HIDDEN}", value) if _PASSWORD.search(value) else value
        value = _SETTING.sub(f"={HIDDEN}", value)
        return self._values.sub(HIDDEN, value) if self._values else value

    def data(self, value: object) -> Any:
        """Remove secrets from plain data, also in the values of keys that are named like one.

        >>> Redactor().data({"uri": "http://a:b@c", "password": "x", "seed": 1})
        {'uri': 'http://a:***@c', 'password': '***', 'seed': 1}
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self._under(str(key), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return value

    def _under(self, key: str, value: object) -> object:
        secret = isinstance(value, str) and value and _NAME.search(key) and not value.startswith("${")
        return HIDDEN if secret else self.data(value)

    @cached_property
    def _values(self) -> "re.Pattern[str] | None":
        """Compile the pattern of all known secrets, as they stand, quoted or escaped."""
        known = {value for value in self.extra if len(value) >= SHORTEST}
        forms = {form for value in known for form in (value, quote(value, safe=""), value.encode("unicode_escape").decode())}
        patterns = map(_pattern, sorted(forms, key=len, reverse=True))
        return re.compile("|".join(patterns)) if forms else None


def without_secrets(text: str) -> str:
    """Hide secret values of the environment in a text, also passwords in any address that it holds."""
    return Redactor.of(*(value for value in os.environ.values() if "://" in value and "@" in value)).text(text)


class RedactingFilter(logging.Filter):
    """Applies a redactor to every record of a handler, traceback included."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self.redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Take secrets out of a log record, and let it pass."""
        record.msg, record.args = self.redactor.text(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = record.exc_text and self.redactor.text(record.exc_text)
        return True


def _environment(variables: Mapping[str, str]) -> Iterable[str]:
    named = (value for name, value in variables.items() if _NAME.search(name) and name not in FOLDERS)
    return (value for value in named if len(value) >= SHORTEST)


def _pattern(value: str) -> str:
    """The value anywhere; one that is a plain word (a password `postgres`) only where it stands alone."""
    return rf"(?<!\w){value}(?!\w)" if value.isalpha() else re.escape(value)
