"""Data sets of OpenML, by name and version or by their number; fetched once, then read from disk.

Kinds are those that the file declares: nominal features and classes keep their levels in declared order, numbers are numeric,
`?` is missing. Columns that OpenML marks as identifiers or to be ignored are no features.
Source: Vanschoren, van Rijn, Bischl & Torgo (2014), *OpenML: networked science in machine learning*.
"""

import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

import platformdirs

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Finding, Loaded, Task
from modelsel.dataset.arff import Arff
from modelsel.dataset.assemble import assemble
from modelsel.dataset.base import TableSettings

# OpenML's answers, fetched once and kept on disk: a description, what it says of the columns, the ARFF file.
#
# One attempt each, with a limit on waiting, and none for a minute after nobody answered. Kept under `MODELSEL_HOME`, else the
# platform's cache directory; what was kept is read without asking, so that a data set can be used offline and does not change
# under a study.

API = "https://www.openml.org/api/v1/json/data"
REFUSED = 412  # the status with which OpenML says that it has no such data set
GZIP = 16 + zlib.MAX_WBITS


QUIET_FOR = 60.0  # seconds without another attempt: a sweep over ten data sets waits once


class NoAnswerError(Exception):
    """OpenML did not answer, or not with data; being online may help."""


class NoDataSetError(Exception):
    """OpenML says that it has no such data set."""


@dataclass(frozen=True)
class FailedRequest:
    """A request of this process that OpenML did not answer."""

    why: str
    until: float


_silence: list[FailedRequest] = []  # the last one


@dataclass(frozen=True)
class ResponseCache:
    """A folder of answers, `seconds` to wait for one that is not in it."""

    folder: Path
    seconds: float

    @classmethod
    def of(cls, folder: str | None, seconds: float) -> "ResponseCache":
        return cls(Path(folder) if folder else usual_folder(), seconds)

    def number(self, name: str, version: int) -> int:
        """The id of a name and version, also where it was withdrawn from the list of active ones."""
        where = f"{API}/list/data_name/{quote(name.lower(), safe='')}/limit/2/data_version/{version}"
        key = f"name/{quote(name.lower(), safe='')}-{version}.json"
        try:
            found = self._json(key, where)
        except NoDataSetError:
            found = self._json(key, f"{where}/status/deactivated")
        return int(found["data"]["dataset"][0]["did"])

    def description(self, number: int) -> dict[str, Any]:
        """Name, version, target, address and checksum of the file, status."""
        return dict(self._json(f"{number}/description.json", f"{API}/{number}")["data_set_description"])

    def columns(self, number: int) -> list[dict[str, object]]:
        """Name, and whether it is the target, a row's identifier or to be ignored, per column."""
        return list(self._json(f"{number}/features.json", f"{API}/features/{number}")["data_features"]["feature"])

    def arff(self, number: int, description: dict[str, object]) -> Path:
        """The file, whole: ValueError where its checksum is another (it is then not kept)."""
        address = re.sub("^http:", "https:", str(description["url"]))
        expected = str(description.get("md5_checksum") or "")

        def check(content: bytes) -> None:
            if expected and hashlib.md5(content, usedforsecurity=False).hexdigest() != expected:
                raise ValueError(f"the file of {address} has not the checksum {expected} that OpenML says it has")

        path = self._stored_answer(f"{number}/data.arff", address, check)
        check(path.read_bytes())
        return path

    def _json(self, key: str, address: str) -> dict[str, Any]:
        """A JSON answer; ValueError where it is none."""
        return dict(json.loads(self._stored_answer(key, address, json.loads).read_text("utf-8")))

    def _stored_answer(self, key: str, address: str, check: Callable[[bytes], object]) -> Path:
        """Return the file of an answer, fetched and checked when it is not there yet; a file appears whole or not at all."""
        path = self.folder / key
        if not path.is_file():
            content = _fetch(address, self.seconds)
            check(content)
            _write(path, content)
        return path


