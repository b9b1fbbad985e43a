"""The server: who may ask, what is told, what is not; by HTTP and by the Model Context Protocol."""

import asyncio
import bz2
import gzip
import json
import lzma
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import modelsel
from exam_tests.conftest import errors, guess
from exam_tests.serving import Serving
from modelsel.core.errors import ConfigurationError, DataError, LedgerError, Problem, RefusedError
from modelsel_exam.service import Askers, ExamService, error_facts
from modelsel_exam.sit import ExamSession
from tests.extras import needs

mcp, TestClient = needs("mcp"), needs("starlette.testclient").TestClient
connections, serving = needs("modelsel_exam.serve"), needs("modelsel_exam.serve")
OF_ALL, ProxiedConnection, TimedConnection = connections.OF_ALL, connections.ProxiedConnection, connections.TimedConnection
application, serve = serving.application, serving.serve
Make = Callable[..., ExamSession]


@pytest.fixture
def service(exam: Make) -> ExamService:
    return ExamService(exam(release="full", looks=5).folder)


@pytest.fixture
def client(service: ExamService) -> Iterator[TestClient]:
    with TestClient(application(service), base_url="http://127.0.0.1:8800") as made:
        yield made


def send(client: TestClient, token: str, frame: pd.DataFrame, **query: Any) -> Any:
    return client.post(
        "/answers", params=query, content=frame.to_csv(index=False), headers={"Authorization": f"Bearer {token}"}
    )


@pytest.mark.slow
def test_an_asker_gets_what_the_terms_say(client: TestClient, service: ExamService) -> None:
    token = service.askers.admit("ann")
    assert client.get("/terms").json()["rows"]["questions"] == 90
    assert client.get("/questions").text == (service.exam.folder / "questions.csv").read_text()
    shown = send(client, token, guess(service.exam)).json()
    assert (shown["errors"], shown["asker"], shown["look"]) == (errors(service.exam, guess(service.exam)), "ann", 1)
    budget = client.get("/budget", headers={"Authorization": f"Bearer {token}"}).json()
    assert (budget["answers"], budget["looks_left"]) == (1, 4)
    assert send(client, token, guess(service.exam).iloc[1:]).status_code == 422
    assert send(client, token, guess(service.exam, 2.0), rate="x", rows="3").status_code == 400


