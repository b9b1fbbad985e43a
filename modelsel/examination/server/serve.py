"""`modelsel exam serve DIR`: HTTP and the Model Context Protocol in one process, the only one that can read the labels."""

from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.examination.server.service import ExamService


def application(service: ExamService, host: str = "127.0.0.1") -> Any:
    """The ASGI application: `/mcp` for agents, the rest for people and programs."""
    try:
        from modelsel.examination.server.agents import agents
        from modelsel.examination.server.web import CallRates, routes
    except ImportError as error:
        raise ConfigurationError(_missing(error)) from error
    server = agents(service)
    app = server.streamable_http_app(json_response=True, stateless_http=True, max_request_body_size=service.largest, host=host)
    app.router.routes.extend(routes(service))
    return CallRates(app, service)


def serve(folder: Path, host: str = "127.0.0.1", port: int = 8800, rate: int = 20) -> None:
    """Serve until interrupted; a token may hand in `rate` answers a minute."""
    try:
        import uvicorn
    except ImportError as error:
        raise ConfigurationError(_missing(error)) from error
    app = application(ExamService(folder, rate, max(240, 4 * rate)), host)
    # A caller's X-Forwarded-For would be believed from loopback, and rates count by address.
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False, access_log=False, proxy_headers=False)


def serve_stdio(folder: Path) -> None:
    """Speak the Model Context Protocol on stdin and stdout."""
    try:
        from modelsel.examination.server.agents import agents
    except ImportError as error:
        raise ConfigurationError(_missing(error)) from error
    agents(ExamService(folder)).run("stdio")


def _missing(error: ImportError) -> Problem:
    return Problem("MSEL-965", f"{error.name} is not installed", "modelsel exam serve", "pip install 'modelsel[exam]'")
