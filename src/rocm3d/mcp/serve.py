"""Serves MCP over stdin and stdout, or over HTTP on the loopback interface."""

from __future__ import annotations

import contextlib
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

from rocm3d.mcp.http_guard import HttpGuard
from rocm3d.model.errors import UserError
from rocm3d.workspace.process import kill_all

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

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
    """Serve until Ctrl-C. `tell` is called with address and token once clients can connect."""
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
