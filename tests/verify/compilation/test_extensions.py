from __future__ import annotations

import pytest

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Extension
from rocm3d.verify.compilation.build_script import SimulatedMachine
from rocm3d.verify.compilation.extensions import ExtensionFinder, from_inventory

AMD = SimulatedMachine(torch="9.9.0", hip="7.7.7", gfx="gfx942", wave=64)
HEAD = "from setuptools import setup\nfrom torch.utils.cpp_extension import CUDA_HOME, CUDAExtension\n"


def extension(path="setup.py", how="build_extension", sources=("k.cu",), **more) -> Extension:
    return Extension(name="p._C", how=how, sources=sources, location=Location(path=path, line=2, column=1), **more)


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def test_a_build_without_device_code_is_a_problem_at_the_cuda_check(tree, knowledge, make_finding):
    gate = "if CUDA_HOME is not None:\n    setup(ext_modules=[CUDAExtension('p._C', ['k.cu'])])\nelse:\n    setup()\n"
    (tree / "setup.py").write_text(HEAD + gate)
    finding = make_finding("setup.py").model_copy(update={"code": "BLD201", "line": 3, "column": 4})

    (result,) = ExtensionFinder(tree, AMD, [finding], knowledge.codes).find([extension()])

    assert "builds no device code with a ROCm torch; device sources in the CUDA build: 1" in result.problem.message
    assert (result.problem.path, result.problem.line, result.problem.code) == ("setup.py", 3, "BLD201")
    assert result.extensions[0].sources == ("k.cu",)


def test_a_build_that_stops_is_a_problem_at_its_line(tree):
    (tree / "setup.py").write_text(
        HEAD + "if CUDA_HOME is None: raise OSError('no CUDA')\nsetup(ext_modules=[CUDAExtension('a', ['k.cu'])])\n"
    )

    (result,) = ExtensionFinder(tree, AMD).find([extension()])

    assert result.problem.message == "the build stops with a ROCm torch: OSError: no CUDA"
    assert result.problem.line == 3


def test_a_script_that_cannot_run_is_parsed(tree):
    (tree / "setup.py").write_text("import nobody_has_this_module\n")

    (result,) = ExtensionFinder(tree, AMD).find([extension(device_flags=("--use_fast_math", "-DX"), macros=("M=1",))])

    assert result.problem is None
    assert "was parsed, not run (ModuleNotFoundError" in result.note
    assert (result.extensions[0].device_flags, result.extensions[0].macros) == (("-DX",), ("-DM=1",))


def test_a_script_that_builds_on_rocm_has_no_problem(tree):
    (tree / "setup.py").write_text(HEAD + "setup(ext_modules=[CUDAExtension('p._C', ['k.cu'])])\n")

    (result,) = ExtensionFinder(tree, AMD).find([extension()])

    assert (result.problem, result.note) == (None, "")


def test_cmake_is_read_unless_torch_builds_the_same(tree):
    (tree / "setup.py").write_text(HEAD + "setup(ext_modules=[CUDAExtension('p._C', ['k.cu'])])\n")
    same, other = extension("CMakeLists.txt", "cmake"), extension("lib/CMakeLists.txt", "cmake", ("m.cu",))

    result = list(ExtensionFinder(tree, AMD).find([same, extension(), other]))

    assert [(item.script, [e.sources for e in item.extensions]) for item in result] == [
        ("setup.py", [("k.cu",)]),
        ("lib/CMakeLists.txt", [("lib/m.cu",)]),
    ]
    assert not result[1].extensions[0].uses_torch


def test_patterns_are_expanded_and_folders_joined(tree):
    (tree / "pkg" / "csrc").mkdir(parents=True)
    for name in ("b.cu", "a.cu"):
        (tree / "pkg" / "csrc" / name).touch()

    result = from_inventory(extension("pkg/x.py", "jit", ("csrc/*.cu", "ext.cpp"), include_dirs=("csrc/",)), tree)

    assert result.sources == ("pkg/csrc/a.cu", "pkg/csrc/b.cu", "pkg/ext.cpp")
    assert result.include_dirs == ("pkg/csrc",)


def test_jit_extensions_with_built_sources_are_skipped(tree):
    """Both would put their translations into the same folders."""
    (tree / "setup.py").write_text(HEAD + "setup(ext_modules=[CUDAExtension('p._C', ['k.cu'])])\n")
    load = "from torch.utils.cpp_extension import load\nload('m', ['{}'])\n"
    (tree / "backend.py").write_text(load.format("k.cu"))
    (tree / "other.py").write_text(load.format("m.cu"))
    loaded = [extension("backend.py", "jit"), extension("other.py", "jit", ("m.cu",))]

    setup, same, other = ExtensionFinder(tree, AMD).find([*loaded, extension()])

    assert [item.script for item in (setup, same, other)] == ["setup.py", "backend.py", "other.py"]
    assert (same.extensions, "another script builds" in same.note) == ((), True)
    assert other.extensions[0].sources == ("m.cu",)


def test_an_error_is_blamed_before_a_warning(tree, knowledge, make_finding):
    (tree / "setup.py").write_text(
        HEAD + "if CUDA_HOME is not None:\n    setup(ext_modules=[CUDAExtension('p._C', ['k.cu'])])\n"
    )
    home = make_finding("setup.py").model_copy(update={"code": "BLD201", "line": 3})
    gpu_warning = home.model_copy(update={"code": "BLD202", "severity": "warning"})

    (result,) = ExtensionFinder(tree, AMD, [gpu_warning, home], knowledge.codes).find([extension()])

    assert result.problem.code == "BLD201"
