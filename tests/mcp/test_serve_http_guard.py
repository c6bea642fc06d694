"""Access control of the HTTP server."""

from __future__ import annotations

import anyio
import pytest

from rocm3d.mcp.serve import HttpGuard

TOKEN = "t" * 43


async def protected_app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"behind"})


def send_request(*headers, kind="http"):
    """Status and body of the response."""
    sent = []

    async def go():
        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": kind, "method": "POST", "path": "/mcp", "headers": [(a.encode(), b) for a, b in headers]}
        await HttpGuard(protected_app, TOKEN, 8000)(scope, receive, send)

    anyio.run(go)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


HOST, KEY = ("host", b"127.0.0.1:8000"), ("authorization", f"Bearer {TOKEN}".encode())


@pytest.mark.parametrize(
    "authorization",
    [(), (b"",), (b"Bearer ",), (b"Bearer wrong",), (TOKEN.encode(),), (b"Basic " + TOKEN.encode(),), (b"Bearer \xff",),
     (KEY[1], KEY[1]), (KEY[1] + b"x",)],
)  # fmt: skip
def test_request_without_the_token_is_refused(authorization):
    status, body = send_request(HOST, *(("authorization", value) for value in authorization))

    assert (status, body) == (401, b"the token is missing or wrong\n")


@pytest.mark.parametrize(
    "host", [b"evil.example", b"evil.example:8000", b"127.0.0.1", b"127.0.0.1:8001", b"localhost", b""]
)
def test_a_foreign_host_is_refused_even_with_the_token(host):
    assert send_request(("host", host), KEY)[0] == 421
    assert send_request(KEY)[0] == 421
    assert send_request(HOST, HOST, KEY)[0] == 421


@pytest.mark.parametrize(
    "origin", [b"http://evil.example", b"null", b"https://127.0.0.1:8000", b"http://127.0.0.1:8000.evil.example", b""]
)
def test_a_foreign_origin_is_refused_even_with_the_token(origin):
    assert send_request(HOST, KEY, ("origin", origin)) == (403, b"this Origin is not allowed\n")


def test_a_web_socket_is_refused():
    assert send_request(HOST, KEY, kind="websocket")[0] != 200


@pytest.mark.parametrize("host", [b"127.0.0.1:8000", b"localhost:8000", b"[::1]:8000", b"LOCALHOST:8000"])
def test_right_token_is_accepted(host):
    assert send_request(("host", host), KEY) == (200, b"behind")
    assert send_request(("host", host), KEY, ("origin", b"http://127.0.0.1:8000")) == (200, b"behind")
