"""The exam over HTTP: a page for people, and a few addresses for programs.

GET  /  /terms  /development  /questions  /board  /state      for everybody
GET  /budget,  POST /answers?rate=&rows=                       with `Authorization: Bearer TOKEN`
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from modelsel.core.errors import ConfigurationError, DataError, ModelselError, Problem
from modelsel.examination.server.page import page
from modelsel.examination.server.service import ExamService, TooOftenError, UnknownTokenError, said

SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
}  # fmt: skip
CODES = {2: 400, 3: 422, 4: 403}
Handler = Callable[[Request], Awaitable[Response]]


TURN = CapacityLimiter(1)


async def in_turn(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do what one asker wants, those before him first; who waits here takes no thread from those who read."""
    return await to_thread.run_sync(work, limiter=TURN)


def routes(service: ExamService) -> list[Route]:
    """The addresses of one exam."""

    async def front(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(page, service, str(request.base_url)))

    async def budget(request: Request) -> Response:
        asker = service.known(bearer(request.headers.get("authorization")), _where(request))
        return JSONResponse(await run_in_threadpool(service.budget, asker))

    async def answers(request: Request) -> Response:
        asker = service.known(bearer(request.headers.get("authorization")), _where(request))
        data = await _body(request, service.largest)
        return JSONResponse(await in_turn(partial(service.answer, asker, data, _forecast(request))))

    def gives(work: Callable[[], Any]) -> Handler:
        async def handler(_request: Request) -> Response:
            return JSONResponse(await run_in_threadpool(work))

        return handler

    def file(side: str) -> Handler:
        async def handler(_request: Request) -> Response:
            kind = (
                "text/csv; charset=utf-8"
                if service.terms["files"][side]["name"].endswith(".csv")
                else "application/octet-stream"
            )
            return Response(await run_in_threadpool(service.file, side), media_type=kind)

        return handler

    made: dict[str, Handler] = {
        "/": front, "/budget": budget, "/terms": gives(lambda: dict(service.terms)), "/board": gives(service.board),
        "/state": gives(service.state), "/development": file("development"), "/questions": file("questions"),
    }  # fmt: skip
    found = [Route(path, _told(handler), methods=["GET"]) for path, handler in made.items()]
    return [*found, Route("/answers", _told(answers), methods=["POST"])]


def bearer(header: str | None) -> str | None:
    """The token of an Authorization header.

    >>> bearer("Bearer msx_1"), bearer("Basic x"), bearer(None)
    ('msx_1', None, None)
    """
    kind, _, token = (header or "").partition(" ")
    return token.strip() if kind.casefold() == "bearer" and token.strip() else None


class CallRates:
    """Middleware of every address: it limits the calls a minute of an asker, or of a stranger's machine."""

    def __init__(self, app: ASGIApp, service: ExamService) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a caller who calls too often, and pass on everything else."""
        if scope["type"] == "http":
            request = Request(scope)
            token = bearer(request.headers.get("authorization"))
            seconds = await run_in_threadpool(self._service.crowded, token, _where(request))
            if seconds > 0:
                reply = JSONResponse({"error": f"too many calls; wait {seconds:.0f} seconds", "exit_code": 4}, 429,
                                     {**SAFE, "Retry-After": f"{seconds:.0f}"})  # fmt: skip
                await reply(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _told(handler: Handler) -> Handler:
    """Errors as JSON, and headers that keep browsers careful."""

    async def wrapped(request: Request) -> Response:
        try:
            response = await handler(request)
        except ModelselError as error:
            code = (
                401
                if isinstance(error, UnknownTokenError)
                else 429
                if isinstance(error, TooOftenError)
                else CODES.get(error.exit_code, 500)
            )
            response = JSONResponse(said(error), code)
        response.headers.update(SAFE)
        return response

    return wrapped


async def _body(request: Request, most: int) -> bytes:
    """The body, no more than may be one; it is read no further."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise DataError(
                Problem(
                    "MSEL-962",
                    f"more than {most:,} bytes",
                    "predictions",
                    "hand in a line for each row: its token, and what is predicted",
                )
            )
    return bytes(data)


def _forecast(request: Request) -> tuple[float, float] | None:
    return forecast_of(request.query_params.get("rate"), request.query_params.get("rows"))


def forecast_of(rate: Any, rows: Any) -> tuple[float, float] | None:
    """Read the forecast that came with an answer; None without one, ConfigurationError for half of one.

    >>> forecast_of("0.1", "200"), forecast_of(None, None)
    ((0.1, 200.0), None)
    """
    if rate is None and rows is None:
        return None
    try:
        return float(rate), float(rows)
    except (TypeError, ValueError, OverflowError) as error:
        fix = "give rate (an error rate) and rows (from how many), or neither"
        raise ConfigurationError(Problem("MSEL-964", "not a forecast", "rate, rows", fix)) from error


def _where(request: Request) -> str:
    return request.client.host if request.client else ""