@pytest.mark.slow
def test_who_reads_does_not_wait_for_those_who_hand_in(
    client: TestClient, service: ExamService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty answers stand in a row (more than a server has threads) while the first is being judged."""
    judged, order = threading.Event(), []

    def slow(_path: Path, asker: str, *_: Any) -> Any:
        order.append(asker)
        judged.wait(60)
        raise RefusedError(Problem("MSEL-930", "no", "the exam", "wait"))

    monkeypatch.setattr(service.exam, "answer", slow)
    tokens = [service.askers.admit(f"asker {i}") for i in range(60)]
    with ThreadPoolExecutor(61) as pool:
        sent = [pool.submit(send, client, token, guess(service.exam)) for token in tokens]
        try:
            state = pool.submit(client.get, "/state").result(timeout=60)
            board = pool.submit(client.get, "/board").result(timeout=60)
        finally:
            judged.set()
        assert (state.json()["state"], board.json()) == ("open", [])
        assert {one.result().status_code for one in sent} == {403}
    assert sorted(order) == sorted(f"asker {i}" for i in range(60))


@pytest.mark.slow
@pytest.mark.parametrize("token", ["", "msx_forged", "Bearer", "msx_" + "a" * 100_000, "\x00", "ann"])
def test_a_forged_token_gets_nothing(client: TestClient, service: ExamService, token: str) -> None:
    service.askers.admit("ann")
    refused = client.post("/answers", content=b"x", headers={"Authorization": f"Bearer {token}".encode()})
    assert refused.status_code in (400, 401, 431)
    assert client.get("/budget").status_code == 401
    assert service.exam.history() == []


@pytest.mark.slow
def test_a_token_that_was_replaced_is_dead_and_none_is_kept(client: TestClient, service: ExamService) -> None:
    old = service.askers.admit("ann")
    new = service.askers.admit("ann")
    assert send(client, old, guess(service.exam)).status_code == 401
    assert send(client, new, guess(service.exam)).status_code == 200
    kept = (service.exam.store.folder / "askers.json").read_text()
    assert new not in kept
    assert new[4:] not in kept
    with pytest.raises(ConfigurationError):
        service.askers.admit("../ann")


@pytest.mark.slow
def test_budgets_of_tokens_hold_beside_those_of_the_terms(client: TestClient, service: ExamService) -> None:
    few, poor = service.askers.admit("few", looks=1), service.askers.admit("poor", nats=14.0)
    with pytest.raises(ConfigurationError, match="admits no answer"):
        service.askers.admit("poorer", nats=3.0)
    assert send(client, few, guess(service.exam)).status_code == 200
    refused = send(client, few, guess(service.exam, 2.0))
    assert (refused.status_code, "the token allows 1" in refused.json()["error"]) == (403, True)
    assert [send(client, poor, guess(service.exam, cut)).status_code for cut in (2.0, 2.1)] == [200, 403]
    assert len(service.exam.history()) == 2


def test_rates_hold(exam: Make) -> None:
    service = ExamService(exam(release="full").folder, rate=2)
    token = service.askers.admit("ann")
    with TestClient(application(service), base_url="http://127.0.0.1:8800") as client:
        codes = [send(client, token, guess(service.exam, cut)).status_code for cut in (3.0, 2.9, 2.8)]
        assert codes == [200, 200, 429]
        strangers = [client.get("/budget", headers={"Authorization": "Bearer no"}).status_code for _ in range(40)]
    assert strangers[0] == 401
    assert strangers[-1] == 429


@pytest.mark.slow
def test_an_asker_learns_nothing_of_anothers_predictions(client: TestClient, service: ExamService) -> None:
    ann = service.askers.admit("ann")
    digest = send(client, ann, guess(service.exam)).json()["answer"]
    said = "".join(client.get(path).text for path in ("/", "/board", "/state", "/terms"))
    assert digest not in said
    assert "ann" in client.get("/board").text


@pytest.mark.slow
def test_too_much_is_not_read(client: TestClient, service: ExamService) -> None:
    token = service.askers.admit("ann")
    much = client.post("/answers", content=b"a" * (service.largest + 1), headers={"Authorization": f"Bearer {token}"})
    assert much.status_code == 422
    assert service.exam.history() == []


@pytest.mark.slow
def test_the_page_says_terms_board_and_how_to_ask_and_escapes_all(exam: Make) -> None:
    made = exam(release="full", name="<script>alert(1)</script>")
    service = ExamService(made.folder)
    with TestClient(application(service), base_url="http://127.0.0.1:8800") as client:
        made.answer(guess(made), "ann")
        reply = client.get("/")
    assert "<script" not in reply.text
    assert "&lt;script&gt;" in reply.text
    assert all(word in reply.text for word in ("Terms", "Board", "How to ask", "ann", "/mcp"))
    assert "default-src 'none'" in reply.headers["content-security-policy"]


@pytest.mark.slow
def test_an_agent_sits_the_exam_by_the_model_context_protocol(service: ExamService, monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel_exam.serve import TOKEN, agents

    monkeypatch.setenv(TOKEN, service.askers.admit("robot"))

    async def sit() -> dict[str, Any]:
        async with mcp.Client(agents(service)) as agent:
            names = {tool.name for tool in (await agent.list_tools()).tools}
            assert names == {"terms", "development", "questions", "hand_in", "budget", "board"}
            asked = await agent.call_tool("questions", {"rows": 2000})
            rows = [line.split(",") for line in asked.content[0].text.splitlines()[1:]]
            said = {row[0]: "yes" if float(row[2]) > 3 else "no" for row in rows}
            shown = await agent.call_tool("hand_in", {"predictions": said})
            return dict(json.loads(shown.content[0].text))

    shown = asyncio.run(sit())
    assert (shown["asker"], shown["errors"]) == ("robot", errors(service.exam, guess(service.exam)))


@pytest.mark.slow
def test_from_python_over_http_and_mcp(exam: Make) -> None:
    made = exam(release="full", looks=2)
    token = Askers(made.store.folder).admit("ann")
    with Serving(made.folder) as server:
        taken = modelsel.exam(server.address, token=token)
        assert len(taken.development) == 210
        shown = taken.answer(guess(made), name="x")
        assert (shown["errors"], shown["asker"]) == (errors(made, guess(made)), "ann")
        assert taken.status()["looks_left"] == 1
        assert taken.board().asker.tolist() == ["ann"]
        with pytest.raises(DataError, match="missing rows"):
            taken.answer(guess(made).iloc[1:], name="x")
        taken.answer(guess(made, 2.0), name="x")
        with pytest.raises(RefusedError, match="the terms allow 2"):
            taken.answer(guess(made, 2.2), name="x")
        with pytest.raises(RefusedError, match="no such token"):
            modelsel.exam(server.address, token="x").status()

        async def agent() -> str:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
            async with mcp.Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as one:
                return str((await one.call_tool("budget", {})).content[0].text)

        assert json.loads(asyncio.run(agent()))["looks_left"] == 0
    with pytest.raises(ConfigurationError, match="no answer"):
        modelsel.exam(server.address, token=token).status()


@pytest.mark.slow
def test_the_commands(exam: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from modelsel.cli.dispatch import main

    made = exam()
    assert main(["exam", "serve", str(made.folder), "--admit", "ann", "--looks", "3"]) == 0
    token = capsys.readouterr().out.strip()
    asker = Askers(made.store.folder).of(token)
    assert asker is not None
    assert (asker.name, asker.looks) == ("ann", 3)


@pytest.mark.slow
def test_strangers_wait_too_and_do_not_keep_askers_from_answering(exam: Make) -> None:
    service = ExamService(exam(release="full").folder, calls=30)
    token = service.askers.admit("ann")
    with TestClient(application(service), base_url="http://127.0.0.1:8800") as client:
        codes = [client.get(path).status_code for path in ("/", "/board", "/state") for _ in range(11)]
        agent = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert codes[:30] == [200] * 30
        assert codes[30:] == [429] * 3
        assert (agent.status_code, agent.headers["retry-after"] > "0") == (429, True)
        assert send(client, token, guess(service.exam)).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["1e18", "9" * 400, "nan", "-1", ""])
def test_a_forecast_that_is_none_is_no_look(client: TestClient, service: ExamService, rows: str) -> None:
    token = service.askers.admit("ann")
    assert send(client, token, guess(service.exam), rate=0.1, rows=rows).status_code == 400
    assert service.exam.history() == []


@pytest.mark.slow
def test_an_error_names_no_file_of_the_server(client: TestClient, service: ExamService) -> None:
    token = service.askers.admit("ann")
    for content in (b"token,prediction\n", b"PAR1nothing", b'token,prediction\n"a', b"\0"):
        refused = client.post("/answers", content=content, headers={"Authorization": f"Bearer {token}"})
        assert refused.status_code == 422
        assert "answer." in refused.json()["error"]
        assert "/" not in refused.json()["error"].split("answer.")[0]


@pytest.mark.slow
def test_what_askers_did_wrong_is_told_in_full_and_of_what_is_wrong_here_only_that_it_is() -> None:
    kinds = (DataError, RefusedError, ConfigurationError, LedgerError)
    said = [str(error_facts(kind(Problem("MSEL-931", "these words", "here", "do so")))["error"]) for kind in kinds]
    assert ["these words" in each for each in said] == [True, True, True, False]


def test_an_exam_of_parquet_files_is_served(exam: Make) -> None:
    service = ExamService(exam(release="full", parquet=True).folder)
    taken = modelsel.exam(service.exam.folder)
    with TestClient(application(service), base_url="http://127.0.0.1:8800") as client:
        assert client.get("/questions").content.startswith(b"PAR1")
        said = taken.questions[["token"]].assign(prediction="yes")
        assert send(client, service.askers.admit("ann"), said).status_code == 200
    assert sorted(taken.development.columns) == ["age", "city", "default", "income", "token"]

    async def rows() -> str:
        from modelsel_exam.serve import agents

        async with mcp.Client(agents(service)) as agent:
            return str((await agent.call_tool("questions", {"first": 80, "rows": 50})).content[0].text)

    assert len(asyncio.run(rows()).splitlines()) == 11


def test_no_caller_names_its_own_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Rates count by address, and `X-Forwarded-For` from loopback would let one caller be many."""
    said: dict[str, object] = {}
    monkeypatch.setattr("uvicorn.run", lambda _, **options: said.update(options))
    monkeypatch.setattr("modelsel_exam.serve.ExamService", lambda *_: None)
    monkeypatch.setattr("modelsel_exam.serve.application", lambda *_: None)
    serve(tmp_path)
    assert (said["proxy_headers"], said["http"], said["limit_concurrency"]) == (False, TimedConnection, OF_ALL)
    serve(tmp_path, proxy="10.0.0.7")
    assert (said["proxy_headers"], said["forwarded_allow_ips"], said["http"]) == (True, "10.0.0.7", ProxiedConnection)


class Impatient(TimedConnection):
    seconds, most = 0.5, 12


@pytest.fixture
def impatient() -> Iterator[int]:
    """The port of a server that waits half a second for a request, and has twelve connections for a machine."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    async def long(_: Request) -> PlainTextResponse:
        return PlainTextResponse("a" * LONG)

    app = Starlette(routes=[Route("/", echo, methods=["GET", "POST"]), Route("/long", long)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=Impatient, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(10)


LONG = 16 << 20  # bytes, more than buffers of sockets hold
WHOLE = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"


def replied(port: int, *parts: bytes, wait: float = 0.0) -> bytes:
    """What a server says to a request that comes in parts; empty where it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), 20) as caller:
        try:
            for part in parts:
                caller.sendall(part)
                time.sleep(wait)
            return caller.recv(4000)
        except ConnectionError:
            return b""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("half", [b"", b"POST / HTTP/1.1\r\nHost: a", WHOLE[:-2]], ids=["nothing", "header", "body"])
