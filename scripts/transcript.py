"""Replays the port in docs/agents.md through the MCP server and updates the responses; `--check` only compares.

    python scripts/transcript.py [--check] [--keep DIR]

`--keep DIR` leaves the ported repository at DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "agents.md"
EXAMPLE = ROOT / "examples" / "splat-trainer"
STEP = re.compile(r'^```json\n(\{"call": [^\n]*\})\n```\n\n```text\n(.*?)^```\n', re.DOTALL | re.MULTILINE)
DATED = re.compile(r"knowledge of \d{4}-\d\d-\d\d")
WIDTH = 400


async def replay(page: str, repository: Path) -> str:
    """The page with the current responses of the server. Calls are made in order, on one connection."""
    command = ["-c", "from rocm3d.cli.main import main; main()", "mcp", "--root", str(repository.parent)]
    names = {"REPOSITORY": str(repository)}
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(server) as client:
        responses = [await response_text(client, json.loads(step[1]), names) for step in STEP.finditer(page)]
    next_response = iter(responses)
    return STEP.sub(lambda step: f"```json\n{step[1]}\n```\n\n```text\n{next(next_response)}```\n", page)


async def response_text(client: Client, step: dict[str, Any], names: dict[str, str]) -> str:
    """The response to a call: the summary, and the parts of the document that the page shows."""
    arguments = {key: names.get(value, value) for key, value in step["arguments"].items()}
    result = await client.call_tool(step["call"], arguments)
    content = result.structured_content or {}
    if content.get("plan_hash"):
        names["PLAN_HASH"] = content["plan_hash"]
    shown = result.content if result.is_error else result.content[:1]
    lines = [getattr(block, "text", "") for block in shown]
    lines += [f"{pointer}:{_text(_resolve_pointer(content['document'], pointer))}" for pointer in step.get("show", ())]
    text = DATED.sub("knowledge of DATE", "\n".join(lines)) + "\n"
    for name, value in names.items():
        text = text.replace(value, name)
    return text


def _resolve_pointer(document: Any, pointer: str) -> Any:
    for key in pointer.strip("/").split("/"):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _text(value: Any) -> str:
    """A string unchanged, several lines indented; any other value as JSON, cut at WIDTH."""
    if isinstance(value, str) and "\n" in value:
        return "".join(f"\n  {line}".rstrip(" ") for line in value.splitlines())
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f" {text}" if len(text) <= WIDTH else f" {text[:WIDTH]} ..."


def main() -> int:
    """Write the page, or report that it is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repository = (options.keep or Path(folder) / EXAMPLE.name).resolve()
        shutil.copytree(EXAMPLE, repository, ignore=shutil.ignore_patterns(".rocm3d"))
        before = PAGE.read_text(encoding="utf-8")
        now = anyio.run(replay, before, repository)
    if options.check:
        if now != before:
            print("docs/agents.md is not current. Run python scripts/transcript.py")
        return int(now != before)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
