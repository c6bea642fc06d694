"""A hostile build script: in the sandbox it reaches nothing outside, and what it leaves behind harms nobody."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from processes import running_with
from waiting import DEADLINE, wait_until

from rocm3d.model.errors import MachineError
from rocm3d.verify.compilation import build_script
from rocm3d.verify.compilation.build_script import SimulatedMachine, run_build_script
from rocm3d.workspace.process import Limits
from rocm3d.workspace.sandbox import Sandbox, unavailable_reason
from rocm3d.workspace.seal import seal_of
from rocm3d.workspace.state import data_path

pytestmark = pytest.mark.timeout(DEADLINE)
needs_sandbox = pytest.mark.skipif(bool(unavailable_reason()), reason=f"not run: no sandbox: {unavailable_reason()}")

AMD = SimulatedMachine(torch="9.9.0", hip="7.7.7", gfx="gfx942", wave=64)
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("p._C", ["k.cu"])])
"""
REACHES = """
import os, socket, subprocess
found = []
def attempt(name, action):
    try:
        action()
    except Exception:
        return
    found.append(name)
def write(path):
    with open(path, "a") as file:
        file.write("owned")
{attempts}
if found:
    raise RuntimeError("reached " + ", ".join(found))
"""


@pytest.fixture
def run_script(tmp_path):
    """Runs a setup.py in a sandbox, on a copy of its repository."""

    def run(text: str, sandboxed: bool = True, seconds: float = DEADLINE):
        folder = tmp_path / "scratch"
        tree = folder / "tree"
        tree.mkdir(parents=True, exist_ok=True)
        (tree / "setup.py").write_text(text)
        (tree / "k.cu").write_text("__global__ void k() {}\n")
        sandbox = Sandbox(folder) if sandboxed else None
        return run_build_script(tree, "setup.py", AMD, sandbox=sandbox, seconds=seconds), tree

    return run


@needs_sandbox
def test_a_harmless_script_works_as_without_a_sandbox(run_script):
    (inside, _), (outside, _) = run_script(SETUP), run_script(SETUP, sandboxed=False)

    assert inside == outside
    assert inside.has_device_code


@needs_sandbox
def test_nothing_outside_is_written_read_or_connected(run_script, tmp_path):
    source = tmp_path / "repository" / "setup.py"
    source.parent.mkdir()
    source.write_text(SETUP)
    seal_of("", b"")  # creates the key
    key = data_path() / "key"
    written = [source, Path.home() / "rocm3d-mark-of-a-test", tmp_path / "mark", Path(sys.executable), key]
    read = [key, source, Path.home() / ".ssh" / "id_rsa", Path("/etc/shadow"), Path("/proc/1/root/etc/shadow")]
    attempts = [f"attempt({f'write {path}'!r}, lambda: write({str(path)!r}))" for path in written]
    attempts += [f"attempt({f'read {path}'!r}, lambda: open({str(path)!r}).read())" for path in read]
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        attempts += [f"attempt('connect', lambda: socket.create_connection(('127.0.0.1', {port}), 1))"]
        attempts += ["attempt('name', lambda: socket.create_connection(('localhost', 80), 1))"]
        result, _ = run_script(REACHES.format(attempts="\n".join(attempts)) + SETUP)
        with pytest.raises(BlockingIOError):
            server.accept()

    # What it wrote below /tmp was in the sandbox's own /tmp.
    reached = [
        item for item in result.error.removeprefix("RuntimeError: reached ").split(", ") if "write /tmp" not in item
    ]
    assert reached in ([], [""])
    assert source.read_text() == SETUP
    assert not (tmp_path / "mark").exists()
    assert not (Path.home() / "rocm3d-mark-of-a-test").exists()


@needs_sandbox
def test_a_fork_bomb_ends_and_leaves_no_process(run_script, monkeypatch):
    monkeypatch.setattr(Sandbox, "_limits", lambda self: Limits(100, 1 << 34, 1 << 30, self.folder, 0))
    mark = f"mark-of-{os.getpid()}"
    bomb = f"import os\nos.environ['BOMB'] = {mark!r}\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"

    result, _ = run_script(bomb)

    assert result.error == "setup.py was stopped: it started more than 100 processes and threads"
    assert not result.is_conclusive
    wait_until(lambda: not running_with(f"BOMB={mark}"), "the fork bomb to end")


@needs_sandbox
def test_a_process_that_it_starts_ends_with_it(run_script):
    mark = f"left-by-{os.getpid()}"
    start = (
        f"import subprocess\nsubprocess.Popen(['sleep', '3600'], env={{'LEFT': {mark!r}}}, start_new_session=True)\n"
    )

    result, _ = run_script(start + SETUP)

    assert result.has_device_code
    wait_until(lambda: not running_with(f"LEFT={mark}"), "the process to end")


@pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=needs_sandbox), False])
def test_links_and_pipes_that_it_leaves_are_removed(run_script, tmp_path, sandboxed):
    secret = tmp_path / "secret.cu"
    secret.write_text("secret")
    text = f"""
import os
os.remove("k.cu")
os.symlink({str(secret)!r}, "k.cu")
os.mkfifo("setup.cfg")
os.symlink("/", "everything")
os.mkdir("closed")
open("closed/file.h", "w").close()
os.chmod("closed/file.h", 0)
os.chmod("closed", 0)
with open("large.h", "wb") as file:
    file.truncate(65 << 20)
"""
    _, tree = run_script(text + SETUP, sandboxed)

    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*")) == [
        "closed",
        "closed/file.h",
        "setup.py",
    ]
    assert (tree / "closed" / "file.h").read_bytes() == b""
    assert secret.read_text() == "secret"


def test_a_tree_that_is_too_deep_is_refused(run_script, monkeypatch):
    monkeypatch.setattr(build_script, "_MAX_DEPTH", 5)
    with pytest.raises(MachineError, match=r"setup\.py wrote more files than rocm3d reads"):
        run_script("import os\nos.makedirs('a/b/c/d/e/f/g')\n", sandboxed=False)


@needs_sandbox
def test_a_script_that_is_too_slow_is_stopped(run_script):
    result, _ = run_script("import time\ntime.sleep(3600)\n", seconds=1)

    assert (result.error, result.is_conclusive) == ("setup.py was stopped at the 1 s limit", False)
