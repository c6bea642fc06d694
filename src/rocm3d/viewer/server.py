"""viser's server, made quiet: it listens where it is told, prints nothing, and never offers to share."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viser import ViserServer

HOST, PORT = "127.0.0.1", 8080


@contextmanager
def serve(host: str = HOST, port: int | None = None, label: str = "rocm3d view") -> Iterator[ViserServer]:
    """A server for as long as the block takes. Without a port: 8080 or the next free one; 0: any."""
    import viser

    if port:
        _refuse_taken(host, port)
    # Connections that a browser opens and drops are no errors of anybody's.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=PORT if port is None else port, label=label, verbose=False)
    try:
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def url(server: ViserServer) -> str:
    """Where it answers."""
    host = server.get_host()
    return f"http://{'localhost' if host == '0.0.0.0' else host}:{server.get_port()}"  # noqa: S104  (compared, not bound)


def _refuse_taken(host: str, port: int) -> None:
    """A port that somebody asked for is not silently another one."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or error
        raise UserError(f"cannot listen on {host}:{port}: {said}", hint="leave --port out for a free one") from error
