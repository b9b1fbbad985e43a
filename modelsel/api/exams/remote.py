"""An exam on a server."""

import json
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import pandas as pd

from modelsel.api.exams.base import Exam, frame_of
from modelsel.core.errors import BAD_DATA, REFUSED, ConfigurationError, DataError, ModelselError, Problem, RefusedError

SECONDS = 60.0


class RemoteExam(Exam):
    """An exam opened over HTTP, with the token that its examiner gave out."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address
        self._token = token
        self._terms: Mapping[str, Any] | None = None

    @property
    def terms(self) -> Mapping[str, Any]:
        if self._terms is None:
            self._terms = dict(json.loads(self._asked("/terms")))
        return self._terms

    def answer(self, predictions: Any, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        table = self._table(predictions)
        body = Path(table).read_bytes() if isinstance(table, str | Path) else _csv(table)
        query = {"name": name, **({"rate": forecast[0], "rows": forecast[1]} if forecast else {})}
        return dict(json.loads(self._asked(f"/answers?{urlencode(query)}", body)))

    def board(self) -> pd.DataFrame:
        return pd.DataFrame(json.loads(self._asked("/board")))

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self._asked("/budget")))

    def _side(self, side: str) -> pd.DataFrame:
        return frame_of(self._asked(f"/{side}"), self.terms)

    def _asked(self, path: str, body: bytes | None = None) -> bytes:
        """Send a request to the server and return the body of its reply; a body is posted as Parquet or CSV."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        kind = "application/vnd.apache.parquet" if body and body.startswith(b"PAR1") else "text/csv"
        request = Request(self.address + path, body, {**headers, **({"Content-Type": kind} if body else {})})  # noqa: S310  http alone
        try:
            with urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
                return bytes(reply.read())
        except HTTPError as error:
            raise _told(error, urlsplit(self.address).netloc) from error
        except (OSError, HTTPException) as error:
            fix = "check the address, and that `modelsel exam serve` runs there; asking again costs nothing twice"
            why = getattr(error, "reason", None) or error or type(error).__name__
            raise ConfigurationError(Problem("MSEL-821", f"no answer ({why})", self.address, fix)) from error


def _told(error: HTTPError, where: str) -> ModelselError:
    """Turn the server's error message into the error that it would be here."""
    try:
        said = json.loads(error.read())
        kinds = {BAD_DATA: DataError, REFUSED: RefusedError}
        kind = kinds.get(int(said["exit_code"]), ConfigurationError)
        return kind(Problem("MSEL-822", str(said["error"]), where, "the terms say what is allowed"))
    except (ValueError, KeyError, TypeError):
        return ConfigurationError(
            Problem("MSEL-821", f"the server says {error.code}", where, "check the address and the token")
        )


def _csv(table: Any) -> bytes:
    """Write a data frame of any library as CSV."""

    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    written: str = frame.write_csv()
    return written.encode()
