"""Access control of the HTTP server."""

from __future__ import annotations

import anyio
import pytest

from rocm3d.mcp.gate import Gate

TOKEN = "t" * 43


async def behind(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"behind"})


def asked(*headers, kind="http"):
    """Status and body of the response."""
    sent = []

    async def go():
        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": kind, "method": "POST", "path": "/mcp", "headers": [(a.encode(), b) for a, b in headers]}
        await Gate(behind, TOKEN, 8000)(scope, receive, send)

    anyio.run(go)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


HOST, KEY = ("host", b"127.0.0.1:8000"), ("authorization", f"Bearer {TOKEN}".encode())


@pytest.mark.parametrize(
    "said",
    [(), (b"",), (b"Bearer ",), (b"Bearer wrong",), (TOKEN.encode(),), (b"Basic " + TOKEN.encode(),), (b"Bearer \xff",),
     (KEY[1], KEY[1]), (KEY[1] + b"x",)],
)  # fmt: skip
def test_without_the_token_nothing_is_behind(said):
    status, body = asked(HOST, *(("authorization", value) for value in said))

    assert (status, body) == (401, b"the token is missing or wrong\n")


@pytest.mark.parametrize(
    "host", [b"evil.example", b"evil.example:8000", b"127.0.0.1", b"127.0.0.1:8001", b"localhost", b""]
)
def test_a_foreign_host_is_refused_even_with_the_token(host):
    assert asked(("host", host), KEY)[0] == 421
    assert asked(KEY)[0] == 421
    assert asked(HOST, HOST, KEY)[0] == 421


@pytest.mark.parametrize(
    "origin", [b"http://evil.example", b"null", b"https://127.0.0.1:8000", b"http://127.0.0.1:8000.evil.example", b""]
)
def test_a_foreign_origin_is_refused_even_with_the_token(origin):
    assert asked(HOST, KEY, ("origin", origin)) == (403, b"this Origin is not allowed\n")


def test_a_web_socket_is_refused():
    assert asked(HOST, KEY, kind="websocket")[0] != 200


@pytest.mark.parametrize("host", [b"127.0.0.1:8000", b"localhost:8000", b"[::1]:8000", b"LOCALHOST:8000"])
def test_the_right_token_gets_through(host):
    assert asked(("host", host), KEY) == (200, b"behind")
    assert asked(("host", host), KEY, ("origin", b"http://127.0.0.1:8000")) == (200, b"behind")
