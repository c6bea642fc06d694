"""The tools of `rocm3d mcp`, called over its pipes as an agent would."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attacks.cases import ROOT, BrokenPromiseError

PROGRAM = "from rocm3d.cli.main import main; main()"
SECONDS = 120


class Client:
    """A connection to a server."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.number = process, 0
        client = {"name": "attack", "version": "1"}
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; the result, which may be an error of the tool."""
        answer = self.request("tools/call", name=tool, arguments=arguments)
        return dict(answer.get("result") or {"error": answer.get("error")})

    def request(self, method: str, **parameters: object) -> dict[str, Any]:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": parameters})
        output = self.process.stdout
        assert output is not None
        for line in output:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.number and "method" not in answer:
                return answer
        raise BrokenPromiseError(f"mcp: the server ended before its answer to {method}")

    def _send(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.process.stdin.flush()


@contextlib.contextmanager
def connect(root: Path, environment: dict[str, str], log: Path) -> Iterator[Client]:
    """A server that allows paths below `root`. It is ended after SECONDS, whatever it does."""
    command = [sys.executable, "-c", PROGRAM, "mcp", "--root", str(root)]
    environment = {**environment, "PYTHONPATH": str(ROOT / "src")}
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=root, env=environment,
            start_new_session=True, encoding="utf-8", errors="backslashreplace",
        ) as process,
    ):  # fmt: skip
        previous = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.alarm(SECONDS)
        try:
            yield Client(process)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
