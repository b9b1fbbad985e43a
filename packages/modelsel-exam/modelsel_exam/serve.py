"""`modelsel exam serve DIR`: HTTP and the Model Context Protocol in one process, the only one that can read the labels."""

import io
import json
import os
from asyncio import TimerHandle, Transport
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import h11
import pandas as pd
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from uvicorn.protocols.http.h11_impl import H11Protocol

from modelsel.core.errors import ConfigurationError, ModelselError, Problem
from modelsel_exam.board import PublicLine
from modelsel_exam.proposals import GateClose, GateProposal, GateStatus
from modelsel_exam.service import Asker, AskerBudget, ExamService, error_facts
from modelsel_exam.sit import Shown
from modelsel_exam.web import bearer, forecast_of, in_turn

# Connections of the server: a request is complete in time, a reply is read, and one machine has so many connections.

SECONDS = 30.0  # within which a request, body and all, has to be here
LEAST = 1 << 16  # bytes of a reply that are read in half of that time, or all that is left
OF_A_MACHINE, OF_ALL = 64, 256  # connections; behind a proxy all come from one machine
INCOMPLETE = (h11.IDLE, h11.SEND_BODY)  # what the caller is at, while something of the request is missing


class TimedConnection(H11Protocol):  # type: ignore[misc]  # uvicorn has no types
    """A connection that is closed when a request that was begun, or awaited from the start, is not here in time.

    So it is where a reply waits to be read and two looks in a row, half the time apart, find hardly less of it.
    """

    seconds = SECONDS
    most = OF_A_MACHINE
    _late: TimerHandle | None = None
    _next: TimerHandle | None = None
    _unsent = _stuck = 0

    def connection_made(self, transport: Transport) -> None:
        """Take a connection, and start its clock."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if sum(1 for one in self.connections if (getattr(one, "client", None) or ("",))[0] == host) > self.most:
            transport.abort()
        else:
            self._wait()
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has come; the clock runs while something is missing."""
        super().data_received(data)
        if self.conn.their_state not in INCOMPLETE:
            self._stop()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the connection go, and its clocks."""
        self._stop()
        if self._next is not None:
            self._next.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.seconds, self.transport.abort)

    def _watch(self) -> None:
        """Look how much of a reply is still unread, and look again."""
        left = self.transport.get_write_buffer_size()
        self._stuck = self._stuck + 1 if left > max(0, self._unsent - LEAST) else 0
        self._unsent = left
        if self._stuck > 1:
            self.transport.abort()
        else:
            self._next = self.loop.call_later(self.seconds / 2, self._watch)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class ProxiedConnection(TimedConnection):
    """A connection behind a declared proxy, from which every connection comes."""

    most = OF_ALL


def application(service: ExamService, host: str = "127.0.0.1") -> object:
    """The ASGI application: `/mcp` for agents, the rest for people and programs."""
    try:
        from modelsel_exam.web import CallRates, routes
    except ImportError as error:
        raise ConfigurationError(_missing(error)) from error
    server = agents(service)
    app = server.streamable_http_app(json_response=True, stateless_http=True, max_request_body_size=service.largest, host=host)
    app.router.routes.extend(routes(service))
    return CallRates(app, service)


def serve(folder: Path, host: str = "127.0.0.1", port: int = 8800, rate: int = 20, proxy: str = "") -> None:
    """Serve until interrupted; a token may hand in `rate` answers a minute.

    Callers are told apart by address. What a `proxy` says of them (`X-Forwarded-For`) is believed from its own address alone.
    """
    try:
        import uvicorn

    except ImportError as error:
        raise ConfigurationError(_missing(error)) from error
    app = application(ExamService(folder, rate, max(240, 4 * rate)), host)
    uvicorn.run(
        app, host=host, port=port, log_level="warning", server_header=False, access_log=False, ws="none",
        http=ProxiedConnection if proxy else TimedConnection, limit_concurrency=OF_ALL,
        proxy_headers=bool(proxy), forwarded_allow_ips=proxy or "",
    )  # fmt: skip


def serve_stdio(folder: Path) -> None:
    """Speak the Model Context Protocol on stdin and stdout."""
    agents(ExamService(folder)).run("stdio")


def _missing(error: ImportError) -> Problem:
    return Problem("MSEL-965", f"{error.name} is not installed", "modelsel exam serve", "pip install 'modelsel[exam]'")


# The exam by the Model Context Protocol, with the official SDK: the same service, as tools for agents.

TOKEN = "MODELSEL_EXAM_TOKEN"  # noqa: S105  the name of a variable
MOST = 2000  # rows that one call returns
HOW = (
    "A sealed test set. Read the terms, learn from the development rows, predict the questions and hand in one prediction "
    "per token. Every answer costs nats that widen everybody's later intervals: decide on the development rows, ask rarely."
)

HOW_TO_PROPOSE = (
    "A gate for a loop. Learn from the development rows, predict every question, and propose the predictions: keep or discard. "
    "Go on from what is kept. `close` ends the loop for everybody with one final number: call it once, at the end."
)


@contextmanager
def refusals() -> Iterator[None]:
    """A refusal is a tool's error (`isError`), with the text that others are told as JSON."""
    try:
        yield
    except ModelselError as error:
        raise ToolError(json.dumps(error_facts(error))) from error