def test_half_a_request_is_not_waited_for(impatient: int, half: bytes) -> None:
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(replied, impatient, half) for _ in range(8)]
        assert b"200 OK" in replied(impatient, WHOLE)
        assert [one.result(timeout=20) for one in waiting] == [b""] * 8
    assert b"200 OK" in replied(impatient, WHOLE[:30], WHOLE[30:], wait=0.1)


@pytest.mark.slow
def test_a_connection_is_kept_between_requests_and_a_second_half_is_not_waited_for(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), 20) as caller:
        for _ in range(2):
            caller.sendall(WHOLE)
            said = b""
            while not said.endswith(b"\r\n\r\n3"):
                said += caller.recv(4000)
            time.sleep(0.8)
        caller.sendall(WHOLE[:10])
        began = time.monotonic()
        with suppress(ConnectionError):
            while caller.recv(4000):  # what is left of the last reply, and then the end
                pass
        assert time.monotonic() - began < 15


def read(caller: socket.socket, most: int, wait: float = 0.0) -> int:
    """Bytes that could be read until the end, or until `most`."""
    many = 0
    with suppress(ConnectionError):
        while many < most and (part := caller.recv(1 << 20)):
            many += len(part)
            time.sleep(wait)
    return many


@pytest.mark.slow
def test_a_reply_that_nobody_reads_is_not_held(impatient: int) -> None:
    """Twelve callers ask and do not read; a thirteenth finds room again, and who reads slowly, but reads, has all of it."""
    asked = b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n"
    callers = [socket.create_connection(("127.0.0.1", impatient), 20) for _ in range(Impatient.most)]
    for caller in callers:
        caller.sendall(asked)
    until = time.monotonic() + 20
    while not (said := replied(impatient, WHOLE)) and time.monotonic() < until:
        time.sleep(0.1)
    assert b"200 OK" in said
    assert all(read(caller, LONG) < LONG for caller in callers)  # what had left the server, and no more
    with socket.create_connection(("127.0.0.1", impatient), 20) as slow:
        slow.sendall(asked)
        assert read(slow, LONG, wait=0.02) >= LONG
    for caller in callers:
        caller.close()


