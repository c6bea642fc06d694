"""The port in docs/agents.md, repeated through the MCP server: the same responses, and the same patch as the CLI."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.engines
def test_documented_port_matches_the_server(rocm3d, snapshot, tmp_path):
    by_tools, by_hand = tmp_path / "tools" / "splat-trainer", tmp_path / "hand" / "splat-trainer"
    by_tools.parent.mkdir()
    shutil.copytree(ROOT / "examples" / "splat-trainer", by_hand, ignore=shutil.ignore_patterns(".rocm3d"))
    command = [sys.executable, ROOT / "scripts" / "transcript.py", "--check", "--keep", by_tools]
    replayed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert rocm3d("apply", by_hand, "--gpu", "mi300x", "-q").code == 0

    assert (replayed.returncode, replayed.stdout) == (0, ""), replayed.stderr
    patch = (by_hand / ".rocm3d" / "port.patch").read_bytes()
    assert b"diff --git a/csrc/forward.cu" in patch
    assert (by_tools / ".rocm3d" / "port.patch").read_bytes() == patch
    assert snapshot(by_tools) == snapshot(by_hand)
