from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Program
from waiting import output_of, wait_for_line

from rocm3d import __version__

COMMANDS = [
    "scan",
    "plan",
    "apply",
    "undo",
    "verify",
    "port",
    "report",
    "explain",
    "kb check",
    "kb query",
    "cache path",
]


def test_a_wrong_option_exits_2(rocm3d):
    ended = rocm3d("scan", ".", "--frobnicate")

    assert ended.code == 2
    assert "--frobnicate" in ended.err


def test_a_log_file_that_cannot_be_written_exits_2(rocm3d, example, tmp_path):
    ended = rocm3d("scan", example("deform-op"), "--log-file", tmp_path / "no" / "log")

    assert ended.code == 2
    assert "--log-file" in ended.err


def test_bug_exits_3_and_writes_a_crash_log(tmp_path):
    """An unexpected exception in a stage is caught by the application."""
    script = (
        "import rocm3d.repository as p\n"
        "def broken(*a): raise RuntimeError('planted')\n"
        "p.scan = broken\n"
        "import sys; sys.argv = ['rocm3d', 'scan', '.']\n"
        "from rocm3d.cli.main import main; main()\n"
    )
    env = {**os.environ, "ROCM3D_CACHE": str(tmp_path / "cache")}
    (tmp_path / "a.py").write_text("")

    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )

    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    path = re.search(r"log: (\S+crash-\S+\.md)", ended.stderr).group(1)
    log = (tmp_path / "cache" / Path(path).name).read_text()
    assert "RuntimeError: planted" in log
    assert __version__ in log


def test_ctrl_c_exits_130_without_a_traceback(tmp_path):
    script = (
        "import time, rocm3d.repository as p\n"
        "def slow(*a): print('ready', flush=True); time.sleep(3600)\n"
        "p.scan = slow\n"
        "import sys; sys.argv = ['rocm3d', 'scan', '.']\n"
        "from rocm3d.cli.main import main; main()\n"
    )
    (tmp_path / "a.py").write_text("")
    pipe = subprocess.PIPE
    with Program([sys.executable, "-c", script], stdout=pipe, stderr=pipe, text=True, cwd=tmp_path) as child:
        wait_for_line(child, "ready")
        child.send_signal(signal.SIGINT)
        _, err = output_of(child)

    assert child.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err


def test_version_shows_tool_knowledge_and_schema(rocm3d):
    assert re.fullmatch(
        rf"rocm3d {__version__}, knowledge of \d{{4}}-\d\d-\d\d, schema \d+\.\d+\n", rocm3d("--version").out
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_the_common_options(rocm3d, name):
    text = rocm3d(*name.split(), "--help").out

    assert "Example: rocm3d" in text
    for option in ("--quiet", "--verbose", "--log-file", "--offline", "--knowledge"):
        assert option in text


def test_verbose_and_log_file_name_the_files_read(rocm3d, example, tmp_path):
    ended = rocm3d("scan", example("deform-op"), "--verbose", "--log-file", tmp_path / "log")

    assert "setup.py" in ended.err
    assert "src/sample_kernel.cu" in (tmp_path / "log").read_text()


def test_completion_is_offered(rocm3d):
    assert "--install-completion" in rocm3d("--help").out


def test_no_colour_and_no_progress_bar_without_a_terminal(rocm3d, example):
    ended = rocm3d("scan", example("splat-trainer"))

    assert "\x1b" not in ended.out + ended.err


def test_closed_pipe_exits_0(example):
    """`rocm3d scan . | head -1` ends without an error message."""
    command = (
        f"{sys.executable} -c 'from rocm3d.cli.main import main; main()' scan {example('splat-trainer')} -q | head -1"
    )

    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert ended.stderr == ""
    assert len(ended.stdout.splitlines()) == 1


def test_module_of_the_working_folder_is_not_imported(tmp_path):
    (tmp_path / "typer.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    ended = subprocess.run(
        [sys.executable, "-m", "rocm3d", "--version"], cwd=tmp_path, env=environment, capture_output=True, check=False
    )

    assert ended.returncode == 0
    assert not (tmp_path / "ran").exists()
