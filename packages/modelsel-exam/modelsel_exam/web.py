"""The exam over HTTP: a page for people, and a few addresses for programs.

GET  /  /terms  /development  /questions  /board  /state      for everybody
GET  /budget,  POST /answers?rate=&rows=                       with `Authorization: Bearer TOKEN`
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from html import escape
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from modelsel.core.errors import ConfigurationError, DataError, ModelselError, Problem
from modelsel_exam.board import PublicLine, PublicState
from modelsel_exam.options import parts_of
from modelsel_exam.service import ExamService, TooOftenError, UnknownTokenError, error_facts
from modelsel_exam.terms import Terms

SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
}  # fmt: skip
CODES = {2: 400, 3: 422, 4: 403}
Handler = Callable[[Request], Awaitable[Response]]


TURN = CapacityLimiter(1)


T = TypeVar("T")


async def in_turn(work: Callable[[], T]) -> T:
    """Do what one asker wants, those before him first; who waits here takes no thread from those who read."""
    return await to_thread.run_sync(work, limiter=TURN)


def routes(service: ExamService) -> list[Route]:
    """The addresses of one exam."""

    async def front(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(page, service, str(request.base_url)))

    async def budget(request: Request) -> Response:
        asker = service.asker_of(bearer(request.headers.get("authorization")), _where(request))
        return JSONResponse(asdict(await run_in_threadpool(service.budget, asker)))

    async def answers(request: Request) -> Response:
        asker = service.asker_of(bearer(request.headers.get("authorization")), _where(request))
        data = await _body(request, service.largest)
        return JSONResponse(asdict(await in_turn(partial(service.answer, asker, data, _forecast(request)))))

    def gives(work: Callable[[], object]) -> Handler:
        async def handler(_request: Request) -> Response:
            return JSONResponse(await run_in_threadpool(work))

        return handler

    def file(side: str) -> Handler:
        async def handler(_request: Request) -> Response:
            kind = "text/csv; charset=utf-8" if service.terms.files[side].name.endswith(".csv") else "application/octet-stream"
            return Response(await run_in_threadpool(service.file, side), media_type=kind)

        return handler

    made: dict[str, Handler] = {
        "/": front, "/budget": budget, "/terms": gives(service.terms.written),
        "/board": gives(lambda: [asdict(line) for line in service.board()]), "/state": gives(lambda: asdict(service.state())),
        "/development": file("development"), "/questions": file("questions"),
    }  # fmt: skip
    found = [Route(path, _error_response(handler), methods=["GET"]) for path, handler in made.items()]
    return [*found, Route("/answers", _error_response(answers), methods=["POST"])]


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


def _error_response(handler: Handler) -> Handler:
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
            response = JSONResponse(error_facts(error), code)
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
    return forecast_of(*map(request.query_params.get, parts_of("forecast")))


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


# The page of an exam: its terms, the board, how to ask. No script, nothing from elsewhere; every text is escaped.

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "body{color:CanvasText;background:Canvas}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}td,th{border-bottom:1px solid #8886;padding:.35rem .6rem;"
    "text-align:left;vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.i{white-space:nowrap;font-variant-numeric:tabular-nums}"
    ":root{color-scheme:light dark}h2{margin-top:2.2rem}pre{background:#8882;padding:.8rem;overflow-x:auto;border-radius:4px}"
    ".scroll{overflow-x:auto}.quiet{opacity:.75}"
)
SHOWN = {
    "full": "the exact number of errors, with an interval",
    "grid": "the score rounded to a step, with an interval",
    "predicted": "the exact number of errors, with an interval; an answer that its forecast foresaw costs little",
    "ladder": "a board that moves only for an answer that is better by a step",
    "better": "one bit: better than the best so far by a step, or not; scores at the close",
    "passfail": "whether the error rate meets the target",
    "closed": "nothing before the exam is closed",
    "thresholdout": "your error on the development rows, unless the questions say otherwise; no interval",
}


def page(service: ExamService, address: str) -> str:
    """The whole page, as it stands now."""
    terms, state, lines = service.terms, service.state(), service.board()
    title = escape(terms.name)
    body = "".join((_terms(terms, state), _board(lines, state.state), _asking(terms, address)))
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'><title>{title}</title>"
    return (
        f"<!doctype html><html lang='en'><head>{head}<style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )


def _terms(terms: Terms, state: PublicState) -> str:
    """Write the terms of the exam as a table of HTML."""
    limits, policy = terms.per_asker, terms.policy
    looks = "no limit" if limits.looks is None else f"{limits.looks}"
    nats = "" if limits.nats is None else f", and {limits.nats:g} nats"
    target, measure = terms.columns.target, state.measure
    if terms.of_numbers:
        target, measure = f"{target}, a number{' in ' * bool(terms.measured_in)}{terms.measured_in}", f"rows {terms.wrong}"
    facts = [
        ("state", state.state), ("questions", f"{terms.rows.questions:,}"),
        ("development rows", f"{terms.rows.development:,}"), ("to predict", target),
        *([] if terms.of_numbers else [("classes", ", ".join(terms.classes))]), ("measure", measure),
        ("shown", SHOWN[policy.release]), ("answers per asker", looks + nats),
        ("anything shown is wrong", f"with probability {policy.delta:g} at most: intervals {policy.intervals:g}, "
                                    f"verdicts {policy.verdicts:g}"),
        ("so far", f"{state.answers} answers, {state.spent:.2f} nats spent by all askers together"),
    ]  # fmt: skip
    if state.next:
        facts.append(("the next interval", f"at most ±{state.next.half:.3f} wide, whoever asks"))
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in facts)
    notes = "".join(f"<p class='quiet'>{escape(note[:1].upper() + note[1:])}.</p>" for note in terms.notes)
    return f"<h2>Terms</h2><div class='scroll'><table>{rows}</table></div>{notes}"


def _board(lines: Sequence[PublicLine], state: str) -> str:
    """Write the board as a table of HTML."""
    if not lines:
        return "<h2>Board</h2><p>No answer has been handed in.</p>"
    head = "<tr><th class='n'>#</th><th>asker</th><th class='n'>score</th><th>interval</th><th>beside the line above</th></tr>"
    rows = "".join(_line(place, line) for place, line in enumerate(lines, 1))
    why = (
        "Verdicts are of paired tests." if state == "closed" else "Only released intervals are compared while the exam is open."
    )
    return f"<h2>Board</h2><div class='scroll'><table>{head}{rows}</table></div><p class='quiet'>{why}</p>"


def _line(place: int, line: PublicLine) -> str:
    """Write one line of the board."""
    limits = f"[{line.interval[0]:.4f}, {line.interval[1]:.4f}]" if line.interval else ""
    score = f"{line.score:.4f}" if line.score is not None else line.said
    beside = {None: "", "fewer errors": "the line above is better"}.get(line.beside, line.beside)
    cells = [("n", str(place)), ("", line.asker), ("n", score), ("i", limits), ("", beside)]
    return "<tr>" + "".join(f"<td class='{kind}'>{escape(str(text))}</td>" for kind, text in cells) + "</tr>"


def _asking(terms: Terms, address: str) -> str:
    return "<h2>How to ask</h2>" + "".join(
        f"<p>{escape(said)}</p><pre>{escape(code)}</pre>" for said, code in _ways(terms, address.rstrip("/"))
    )


def _ways(terms: Terms, address: str) -> Iterator[tuple[str, str]]:
    """Yield each way of handing in an answer, with an example."""
    token, target = terms.columns.token, terms.columns.target
    said = "Ask the examiner for a token. Predict the questions, and hand in a CSV file with a line per question:"
    yield said, f"{token},prediction\n…,{12.5 if terms.of_numbers else terms.classes[0]}"
    sent = f'curl -H "Authorization: Bearer $TOKEN" \\\n  --data-binary @answer.csv \\\n  "{address}/answers?rate=0.1&rows=300"'
    foreseen = "the error rate that you foresee, and from how many rows (an answer that was foreseen costs little)"
    yield f"By the command line, with {foreseen}:", f"curl -O {address}/questions\n{sent}"
    asked = f"exam = modelsel.exam({address!r}, token=token)\nlearn(exam.development, {target!r})\n"
    yield "In Python:", f"import modelsel\n\n{asked}exam.answer(predict(exam.questions), name='mine')"
    yield "As an agent, by the Model Context Protocol (with the token as bearer):", f"{address}/mcp"
