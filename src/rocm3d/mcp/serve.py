"""Serves MCP over stdin and stdout, or over HTTP on the loopback interface."""

from __future__ import annotations

import contextlib
import hmac
import logging
import os
import secrets
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from rocm3d.model.errors import UserError
from rocm3d.workspace.process import kill_all

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

ADDRESS = "127.0.0.1"
HTTP_PATH = "/mcp"
_SHUTDOWN_SECONDS = 3  # seconds for pending responses at shutdown


def serve_stdio(server: Server[Any]) -> None:
    """Serve until the client closes stdin. stdout carries only the protocol."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit_on_signal)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def _exit_on_signal(number: int, _: object) -> None:
    """Kill the workers and exit at once: the thread that reads stdin cannot be interrupted."""
    kill_all()
    os._exit(128 + number)


def serve_http(server: Server[Any], port: int, announce: Callable[[str, str], None]) -> None:
    """Serve until Ctrl-C. `announce` is called with address and token once clients can connect."""
    token, listener = secrets.token_urlsafe(32), _open_listener(port)
    with listener:
        actual_port = listener.getsockname()[1]
        app = HttpGuard(server.streamable_http_app(streamable_http_path=HTTP_PATH, host=ADDRESS), token, actual_port)
        settings = uvicorn.Config(
            app,
            log_level=logging.CRITICAL,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        announce(f"http://{ADDRESS}:{actual_port}{HTTP_PATH}", token)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listener])


def _open_listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UserError(f"--port {port}: {error.strerror}", hint="pass another port, or 0 for a free one") from error
    return listener


_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


class HttpGuard:
    """ASGI middleware in front of the application. Refusals reveal nothing about it."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token.encode()
        self.hosts = {f"{name}:{port}" for name in _LOCAL_NAMES}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = (
            self._refusal(Headers(scope=scope))
            if scope["type"] == "http"
            else _text_response(403, "only HTTP is supported")
        )
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins, authorizations = (headers.getlist(name) for name in ("host", "origin", "authorization"))
        # Protects against DNS rebinding: a foreign host name that resolves to this machine.
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _text_response(421, "this Host is not allowed")
        if origins and (len(origins) != 1 or origins[0].lower() not in self.origins):
            return _text_response(403, "this Origin is not allowed")
        if len(authorizations) != 1 or not self._is_authorized(authorizations[0]):
            return _text_response(401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})
        return None

    def _is_authorized(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        token_bytes = token.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(token_bytes, self.token)


def _text_response(status: int, text: str, headers: dict[str, str] | None = None) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status, headers)