def _write(path: Path, content: bytes) -> None:
    """Write a file under another name first, so that no half of it is ever read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        what, fix = f"cannot write {path} ({error.strerror})", "set dataset.cache to a folder that can be written"
        raise ConfigurationError(Problem("MSEL-302", what, "dataset.cache", fix)) from error


def usual_folder() -> Path:
    """Return the default folder of answers."""
    home = os.environ.get("MODELSEL_HOME")
    return (Path(home).expanduser() if home else Path(platformdirs.user_cache_dir("modelsel", appauthor=False))) / "openml"


def _fetch(address: str, seconds: float) -> bytes:
    """The body of an answer. Raises NoAnswerError or NoDataSetError, with the reason."""
    if not address.startswith("https://"):
        raise ValueError(f"the address {address!r} is not of the web")
    if _silence and time.monotonic() < _silence[-1].until:
        raise NoAnswerError(f"not asked again so soon: {_silence[-1].why}")
    try:
        request = Request(address, headers={"Accept-Encoding": "gzip"})  # noqa: S310 as above
        with urlopen(request, timeout=seconds) as answer:  # noqa: S310
            content: bytes = answer.read()
            packed = answer.headers.get("Content-Encoding") == "gzip"
        return zlib.decompress(content, GZIP) if packed else content
    except HTTPError as error:
        with error:
            if error.code == REFUSED:
                raise NoDataSetError(str(error.reason)) from error
            raise NoAnswerError(f"the answer is {error.code} {error.reason}") from error
    except (OSError, HTTPException, zlib.error) as error:
        reason = error.reason if isinstance(error, URLError) else error
        why = f"no answer ({str(reason) or type(error).__name__})"
        _silence[:] = [FailedRequest(why, time.monotonic() + QUIET_FOR)]
        raise NoAnswerError(why) from error


NO_ANSWER = "MSEL-307"
UNUSED = ("is_ignore", "is_row_identifier")


@dataclass(frozen=True, kw_only=True)
class Openml(TableSettings):
    """A data set of OpenML, asked for once. The target is the one it declares unless `target` says otherwise."""

    name: str | None = plain(None, help="as OpenML calls it; versions of one name may be different data")
    version: int = whole(1, least=1, help="of the name")
    data_id: int | None = whole(None, least=1, help="or its number: 31 is credit-g, version 1")
    cache: str | None = plain(None, help="the folder that keeps what was fetched; null: the person's own")
    seconds: float = number(10.0, above=0, help="to wait for each answer; there is one attempt")
    encoding: str = plain("utf-8", help="of the file: utf-8, latin-1, ...")

    def problems(self) -> Iterator[Problem]:
        """Yield problems of the settings by themselves; those against the columns follow once they are there."""
        if (self.name is None) == (self.data_id is None):
            what = "no data set is named" if self.name is None else "both a name and a number are given"
            yield Problem("MSEL-301", what, "dataset.name", "set dataset.name and dataset.version, or dataset.data_id")

    def load(self) -> Loaded:
        """ConfigurationError where OpenML does not answer or has no such data set, DataError where it cannot be used."""
        ConfigurationError.raise_if(self.problems())
        try:
            return self._load_stored(ResponseCache.of(self.cache, self.seconds))
        except NoAnswerError as error:
            fix = "go online once (what was fetched is kept), or give its file: dataset=arff dataset.path=FILE"
            raise ConfigurationError(Problem(NO_ANSWER, f"{self._called}: {error}", "openml.org", fix)) from error
        except NoDataSetError as error:
            fix = "names and versions are those of openml.org"
            raise ConfigurationError(Problem("MSEL-302", f"there is no {self._called} ({error})", "openml.org", fix)) from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            fix = "try again later: an answer that is not whole is not kept"
            raise DataError(Problem("MSEL-309", f"{self._called} cannot be read ({error!r})", "openml.org", fix)) from error

    def read(self) -> Task:
        return self.load().task

    def _load_stored(self, store: ResponseCache) -> Loaded:
        """Read a data set from the store of answers, with the roles that OpenML declares."""
        known = store.number(str(self.name), self.version) if self.data_id is None else self.data_id
        description, said = store.description(known), store.columns(known)
        raw = Arff(encoding=self.encoding).raw(store.arff(known, description))
        settings, names = self._with(said), [column.name for column in raw.columns]
        ConfigurationError.raise_if(settings.header_problems(names))
        loaded = assemble(raw.columns, settings.settle(names), str(description["name"]), weights=raw.weights)
        return Loaded(loaded.task, (*_findings(description), *loaded.findings))

    def _with(self, said: Sequence[Mapping[str, object]]) -> TableSettings:
        """Fill these settings, where they say nothing, with what OpenML says."""
        unused = {str(column["name"]): "ignore" for column in said if any(column.get(mark) == "true" for mark in UNUSED)}
        roles = {self.target, *self.roles()}
        features = {**{name: kind for name, kind in unused.items() if name not in roles}, **self.features}
        targets = [str(column["name"]) for column in said if column.get("is_target") == "true"]
        return replace(self, features=features, target=self.target or (targets[0] if len(targets) == 1 else None))

    @property
    def _called(self) -> str:
        return f"data set {self.data_id}" if self.name is None else f"data set '{self.name}' of version {self.version}"


def _findings(description: Mapping[str, object]) -> Iterator[Finding]:
    """Yield findings that identify the data, and OpenML's own warnings about them."""
    which = f"OpenML's data set {description['id']}: {description['name']}, version {description['version']}"
    yield Finding("FROM_OPENML", "info", f"{which}, md5 {description.get('md5_checksum')}", "")
    if description.get("status", "active") != "active":
        yield Finding("OPENML_STATUS", "medium", f"OpenML calls it {description['status']}", "look for a newer version")
    for mark in ("error", "warning"):
        if description.get(mark):
            yield Finding("OPENML_STATUS", "medium", f"OpenML says: {description[mark]}", "look it up at openml.org")
