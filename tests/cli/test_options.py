from __future__ import annotations

import sys
from pathlib import Path

from typer.main import get_command

from rocm3d.cli.application import build
from rocm3d.cli.options import absolute_path


def test_no_path_stays_no_path():
    assert absolute_path(None) is None


def test_a_link_is_not_followed(tmp_path, monkeypatch):
    """An interpreter finds its environment by the path that it is called by."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)

    assert absolute_path(Path("bin/../bin/python")) == tmp_path / "bin" / "python"
    assert absolute_path(Path("/usr/bin/python")) == Path("/usr/bin/python")


def python_options(command, name=""):
    """Name of the command, and its option --python."""
    for inner_name, inner in getattr(command, "commands", {}).items():
        yield from python_options(inner, f"{name} {inner_name}".strip())
    yield from ((name, option) for option in command.params if "--python" in option.opts)


def test_every_interpreter_is_taken_from_the_current_folder():
    """view accepts the name of a program, too."""
    options = dict(python_options(get_command(build())))

    assert {"verify", "smoke", "plan", "port", "doctor", "golden record"} <= set(options)
    assert [name for name, option in options.items() if option.callback is None] == ["view"]


def test_a_relative_interpreter_runs(rocm3d, example):
    """Checks run in folders of their own."""
    root = example("pins-only")
    folder, name = Path(sys.executable).parent, Path(sys.executable).name
    rocm3d("port", root, "--gpu", "mi300x", "--allow-dirty")

    verified = rocm3d("verify", root, "--level", "import", "--python", f"../{folder.name}/{name}", cwd=folder)
    named = rocm3d("verify", root, "--level", "import", "--python", sys.executable)

    assert (verified.code, verified.out) == (named.code, named.out)
    assert "no such file" not in verified.err