class Tools:
    """The tools that an agent may call; names and descriptions are those of the methods."""

    def __init__(self, service: ExamService) -> None:
        self._service = service

    def terms(self) -> dict[str, Any]:
        """The terms of the exam: columns, classes (none of numbers), measure, how answers are shown, budgets."""
        return self._service.terms.written()

    def development(self, first: int = 0, rows: int = 500) -> str:
        """Development rows with their classes or numbers, as CSV; `first` counts from 0."""
        return _part(self._service, "development", first, rows)

    def questions(self, first: int = 0, rows: int = 500) -> str:
        """Questions, as CSV: a token and features; `first` counts from 0."""
        return _part(self._service, "questions", first, rows)

    async def hand_in(
        self,
        predictions: dict[str, str | float],
        context: Context,
        forecast_rate: float | None = None,
        forecast_rows: int | None = None,
    ) -> Shown:
        """Hand in a class, or a number, for every token of the questions.

        `forecast_rate` is the error rate that you foresee (of numbers the share of rows off by more than the tolerance),
        `forecast_rows` from how many rows: an answer that was foreseen costs little.
        """
        with refusals():
            asker = self._asker(context)
            forecast = forecast_of(forecast_rate, forecast_rows)
            return await in_turn(partial(self._service.answer, asker, _csv(self._service, predictions), forecast))

    def budget(self, context: Context) -> AskerBudget:
        """Show what you have used, what is left, and how wide the interval of one more answer is."""
        with refusals():
            return self._service.budget(self._asker(context))

    def board(self) -> list[PublicLine]:
        """Answers as they were shown, best first."""
        return self._service.board()

    async def propose(self, predictions: dict[str, str | float], context: Context, veto: bool = False) -> GateProposal:
        """Propose a class, or a number, for every token of the questions: keep or discard.

        With `veto` the sealed rows are asked, where it would be kept, whether it is clearly worse there: few times.
        """
        with refusals():
            asker = self._asker(context)
            return await in_turn(partial(self._service.propose, asker, _csv(self._service, predictions), veto))

    def status(self) -> GateStatus:
        """Show how many proposals there were, which is the best, and what was found."""
        return self._service.gate_status()

    async def close(self, context: Context) -> GateClose:
        """End the loop, for everybody and for good: the score of the best proposal on the sealed rows, with its interval."""
        with refusals():
            self._asker(context)
            return await in_turn(self._service.close)

    def _asker(self, context: Context) -> Asker:
        headers = context.headers
        token = bearer(headers.get("authorization")) if headers is not None else os.environ.get(TOKEN)
        return self._service.asker_of(token, "mcp")


def agents(service: ExamService) -> MCPServer:
    """The server; over HTTP the token is the bearer's, over stdio that of `MODELSEL_EXAM_TOKEN`."""
    kind, how = ("exam", HOW) if service.loop is None else ("gate", HOW_TO_PROPOSE)
    server, tools = MCPServer(f"{kind} {service.exam.terms.name}", instructions=how), Tools(service)
    own = (tools.propose, tools.status, tools.close) if service.loop is not None else (tools.hand_in, tools.budget, tools.board)
    for tool in (tools.terms, tools.development, tools.questions, *own):
        server.add_tool(tool)
    return server


def _part(service: ExamService, side: str, first: int, rows: int) -> str:
    """Return some rows of a file as CSV."""
    data = service.file(side)
    if data.startswith(b"PAR1"):
        text: str = pd.read_parquet(io.BytesIO(data)).iloc[max(0, first) : max(0, first) + min(rows, MOST)].to_csv(index=False)
        return text
    head, *lines = data.decode().splitlines(keepends=True)
    return head + "".join(lines[max(0, first) : max(0, first) + min(rows, MOST)])


def _csv(service: ExamService, predictions: Mapping[str, str | float]) -> bytes:
    frame = pd.DataFrame({service.exam.terms.token: list(predictions), "prediction": list(predictions.values())})
    return frame.to_csv(index=False).encode()
