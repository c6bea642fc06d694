"""rocm3d mcp: refusals with exit codes, help text, and the end by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys

from processes import Program
from waiting import next_line, output_of, wait_for_exit

PROGRAM = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "mcp"]


def test_missing_extra_is_named(tmp_path):
    """A folder at the front of the path makes the import of mcp fail."""
    (tmp_path / "mcp.py").write_text("raise ImportError('no', name='mcp')\n")
    environment, pipe = {**os.environ, "PYTHONPATH": str(tmp_path)}, subprocess.PIPE
    with Program(PROGRAM, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        out, err = output_of(process)

    assert (process.returncode, out) == (4, "")
    assert err == ('rocm3d: rocm3d mcp needs mcp, which is not installed\n  hint: pip install "rocm3d[mcp]"\n')


def test_root_that_is_not_a_folder_is_refused(rocm3d, tmp_path):
    ended = rocm3d("mcp", "--root", tmp_path / "gone")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"rocm3d: --root {tmp_path / 'gone'} is not a folder\n"


def test_port_without_http_is_refused(rocm3d):
    assert rocm3d("mcp", "--port", "8000").code == 2


def test_port_in_use_is_refused(rocm3d):
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        ended = rocm3d("mcp", "--http", "--port", occupied.getsockname()[1])

    assert ended.code == 2
    assert "Address already in use" in ended.err


def test_help_shows_how_to_register_the_server(rocm3d):
    help_text = rocm3d("mcp", "--help").out
    entry = help_text[help_text.index('{"mcpServers"') : help_text.index("]}}}") + 4]

    assert json.loads(entry)["mcpServers"]["rocm3d"]["args"][0] == "mcp"
    assert "Authorization: Bearer TOKEN" in help_text


def test_signal_ends_the_server_with_open_stdin(tmp_path):
    pipe = subprocess.PIPE
    with Program([*PROGRAM, "--root", str(tmp_path)], stdin=pipe, stdout=pipe, text=True) as server:
        server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert json.loads(next_line(server))["id"] == 1
        server.send_signal(signal.SIGTERM)
        assert wait_for_exit(server) == 128 + signal.SIGTERM


def test_end_of_stdin_ends_the_server():
    ended = subprocess.run(PROGRAM, input=b"", capture_output=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_no_other_command_loads_the_protocol():
    """The list of commands imports all command modules; none of them may import the protocol."""
    script = "import sys; from rocm3d.cli.main import build; build(); print(*sorted(sys.modules), sep='\\n')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.splitlines())

    assert "rocm3d.cli.mcp" in loaded
    assert not loaded & {"mcp", "mcp_types", "anyio", "starlette", "uvicorn", "rocm3d.mcp"}
