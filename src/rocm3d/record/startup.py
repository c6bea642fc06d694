"""The one start-up hook of a workload: our folder on PYTHONPATH, and the file that reports go to as JSON lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "payload" / "startup"


def with_hook(report: Path, **variables: str) -> dict[str, str]:
    """The environment for a program whose interpreter starts our hooks; each is switched on by its own variable."""
    path = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "ROCM3D_RECORD": str(report), **variables}


def reported(report: Path) -> list[dict[str, Any]]:
    """What the hooks wrote. A line that a dying process left unfinished is passed over."""
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    found = []
    for line in text.splitlines():
        try:
            item = json.loads(line)
        except ValueError:
            continue
        if isinstance(item, dict):
            found.append(item)
    return found
