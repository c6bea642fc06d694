"""Starts hooks in a workload's interpreter through PYTHONPATH, and reads the JSON lines that they write."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

HOOKS_FOLDER = Path(__file__).parents[1] / "payload" / "startup"


def hook_environment(report: Path, **variables: str) -> dict[str, str]:
    """Environment variables that start the hooks; each hook is enabled by its own entry of `variables`."""
    path = os.pathsep.join(filter(None, (str(HOOKS_FOLDER), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "ROCM3D_RECORD": str(report), **variables}


def read_events(report: Path) -> list[dict[str, Any]]:
    """Hook events of a report file. Lines that a killed process left incomplete are skipped."""
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    events = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