def test_one_machine_has_so_many_connections(impatient: int) -> None:
    held = [socket.create_connection(("127.0.0.1", impatient), 20) for _ in range(Impatient.most)]
    time.sleep(0.1)
    assert replied(impatient, WHOLE) == b""
    for caller in held:
        caller.close()
    time.sleep(0.1)
    assert b"200 OK" in replied(impatient, WHOLE)


BODIES = (
    b"", b"\n", b"x", b"token", b"token,prediction", b"token,prediction\n", b"r0,yes", b'"', b"\x00", b"\xff\xfe", b"PAR1",
    b"{}", b"token,prediction\n" + b"a" * 200_000 + b",yes\n", b"token,token\nr0,r0\n",
)  # fmt: skip


def test_a_body_that_is_no_table_is_refused_with_a_reason(client: TestClient, service: ExamService) -> None:
    """One of a single line was an internal error, 500."""
    token = {"Authorization": f"Bearer {service.askers.admit('ann')}"}
    replies = [client.post("/answers", content=body, headers=token) for body in BODIES]
    assert {reply.status_code for reply in replies} <= {400, 422}
    assert all("MSEL-" in reply.json()["error"] for reply in replies)
    assert service.exam.history() == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_answer_is_not_unpacked(client: TestClient, service: ExamService, packed: Callable[[bytes], bytes]) -> None:
    bomb = packed(b"token,prediction\n" + b"a,yes\n" * 10**6)
    refused = client.post(
        "/answers", content=bomb, headers={"Authorization": f"Bearer {service.askers.admit('ann')}", "Content-Encoding": "gzip"}
    )
    assert (refused.status_code, "MSEL-966" in refused.json()["error"]) == (422, True)


def test_a_refusal_is_a_tools_error(service: ExamService, monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel_exam.serve import TOKEN, agents

    async def sit() -> list[Any]:
        async with mcp.Client(agents(service)) as agent:
            stranger = await agent.call_tool("budget", {})
            monkeypatch.setenv(TOKEN, service.askers.admit("robot"))
            wrong = await agent.call_tool("hand_in", {"predictions": {"r0": "yes"}})
            return [stranger, wrong, await agent.call_tool("budget", {})]

    stranger, wrong, budget = asyncio.run(sit())
    assert (stranger.is_error, wrong.is_error, budget.is_error) == (True, True, False)
    assert "MSEL-961" in stranger.content[0].text
    assert "MSEL-922" in wrong.content[0].text
