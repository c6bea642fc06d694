"""pyright's language server, for rename.py."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from rename_definitions import ROOT, Position, Source


class LanguageServer:
    """Requests to one pyright process over standard input and output; it searches the files under `root` too."""

    def __init__(self, root: Path, python: str) -> None:
        self._python = python
        self._process = subprocess.Popen(
            ["basedpyright-langserver", "--stdio"],  # noqa: S607  (a tool of developers, on the path)
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            start_new_session=True,
        )
        self._number = 0
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "root"}],
                "capabilities": {"workspace": {"configuration": True}},
            },
        )
        self._send({"method": "initialized", "params": {}})

    def open(self, source: Source) -> None:
        document = {"uri": _uri(source.path), "languageId": "python", "version": 1, "text": source.text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def close(self, source: Source) -> None:
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": _uri(source.path)}}})

    def references(self, path: str, at: Position, new: str) -> Iterator[tuple[str, dict[str, Any]]]:
        params = {
            "textDocument": {"uri": _uri(path)},
            "position": {"line": at.line, "character": at.column},
            "newName": new,
        }
        result = self.request("textDocument/rename", params) or {}
        for uri, edits in (result.get("changes") or {}).items():
            yield from ((_path(uri), edit) for edit in edits)
        for change in result.get("documentChanges") or ():
            if "textDocument" in change:
                yield from ((_path(change["textDocument"]["uri"]), edit) for edit in change["edits"])

    def request(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise LookupError(message["error"]["message"])
                return message["result"]
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": self._answer(message)})

    def _answer(self, message: dict[str, Any]) -> Any:
        if message["method"] == "workspace/configuration":
            analysis = {"diagnosticMode": "workspace", "typeCheckingMode": "off", "indexing": True}
            return [{"analysis": analysis, "pythonPath": self._python} for _ in message["params"]["items"]]
        return None

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        length = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not length:
            raise SystemExit("the language server ended")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def _uri(path: str) -> str:
    return (ROOT / path).as_uri()


def _path(uri: str) -> str:
    return str(Path(unquote(urlparse(uri).path)).relative_to(ROOT))
