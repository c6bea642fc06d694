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

from rocm3d.mcp.bench import Bench, Options
from rocm3d.mcp.marking import safe
from rocm3d.mcp.tool import tool
from rocm3d.model.failure import Rocm3dError
from rocm3d.workspace.process import kill_all

REQUEST, ANSWER = "request.json", "answer.json"
_EVERY = 0.05
_LINE = 200
_GARBAGE = 100_000


def main(folder: Path) -> None:
    """Run the request and write the response, also for errors."""
    signal.signal(signal.SIGINT, _leave)
    text = json.dumps(_answered(json.loads((folder / REQUEST).read_bytes())), ensure_ascii=False)
    # Atomic: the server may read the file at any time.
    (folder / "new").write_text(text, encoding="utf-8", errors="replace")
    (folder / "new").replace(folder / ANSWER)


def _leave(_: int, __: object) -> None:
    """The call was cancelled: kill the child programs, then the process pool and this process."""
    kill_all()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(128 + signal.SIGINT)


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    asked, options = tool(request["tool"]), Options.model_validate(request["options"])
    try:
        answer = asked.work(asked.read(request["arguments"]), Bench(options, _Progress()))
    except Rocm3dError as failure:
        return {"failure": safe(failure.message), "hint": safe(failure.hint)}
    except Exception:  # noqa: BLE001  (anything else is a bug in rocm3d and is reported as such)
        sys.stderr.write(traceback.format_exc())
        return {"bug": safe(traceback.format_exc(limit=-3))}
    return {"answer": answer.model_dump(mode="json")}


class _Progress:
    """Prints progress lines, at most one per _EVERY seconds."""

    def __init__(self) -> None:
        self.count, self.last = 0, 0.0

    def __call__(self, message: str) -> None:
        self.count += 1
        now = time.monotonic()
        if now - self.last < _EVERY:
            return
        self.last = now
        line = {"progress": self.count, "message": safe(message, _LINE).replace("\n", " ")}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    # As in cli/main.py: objects from start-up live until the end.
    gc.set_threshold(_GARBAGE)
    main(Path(sys.argv[1]))
