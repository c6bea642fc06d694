"""HTTP requests are limited in time and size, and responses are untrusted."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from waiting import DEADLINE

from rocm3d.workspace.web import Web, without_secrets


class _Handler(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []
    given: ClassVar[list[str | None]] = []

    def do_HEAD(self):
        self.asked.append(self.path)
        self.given.append(self.headers.get("Authorization"))
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


def patient_web() -> Web:
    """A client with a long timeout, for a busy machine."""
    return Web(seconds=DEADLINE)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _Handler.asked.clear()
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    # The poll interval in seconds for shutdown requests.
    thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize("url", ["ssh://git@h/x", "ftp://h/x", "data:text/plain,x", "x", ""])
def test_other_ways_than_http_are_not_asked(url):
    assert Web().why_unreachable(url).startswith("unsupported scheme")
    assert Web().fetch(url, 10) is None
    assert Web().size(url) is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://no-such-host.invalid/x", "http://[/x", "file:///no/such"]
)
def test_who_does_not_answer_is_told_why(url):
    assert Web().why_unreachable(url)
    assert Web().fetch(url, 10) is None
    assert Web().size(url) is None


def test_a_refusal_is_an_answer(server):
    assert patient_web().why_unreachable(f"{server}/missing") == ""


def test_each_server_is_asked_once(server):
    web = patient_web()

    assert web.why_unreachable(f"{server}/a?token=x") == web.why_unreachable(f"{server}/b") == ""
    assert _Handler.asked == ["/a"]


def test_more_than_is_wanted_is_not_given(server):
    assert patient_web().fetch(f"{server}/a", 4) is None
    assert patient_web().fetch(f"{server}/a", 5) == b"hello"


@pytest.mark.parametrize("path", ["silent", "odd", "missing"])
def test_a_size_that_is_not_told_is_none(server, path):
    assert patient_web().size(f"{server}/{path}") is None


def test_sizes_come_together(server):
    assert patient_web().sizes([f"{server}/a", f"{server}/silent", f"{server}/a"]) == {
        f"{server}/a": 5,
        f"{server}/silent": None,
    }


def test_sizes_of_a_server_that_is_gone_are_none(server):
    urls = [f"{server}/a", "http://127.0.0.1:9/b", "file:///no/such"]

    assert patient_web().sizes(urls) == {urls[0]: 5, urls[1]: None, urls[2]: None}


def test_a_file_of_this_machine_can_be_asked_for(tmp_path):
    (tmp_path / "a").write_bytes(b"123")
    url = (tmp_path / "a").as_uri()

    assert (patient_web().why_unreachable(url), patient_web().size(url), patient_web().fetch(url, 3)) == ("", 3, b"123")


def test_a_name_and_password_are_given_as_http_wants_them(server):
    patient_web().fetch(server.replace("//", "//me:a%40b@") + "/a", 5)

    assert _Handler.given[-1] == "Basic bWU6YUBi"


def test_secrets_are_cut_out():
    assert without_secrets("https://me:secret@h:8/simple?x=1") == "https://h:8/simple?x=1"
    assert without_secrets("https://h/simple") == "https://h/simple"
