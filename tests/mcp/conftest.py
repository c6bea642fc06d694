"""Fixtures for the MCP server: tool calls without a process, and the official client."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import anyio
import mcp_types as types
import pytest
from mcp import Client
from typer.testing import CliRunner

from rocm3d.cli.main import build as build_commands
from rocm3d.mcp.resources import ResourceLibrary
from rocm3d.mcp.server import build_server
from rocm3d.mcp.tool import all_tools
from rocm3d.mcp.tool_context import ServerOptions, ToolContext


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """One cache for all tests: parsing the records takes longer than most calls."""
    folder = tmp_path_factory.getbasetemp() / "cache-of-mcp"
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("ROCM3D_CACHE", str(folder))
    monkeypatch.setenv("ROCM3D_DATA", str(folder.with_name("data-of-mcp")))


@pytest.fixture
def work(knowledge, monkeypatch):
    """Calls a tool as a worker does, without a process. Trees of tests are edited without git."""
    monkeypatch.setattr(ToolContext, "load", lambda _: knowledge)

    def call(name: str, options: ServerOptions | None = None, progress=lambda _: None, **arguments):
        tool = all_tools()[name]
        if name == "apply" and "into" not in arguments:
            arguments.setdefault("yes", True)
        return tool.work(tool.parse_arguments(arguments), ToolContext(options or ServerOptions(), progress))

    return call


@dataclass(frozen=True)
class Printed:
    code: int
    out: str


@pytest.fixture
def rocm3d():
    """Runs the command line in this process, to compare its output."""

    def run(*words: object) -> Printed:
        ended = CliRunner().invoke(build_commands(words[0]), [*map(str, words)])
        return Printed(ended.exit_code, ended.stdout)

    return run


@pytest.fixture
def library(knowledge):
    return ResourceLibrary(lambda: knowledge, lambda: {"rocm3d scan": "Usage: rocm3d scan"})


@pytest.fixture
def talk(library):
    """Runs a conversation of the official client with a server in this process; `roots` are the client's roots."""

    def run(conversation, *, options=None, allowed=(), roots=None, mode="auto"):
        async def begin():
            server = build_server(options or ServerOptions(), tuple(allowed), library)
            async with Client(server, mode=mode, list_roots_callback=giving(roots)) as client:
                return await conversation(client)

        return anyio.run(begin)

    return run


def giving(roots):
    """The callback of a client with these roots; None for a client without roots."""
    if roots is None:
        return None

    async def give(_: object, client_roots: list[types.Root]) -> types.ListRootsResult:
        return types.ListRootsResult(roots=client_roots)

    return functools.partial(give, client_roots=[types.Root(uri=path.as_uri()) for path in roots])


@pytest.fixture(name="giving", scope="session")
def _giving():
    return giving
