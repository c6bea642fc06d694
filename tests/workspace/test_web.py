"""HTTP requests are limited in time and size, and responses are untrusted."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from waiting import DEADLINE

from rocm3d.workspace.web import WebClient, without_secrets


class _Handler(BaseHTTPRequestHandler):
    requests: ClassVar[list[str]] = []
    authorizations: ClassVar[list[str | None]] = []

    def do_HEAD(self):
        self.requests.append(self.path)
        self.authorizations.append(self.headers.get("Authorization"))
        self.send_response(404 if self.path == "/missing" else 200)
        if self.path == "/odd":
            self.send_header("Content-Length", "many")
        elif self.path != "/silent":
            self.send_header("Content-Length", "5")
        self.end_headers()

    def do_GET(self):
        self.do_HEAD()
        self.wfile.write(b"hello")

    def log_message(self, format, *args):  # noqa: A002
        """Tests print nothing."""


def patient_web() -> WebClient:
    """A client with a long timeout, for a busy machine."""
    return WebClient(seconds=DEADLINE)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _Handler.requests.clear()
    http_server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    # The poll interval in seconds for shutdown requests.
    thread = threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{http_server.server_port}"
    http_server.shutdown()
    thread.join()
    http_server.server_close()


@pytest.mark.parametrize("url", ["ssh://git@h/x", "ftp://h/x", "data:text/plain,x", "x", ""])
def test_other_schemes_are_refused(url):
    assert WebClient().why_unreachable(url).startswith("unsupported scheme")
    assert WebClient().fetch(url, 10) is None
    assert WebClient().size(url) is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://no-such-host.invalid/x", "http://[/x", "file:///no/such"]
)
def test_unreachable_server_has_a_reason(url):
    assert WebClient().why_unreachable(url)
    assert WebClient().fetch(url, 10) is None
    assert WebClient().size(url) is None


def test_http_error_counts_as_reachable(server):
    assert patient_web().why_unreachable(f"{server}/missing") == ""


def test_each_server_gets_one_request(server):
    web = patient_web()

    assert web.why_unreachable(f"{server}/a?token=x") == web.why_unreachable(f"{server}/b") == ""
    assert _Handler.requests == ["/a"]


def test_larger_file_is_not_returned(server):
    assert patient_web().fetch(f"{server}/a", 4) is None
    assert patient_web().fetch(f"{server}/a", 5) == b"hello"


@pytest.mark.parametrize("path", ["silent", "odd", "missing"])
def test_unreported_size_is_none(server, path):
    assert patient_web().size(f"{server}/{path}") is None


def test_sizes_come_together(server):
    assert patient_web().sizes([f"{server}/a", f"{server}/silent", f"{server}/a"]) == {
        f"{server}/a": 5,
        f"{server}/silent": None,
    }


def test_sizes_of_a_server_that_is_gone_are_none(server):
    urls = [f"{server}/a", "http://127.0.0.1:9/b", "file:///no/such"]

    assert patient_web().sizes(urls) == {urls[0]: 5, urls[1]: None, urls[2]: None}


def test_local_file_can_be_fetched(tmp_path):
    (tmp_path / "a").write_bytes(b"123")
    url = (tmp_path / "a").as_uri()

    assert (patient_web().why_unreachable(url), patient_web().size(url), patient_web().fetch(url, 3)) == ("", 3, b"123")


def test_user_and_password_are_sent_as_basic_authorization(server):
    patient_web().fetch(server.replace("//", "//me:a%40b@") + "/a", 5)

    assert _Handler.authorizations[-1] == "Basic bWU6YUBi"


def test_secrets_are_cut_out():
    assert without_secrets("https://me:secret@h:8/simple?x=1") == "https://h:8/simple?x=1"
    assert without_secrets("https://h/simple") == "https://h/simple"
