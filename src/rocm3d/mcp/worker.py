"""One call of a tool, in a process of its own: `python -m rocm3d.mcp.worker FOLDER`.

Reads request.json in the folder and writes answer.json beside it. Each line on stdout is progress. SIGINT ends it at
once with all that it started: stages leave nothing half-written that the next call could not read.
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
from rocm3d.model.failure import Failure
from rocm3d.workspace.process import end_all

REQUEST, ANSWER = "request.json", "answer.json"
_EVERY = 0.05
_LINE = 200
_GARBAGE = 100_000


def main(folder: Path) -> None:
    """Do what the request says; whatever comes of it is an answer."""
    signal.signal(signal.SIGINT, _leave)
    text = json.dumps(_answered(json.loads((folder / REQUEST).read_bytes())), ensure_ascii=False)
    # Whole or not at all: whoever ends us may look at once.
    (folder / "new").write_text(text, encoding="utf-8", errors="replace")
    (folder / "new").replace(folder / ANSWER)


def _leave(_: int, __: object) -> None:
    """Nobody waits for the answer: the programs we started go, then the pool that scans, and we with it."""
    end_all()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(128 + signal.SIGINT)


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    asked, options = tool(request["tool"]), Options.model_validate(request["options"])
    try:
        answer = asked.work(asked.read(request["arguments"]), Bench(options, _Progress()))
    except Failure as failure:
        return {"failure": safe(failure.message), "hint": safe(failure.hint)}
    except Exception:  # noqa: BLE001  (whatever it is, it is our bug, and the caller is told so)
        sys.stderr.write(traceback.format_exc())
        return {"bug": safe(traceback.format_exc(limit=-3))}
    return {"answer": answer.model_dump(mode="json")}


class _Progress:
    """A line for what is being done now, but not more of them than anybody could read."""

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
    # As for commands: what start-up makes lives until the end.
    gc.set_threshold(_GARBAGE)
    main(Path(sys.argv[1]))
