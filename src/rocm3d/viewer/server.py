"""viser's server without output and without its share button."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viser import ViserServer

HOST, PORT = "127.0.0.1", 8080


@contextmanager
def serve(host: str = HOST, port: int | None = None, label: str = "rocm3d view") -> Iterator[ViserServer]:
    """Serve until the end of the block. Port None: 8080 or the next free one; 0: any free one."""
    import viser

    if port:
        _refuse_used_port(host, port)
    # Browsers open and drop connections; that is not an error.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=PORT if port is None else port, label=label, verbose=False)
    try:
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def server_url(server: ViserServer) -> str:
    """An address that a browser on this machine can open."""
    host = server.get_host()
    return f"http://{'localhost' if host == '0.0.0.0' else host}:{server.get_port()}"  # noqa: S104  (compared, not bound)


def _refuse_used_port(host: str, port: int) -> None:
    """viser would silently use another port than the requested one."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"cannot listen on {host}:{port}: {reason}", hint="leave out --port to use a free one"
        ) from error
