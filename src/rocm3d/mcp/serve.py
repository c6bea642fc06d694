"""The two ways to a client: over our own stdin and stdout, and over HTTP on this machine's loopback."""

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

from rocm3d.mcp.gate import Gate
from rocm3d.model.failure import UserError
from rocm3d.workspace.process import end_all

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

ADDRESS = "127.0.0.1"
PLACE = "/mcp"
_PATIENCE = 3  # for answers under way, once somebody wants us to end


def over_stdio(server: Server[Any]) -> None:
    """Until the client closes our stdin. stdout carries the protocol and nothing else."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def _leave(number: int, _: object) -> None:
    """A thread of ours waits for a line on stdin and cannot be told to stop: workers are ended, and we go."""
    end_all()
    os._exit(128 + number)


def over_http(server: Server[Any], port: int, tell: Callable[[str, str], None]) -> None:
    """Until Ctrl-C. `tell` is called with the address and the token as soon as somebody can connect."""
    token, listening = secrets.token_urlsafe(32), _listening(port)
    with listening:
        real = listening.getsockname()[1]
        app = Gate(server.streamable_http_app(streamable_http_path=PLACE, host=ADDRESS), token, real)
        settings = uvicorn.Config(
            app,
            log_level=logging.CRITICAL,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=_PATIENCE,
        )
        tell(f"http://{ADDRESS}:{real}{PLACE}", token)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((ADDRESS, port))
        found.listen()
    except OSError as error:
        found.close()
        raise UserError(f"--port {port}: {error.strerror}", hint="name another, or 0 for a free one") from error
    return found
