from __future__ import annotations

import pytest
from workloads import Program, problem, program

from rocm3d.model.port import Workload


def workload(*command: str, folder: str = "") -> Workload:
    return Workload(command=command, folder=folder, does="d", minutes=1, artifact="a", check="c")


@pytest.mark.parametrize("command", [(), ("python", "-c", "import torch; print(1)")])
def test_a_command_without_a_program_of_the_repository(command):
    assert program(workload(*command)) is None
    assert problem(workload(*command), (), ()) == ""


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("python", "main.py", "--config", "x.py"), Program("main.py", is_file=True)),
        (("bash", "scripts/run.sh"), Program("scripts/run.sh", is_file=True)),
        (("torchrun", "--nproc_per_node=1", "generate.py"), Program("generate.py", is_file=True)),
        (("uv", "run", "./a/b.py"), Program("a/b.py", is_file=True)),
        (("python", "-m", "some.tool"), Program("some/tool.py", is_file=True)),
        (("ns-train", "nerfacto"), Program("ns-train", is_file=False)),
    ],
)
def test_program_of_a_command(command, expected):
    assert program(workload(*command)) == expected


def test_a_missing_file_is_named():
    assert problem(workload("python", "main.py"), ("sub/main.py",), ()) == "has no main.py"
    assert problem(workload("python", "-m", "some.tool"), ("some/other.py",), ()) == "has no some/tool.py"


def test_a_file_in_the_folder_of_the_workload():
    assert problem(workload("python", "main.py", folder="sub"), ("sub/main.py",), ()) == ""


@pytest.mark.parametrize("path", ["some/tool.py", "some/tool/__main__.py", "src/some/tool.py"])
def test_a_module(path):
    assert problem(workload("python", "-m", "some.tool"), (path,), ()) == ""


def test_an_entry_point_that_nothing_declares():
    text = '[project.scripts]\nother = "a.b:main"\n'
    assert problem(workload("tool", "x"), (), (text,)) == "declares no command tool"


@pytest.mark.parametrize("text", ['[project.scripts]\ntool = "a.b:main"\n', "setup(entry_points=['tool=a:b'])"])
def test_an_entry_point(text):
    assert problem(workload("tool", "x"), (), (text,)) == ""
