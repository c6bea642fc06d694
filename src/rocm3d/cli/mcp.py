"""rocm3d mcp: serve agents over the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, MachineError, UserError

POSITION = 96
EXAMPLE = "Example: rocm3d mcp --root ~/repositories; rocm3d mcp --http --read-only --root ~/repositories"
INSTALL = 'pip install "rocm3d[mcp]"'

Http = Annotated[
    bool, typer.Option("--http", help="Serve HTTP on 127.0.0.1 with a token, instead of stdin and stdout.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port for --http; 0: any free port.")]
Root = Annotated[
    list[Path],
    typer.Option(
        "--root", help="Allow only paths in this folder; repeatable. For clients without roots.", file_okay=False
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer no tool that changes a repository.")]
AllowRun = Annotated[
    bool, typer.Option("--allow-run", help="Let verify run build scripts and installed packages, and use the network.")
]


def command(
    session: CliSession,
    http: Http = False,
    port: Port = 0,
    root: Root = [],
    read_only: ReadOnly = False,
    allow_run: AllowRun = False,
) -> ExitCode:
    """Serve scan, plan, preview, apply, undo, verify, explain, kb_query, fit, doctor and evidence to an agent.

    Register it with a client that starts programs by an entry such as this one:

    \b
      {"mcpServers": {"rocm3d": {
        "command": "rocm3d", "args": ["mcp", "--root", "/home/me/repositories"]}}}

    With --http the address and a new token are printed at start; the client sends the header
    `Authorization: Bearer TOKEN`. Paths must be in a root of the client or in --root; without both, tools that need a
    path refuse. Read-only tools change no file of a repository; their documents are in its folder .rocm3d. Exit code 4
    if the extra `mcp` is missing.
    """
    if port and not http:
        raise UserError("--port needs --http", hint="pass both, or neither")
    allowed = tuple(_checked_folder(path) for path in root)
    _require_mcp()
    from rocm3d.mcp.resources import ResourceLibrary
    from rocm3d.mcp.serve import serve_http, serve_stdio
    from rocm3d.mcp.server import build_server
    from rocm3d.mcp.tool_context import ServerOptions, ToolContext

    options = ServerOptions(
        knowledge=session.knowledge and session.knowledge.resolve(),
        no_cache=session.no_cache,
        offline=session.offline,
        read_only=read_only,
        allow_run=allow_run,
    )
    library = ResourceLibrary(ToolContext(options, session.print_status).load, _help_texts)
    server = build_server(options, allowed, library)
    if not http:
        serve_stdio(server)
        return ExitCode.DONE
    serve_http(server, port, lambda address, token: session.write_output(f"{address}\ntoken: {token}\n", None))
    return ExitCode.DONE


def _require_mcp() -> None:
    """Raise a MachineError if the extra is not installed."""
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise MachineError(f"rocm3d mcp needs {error.name}, which is not installed", hint=INSTALL) from error


def _checked_folder(path: Path) -> Path:
    folder = path.expanduser()
    if not folder.is_dir():
        raise UserError(f"--root {path} is not a folder")
    return folder


def _help_texts() -> Mapping[str, str]:
    from rocm3d.cli.help import help_texts
    from rocm3d.cli.main import build

    return help_texts(build())
