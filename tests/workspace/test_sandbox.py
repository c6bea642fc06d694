"""A hostile program in a sandbox reaches nothing outside; a machine without one says why."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from processes import running_with
from waiting import DEADLINE, wait_until

from rocm3d.model.errors import MachineError
from rocm3d.workspace import process, sandbox
from rocm3d.workspace.process import Limits
from rocm3d.workspace.sandbox import Sandbox, interpreter_paths, run_in, unavailable_reason
from rocm3d.workspace.seal import seal_of
from rocm3d.workspace.state import data_path

pytestmark = pytest.mark.timeout(DEADLINE)
needs_sandbox = pytest.mark.skipif(bool(unavailable_reason()), reason=f"not run: no sandbox: {unavailable_reason()}")


@pytest.fixture
def box(tmp_path):
    """A sandbox, and the folder that its program may write to."""
    scratch = tmp_path / "scratch"
    (scratch / "work").mkdir(parents=True)
    return Sandbox(scratch)


@pytest.fixture
def run_python(box):
    """Runs Python code in the sandbox; its folder is writable."""

    def run(code: str, **options):
        work = box.folder / "work"
        return box.run([sys.executable, "-I", "-S", "-c", code], cwd=work, writable=[work], **options)

    return run


def tried(path: Path, action: str) -> str:
    return f"try:\n    {action}\n    print('reached', {str(path)!r})\nexcept OSError:\n    pass\n"


@needs_sandbox
def test_nothing_outside_is_written(run_python, tmp_path):
    home = Path.home()
    folders = [tmp_path, home, Path("/"), Path("/usr"), Path("/etc"), Path("/root"), Path("/dev"), Path("/dev/shm")]
    folders += [
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sandbox.__file__).parents[1],
        data_path(),
        Path("/var/tmp"),
    ]
    marks = [folder / "rocm3d-mark-of-a-test" for folder in folders]
    ended = run_python("".join(tried(mark, f"open({str(mark)!r}, 'w').close()") for mark in marks))

    # Folders on the way to what is visible exist in the sandbox's own /tmp, and vanish with it.
    assert ended.code == 0
    assert all(line.removeprefix("reached ").startswith("/tmp/") for line in ended.stdout.decode().splitlines())
    assert [] == [mark for mark in marks if mark.exists()]


@needs_sandbox
@pytest.mark.parametrize("path", ["/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj", "/proc/sysrq-trigger"])
def test_settings_of_the_kernel_are_read_only(run_python, path):
    """Root may write some of them without any capability, and one of them names a program to run."""
    assert run_python(tried(Path(path), f"open({path!r}, 'w').write('0')")).stdout == b""


@needs_sandbox
def test_nothing_of_the_user_is_read(run_python, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    seal_of("", b"")  # creates the key
    key = data_path() / "key"
    assert key.is_file()
    paths = [secret, key, Path.home() / ".ssh", Path.home() / ".config", Path("/etc/shadow"), Path("/etc/ssh")]
    ended = run_python("import os\n" + "".join(tried(path, f"os.stat({str(path)!r})") for path in paths))

    assert (ended.code, ended.stdout) == (0, b"")


@needs_sandbox
def test_a_data_folder_in_a_visible_folder_is_hidden(box, tmp_path, monkeypatch):
    data = tmp_path / "shown" / "data"
    data.mkdir(parents=True)
    (data / "key").write_text("secret")
    (tmp_path / "shown" / "other").write_text("other")
    monkeypatch.setenv("ROCM3D_DATA", str(data))

    ended = box.run(["ls", str(data), str(data.parent)], readable=[tmp_path / "shown"])

    assert ended.stdout.decode().split() == [f"{data.parent}:", "data", "other", f"{data}:"]


@needs_sandbox
def test_the_home_is_never_visible_as_a_whole(box, tmp_path, monkeypatch):
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    for path in (tmp_path / "home", tmp_path):
        assert box.run(["ls", str(tmp_path / "home")], readable=[path]).code != 0


@needs_sandbox
def test_there_is_no_network(run_python):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0)
        code = f"import socket\ntry:\n    socket.create_connection(('127.0.0.1', {port}), 1)\n    print('reached')\n"
        ended = run_python(
            code + "except OSError:\n    pass\nprint(sorted(name for _, name in socket.if_nameindex()))\n"
        )
        with pytest.raises(BlockingIOError):
            server.accept()

    assert ended.stdout == b"['lo']\n"


@needs_sandbox
def test_sockets_of_the_machine_are_not_reached(run_python, tmp_path):
    """Neither one with a path nor one of the abstract namespace."""
    name = f"\0rocm3d-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as by_path, socket.socket(socket.AF_UNIX) as abstract:
        for server, address in ((by_path, str(tmp_path / "s")), (abstract, name)):
            server.bind(address)
            server.listen()
        code = "import socket\n"
        for address in (str(tmp_path / "s"), name):
            code += tried(Path("socket"), f"socket.socket(socket.AF_UNIX).connect({address!r})")
        assert run_python(code).stdout == b""


@needs_sandbox
def test_processes_of_the_machine_are_not_visible(run_python):
    code = "import os\nprint([name for name in os.listdir('/proc') if name.isdigit() and int(name) > 20])\n"
    assert run_python(code).stdout == b"[]\n"


@needs_sandbox
def test_no_capability_and_none_can_be_acquired(run_python):
    code = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapEff', 'NoNewPrivs'))])"
    assert run_python(code).stdout == b"['0000000000000000', '1']\n"


@needs_sandbox
def test_the_environment_has_nothing_of_the_user(run_python, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "secret")
    code = "import os\nprint(sorted(set(os.environ) - {'ROCM3D_KEPT_BY', 'LC_CTYPE', 'PWD'}))"

    assert run_python(code).stdout == b"['HOME', 'LANG', 'PATH', 'TMPDIR']\n"
    assert b"'X'" in run_python(code, variables={"X": "1"}).stdout


@needs_sandbox
@pytest.mark.parametrize(
    "script",
    ["sleep 3600 & exit 0", "setsid sleep 3600 & exit 0", "(setsid sh -c 'trap \"\" TERM; sleep 3600' &) & exit 0"],
)
def test_no_process_is_left(box, script):
    name = f"ROCM3D_TEST_MARK={os.getpid()}-{abs(hash(script))}"
    ended = box.run(["sh", "-c", script], variables=dict([name.split("=")]))

    assert ended.code == 0
    wait_until(lambda: not running_with(name), "processes of the sandbox to end")


@needs_sandbox
def test_a_fork_bomb_is_ended(run_python, monkeypatch):
    """Also one of root, whose processes the kernel does not count."""
    monkeypatch.setattr(Sandbox, "_limits", lambda self: Limits(50, 1 << 34, 1 << 30, self.folder, 0))
    ended = run_python("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", seconds=DEADLINE)

    assert (ended.code, ended.timed_out) == (None, False)
    assert ended.exceeded == "it started more than 50 processes and threads"


@needs_sandbox
def test_the_memory_of_all_processes_together_is_limited(run_python, monkeypatch):
    monkeypatch.setattr(Sandbox, "_limits", lambda self: Limits(500, 150 << 20, 1 << 30, self.folder, 0))
    code = "import os, time\nfor _ in range(3): os.fork()\ndata = b'x' * (40 << 20)\ntime.sleep(3600)\n"

    assert run_python(code, seconds=DEADLINE).exceeded == "it used more than 0.2 GB of memory"


@needs_sandbox
def test_a_full_disk_is_prevented(run_python, monkeypatch):
    monkeypatch.setattr(Sandbox, "_limits", lambda self: Limits(500, 1 << 34, 1 << 30, self.folder, 1 << 60))

    ended = run_python("import time\ntime.sleep(3600)\n", seconds=DEADLINE)

    assert "GB was left on the disk of" in ended.exceeded


@needs_sandbox
def test_a_file_has_a_largest_size(run_python, box, monkeypatch):
    monkeypatch.setattr(Sandbox, "_limits", lambda self: Limits(500, 1 << 34, 1 << 20, self.folder, 0))
    ended = run_python("open('large', 'wb').write(b'x' * (2 << 20))\n")

    assert ended.code != 0
    assert (box.folder / "work" / "large").stat().st_size == 1 << 20


@needs_sandbox
def test_what_it_writes_to_its_folder_stays_and_temporary_files_do_not(run_python, box):
    code = "open('result', 'w').write('1')\nopen('/tmp/other', 'w').close()\nimport os\nos.mkdir('/tmp/a', 0)\n"

    assert run_python(code).code == 0
    assert (box.folder / "work" / "result").read_text() == "1"
    assert [path.name for path in box.folder.iterdir()] == ["work"]


@needs_sandbox
def test_links_that_lead_to_a_visible_path_exist(box, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (real / "file").write_text("text")
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(real)

    ended = box.run(["cat", str(tmp_path / "first" / "file")], readable=[tmp_path / "first"])

    assert (ended.code, ended.stdout) == (0, b"text")
    assert box.run(["ls", str(tmp_path)], readable=[tmp_path / "first"]).stdout.decode().split() == [
        "first", "real", "second",
    ]  # fmt: skip


@needs_sandbox
def test_the_interpreter_imports_its_packages(box):
    assert box.run([sys.executable, "-I", "-c", "import pydantic"]).code == 0


def test_an_interpreter_in_the_home_does_not_show_the_home(tmp_path):
    for name in ("bin", "lib", ".ssh"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "python").symlink_to(Path(sys.executable).resolve())

    shown = interpreter_paths(tmp_path / "bin" / "python")

    assert tmp_path / "lib" in shown
    assert tmp_path not in shown
    assert tmp_path / ".ssh" not in shown


@needs_sandbox
def test_shows_only_what_all_programs_can_read(tmp_path):
    box = Sandbox(tmp_path / "scratch", (tmp_path / "shown",))

    assert box.shows(Path("/usr/include/stdio.h"))
    assert box.shows(tmp_path / "shown" / "a.h")
    assert not box.shows(tmp_path / "other.h")
    assert not box.shows(Path("/proc/kmsg"))


@pytest.fixture
def _unknown_machine():
    for function in (sandbox.unavailable_reason, sandbox._namespace_options):
        function.cache_clear()
    yield
    for function in (sandbox.unavailable_reason, sandbox._namespace_options):
        function.cache_clear()


@pytest.mark.usefixtures("_unknown_machine")
def test_a_machine_without_the_program_says_so(monkeypatch, box):
    monkeypatch.setattr(sandbox, "find_program", lambda _: None)

    assert unavailable_reason() == "bwrap is not installed (Debian package bubblewrap)"
    with pytest.raises(MachineError, match="bwrap is not installed"):
        box.run(["true"])


@pytest.mark.usefixtures("_unknown_machine")
def test_a_machine_without_namespaces_says_so(monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "find_program", lambda _: str(program))

    assert unavailable_reason() == "bwrap does not work on this machine: No permissions to create new namespace"


@needs_sandbox
@pytest.mark.usefixtures("_unknown_machine")
def test_a_release_that_cannot_disable_nested_namespaces_is_used(monkeypatch, tmp_path):
    real = subprocess.run(["sh", "-c", "command -v bwrap"], capture_output=True, text=True, check=True).stdout.strip()
    program = tmp_path / "bwrap"
    program.write_text(
        '#!/bin/sh\nfor word; do [ "$word" != --disable-userns ] || { echo "Unknown option" >&2; exit 1; }; done\n'
        f'exec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "find_program", lambda _: str(program))

    assert unavailable_reason() == ""
    assert Sandbox(tmp_path).run(["true"]).code == 0


def test_without_a_sandbox_the_environment_of_scripts_is_minimal(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "secret")
    code = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), os.environ['HOME'])"

    ended = run_in(None, [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, variables={"X": "1"})

    assert ended.stdout.decode().strip() == f"['HOME', 'LANG', 'PATH', 'X'] {tmp_path.parent}"


def test_a_folder_without_permissions_and_a_deep_one_are_removed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    code = "import os\nfor _ in range(1100):\n    os.mkdir('d')\n    os.chdir('d')\n"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    (folder / "closed").mkdir()
    (folder / "closed" / "file").touch()
    (folder / "closed").chmod(0)

    process.remove_folder(folder)

    assert not folder.exists()
