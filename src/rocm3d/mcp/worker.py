"""Runs one tool call in its own process: `python -m rocm3d.mcp.worker FOLDER`.

Reads request.json and writes answer.json in the folder. Each line on stdout is progress. SIGINT kills it at once with
all its children: stages write atomically, so the next call can read their files.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from rocm3d.mcp.tool import load_tool
from rocm3d.mcp.tool_context import ServerOptions, ToolContext
from rocm3d.mcp.untrusted_text import clean_text
from rocm3d.model.errors import Rocm3dError
from rocm3d.workspace.process import kill_all

REQUEST, RESPONSE = "request.json", "answer.json"
_PROGRESS_SECONDS = 0.05
_MAX_MESSAGE = 200
_GC_THRESHOLD = 100_000


def main(folder: Path) -> None:
    """Run the request and write the response, also for errors."""
    signal.signal(signal.SIGINT, _exit_on_sigint)
    text = json.dumps(_run_request(json.loads((folder / REQUEST).read_bytes())), ensure_ascii=False)
    # Atomic: the server may read the file at any time.
    (folder / "new").write_text(text, encoding="utf-8", errors="replace")
    (folder / "new").replace(folder / RESPONSE)


def _exit_on_sigint(_: int, __: object) -> None:
    """The call was cancelled: kill the child programs, then the process pool and this process."""
    kill_all()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(128 + signal.SIGINT)


def _run_request(request: dict[str, Any]) -> dict[str, Any]:
    requested_tool, options = load_tool(request["tool"]), ServerOptions.model_validate(request["options"])
    try:
        response = requested_tool.work(
            requested_tool.parse_arguments(request["arguments"]), ToolContext(options, _Progress())
        )
    except Rocm3dError as failure:
        return {"failure": clean_text(failure.message), "hint": clean_text(failure.hint)}
    except Exception:  # noqa: BLE001  (anything else is a bug in rocm3d and is reported as such)
        sys.stderr.write(traceback.format_exc())
        return {"bug": clean_text(traceback.format_exc(limit=-3))}
    return {"answer": response.model_dump(mode="json")}


class _Progress:
    """Prints progress lines, at most one per _EVERY seconds."""

    def __init__(self) -> None:
        self.count, self.last = 0, 0.0

    def __call__(self, message: str) -> None:
        self.count += 1
        now = time.monotonic()
        if now - self.last < _PROGRESS_SECONDS:
            return
        self.last = now
        line = {"progress": self.count, "message": clean_text(message, _MAX_MESSAGE).replace("\n", " ")}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    # As in cli/main.py: objects from start-up live until the end.
    gc.set_threshold(_GC_THRESHOLD)
    main(Path(sys.argv[1]))
