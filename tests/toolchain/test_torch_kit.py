from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.toolchain import torch_kit

EXTENSION = """IS_WINDOWS = False
COMMON_NVCC_FLAGS = ['-DNVCC', '--expt-relaxed-constexpr']
COMMON_HIP_FLAGS = [
    '-DUSE_ROCM=1',
]
COMMON_HIPCC_FLAGS = ['-DHIPCC=1', computed()]
def f():
    cpp_flag = cpp_flag_prefix + 'c++20'
"""


@pytest.fixture
def interpreter(tmp_path):
    """A program that prints this response, like an interpreter with torch."""

    def make(answer: str) -> Path:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\necho '{answer}'\n")
        path.chmod(0o755)
        return path

    return make


def test_an_interpreter_without_torch(interpreter):
    with pytest.raises(MachineError, match="torch is not installed for"):
        torch_kit.kit_from_interpreter(interpreter('{"torch": "", "include": "/x"}'))


def test_a_program_that_is_not_an_interpreter(interpreter):
    with pytest.raises(MachineError, match="cannot run"):
        torch_kit.kit_from_interpreter(interpreter("hello"))


def test_flags_are_parsed_from_cpp_extension():
    flags = torch_kit.read_flags(EXTENSION)

    assert flags.common == ("-DUSE_ROCM=1", "-fPIC")
    assert (flags.device, flags.cuda) == (("-DHIPCC=1",), ("-DNVCC", "--expt-relaxed-constexpr"))
    assert flags.standard == "c++20"


def test_a_file_without_flag_lists_has_defaults():
    flags = torch_kit.read_flags("x = 1\n")

    assert (flags.common, flags.device, flags.standard) == (("-fPIC",), (), "c++17")


def test_a_rocm_torch_brings_its_own_hip_headers(interpreter, tmp_path):
    torch = tmp_path / "torch"
    for name in ("include/c10/hip", "utils/hipify"):
        (torch / name).mkdir(parents=True)
    (torch / "version.py").write_text("__version__ = '9.9.0+rocm7.7'\n")
    (torch / "utils" / "hipify" / "__init__.py").write_text("__version__ = '2.0.0'\n")
    (torch / "utils" / "cpp_extension.py").write_text(EXTENSION)

    kit = torch_kit.kit_from_interpreter(interpreter(f'{{"torch": "{torch}", "include": "/py"}}'))

    assert (kit.version, kit.generation, kit.python_include) == ("9.9.0+rocm7.7", 2, Path("/py"))
    assert kit.include[0] == torch / "include"
    assert kit.search[-1] == Path("/py")


def test_generated_headers_depend_on_the_generator(interpreter, tmp_path, monkeypatch):
    torch = tmp_path / "torch"
    for name in ("include", "utils/hipify"):
        (torch / name).mkdir(parents=True)
    (torch / "version.py").write_text("__version__ = '9.9.0'\n")
    (torch / "utils" / "hipify" / "__init__.py").write_text("__version__ = '1.0.0'\n")
    (torch / "utils" / "cpp_extension.py").write_text(EXTENSION)
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path / "cache"))
    generated = []
    monkeypatch.setattr(
        torch_kit, "write_hip_headers", lambda _, output, __: (generated.append(output), output.mkdir())
    )
    python = interpreter(f'{{"torch": "{torch}", "include": "/py"}}')

    first = torch_kit.kit_from_interpreter(python).include[0]
    assert (torch_kit.kit_from_interpreter(python).include[0], len(generated)) == (first, 1)
    (tmp_path / "other.py").write_text("")
    monkeypatch.setattr(torch_kit, "SCRIPT", tmp_path / "other.py")
    assert torch_kit.kit_from_interpreter(python).include[0] != first


def test_the_prepared_toolchain_has_one_of_each_generation(toolchain, recipe):
    root = Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])

    kits = [torch_kit.kit_from_wheel(recipe, part, root) for part in recipe.torches]

    assert {kit.generation for kit in kits} == {1, 2}
    for kit in kits:
        assert (kit.include[0] / "c10" / "hip" / "HIPStream.h").is_file()
        assert "-DUSE_ROCM=1" in kit.flags.common
        assert any("HALF" in flag for flag in kit.flags.device)
        assert kit.hipify.package_parent == kit.root
