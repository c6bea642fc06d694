"""The server listens on its address, prints nothing, and stops."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from waiting import DEADLINE

from rocm3d.model.errors import UserError
from rocm3d.viewer.stage import serve, server_url


def test_a_port_that_is_taken_is_refused():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1:{port}"), serve(port=port):
            pytest.fail("listens")


def test_an_address_that_is_not_ours_is_refused():
    with pytest.raises(UserError, match="cannot listen on"), serve("203.0.113.1", 8080):
        pytest.fail("listens")


def test_it_serves_its_page_to_this_machine_alone_and_ends_quietly(capfd):
    with serve(port=0) as server:
        address = server_url(server)
        with urllib.request.urlopen(address, timeout=DEADLINE) as answer:
            page = answer.read()
        sockets = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        listening = [path for path in sockets if path.endswith(f":{server.get_port():04X}")]

    assert address.startswith("http://127.0.0.1:")
    assert b"<html" in page.lower()
    assert {path.partition(":")[0] for path in listening} == {"0100007F"}
    assert capfd.readouterr() == ("", "")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=DEADLINE)
