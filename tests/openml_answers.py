"""OpenML's own answers, as scikit-learn's package recorded them for its tests, served to urllib without any network."""

import gzip
import io
import json
import re
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError
from urllib.response import addinfourl

import sklearn.datasets

from modelsel.dataset import openml

RECORDED = Path(sklearn.datasets.__file__).parent / "tests/data/openml"
Handler = TypeVar("Handler", bound=urllib.request.HTTPSHandler)
SHORT = {
    "-json-data-list": "-jdl", "-json-data-features": "-jdf", "-json-data-qualities": "-jdq", "-json-data": "-jd",
    "-data_name": "-dn", "-download": "-dl", "-limit": "-l", "-data_version": "-dv", "-status": "-s",
    "-deactivated": "-dact", "-active": "-act",
}  # fmt: skip


@dataclass
class Recorded(urllib.request.HTTPSHandler):
    """Answers for one data set; `asked` are the addresses that were. `other` and `refused` are further answers by address."""

    data_id: int
    packed: bool = False
    other: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def https_open(self, request: urllib.request.Request) -> addinfourl:
        url = request.full_url
        self.asked.append(url)
        if url in self.other:
            return self._answer(self.other[url], url)
        if url in self.refused:
            return self._answer(self.refused[url], url, 412)
        path = RECORDED / f"id_{self.data_id}" / file_of(url)
        if not path.is_file():
            raise URLError(f"nothing recorded for {url}")
        content = gzip.decompress(path.read_bytes())
        refused = path.suffixes[0] == ".json" and "error" in json.loads(content)
        return self._answer(content, url, 412 if refused else 200)

    def _answer(self, content: bytes, url: str, code: int = 200) -> addinfourl:
        headers = Message()
        if self.packed:
            headers["Content-Encoding"] = "gzip"
        answer = addinfourl(io.BytesIO(gzip.compress(content) if self.packed else content), headers, url, code)
        answer.msg = {200: "OK", 412: "Precondition Failed"}[code]  # type: ignore[attr-defined]
        return answer


class Offline(urllib.request.HTTPSHandler):
    """A machine without a network."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def https_open(self, request: urllib.request.Request) -> addinfourl:
        self.asked.append(request.full_url)
        raise URLError("Name or service not known")


@contextmanager
def served(handler: Handler) -> Iterator[Handler]:
    """All of urllib's requests go to the handler."""
    openml._silence.clear()
    urllib.request.install_opener(urllib.request.build_opener(handler))
    try:
        yield handler
    finally:
        urllib.request.install_opener(None)  # type: ignore[arg-type]
        openml._silence.clear()


def file_of(url: str) -> str:
    """What scikit-learn calls the recording of an address."""
    path = re.sub(r"^https://[^/]+/", "", url)
    suffix = ".json.gz"
    if path.startswith("data/"):
        path, suffix = re.sub(r"(download/\d+)/.*", r"\1", path), ".arff.gz"  # older ones have no name after the number
    name = re.sub(r"\W", "-", path)
    for long, short in SHORT.items():
        name = name.replace(long, short)
    return name + suffix
