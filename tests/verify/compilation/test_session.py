"""Small extensions through the real compiler: translated, compiled for both wave widths, read back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from rocm3d.repository import Opened
from rocm3d.verify.compilation import session
from rocm3d.verify.compilation.session import Request, compile_repository
from rocm3d.workspace.tree import Tree

TARGETS = ("gfx942", "gfx1100")
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(ext_modules=[CUDAExtension("p._C", {sources}, extra_compile_args={{"nvcc": {flags}}})])
"""
KERNEL = """#include <cuda_runtime.h>
#include "own.h"
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = own(x[i]);
}
void go(float* x, int n, cudaStream_t stream) { twice<<<1, 64, 0, stream>>>(x, n); }
"""
HEADER = (
    "#pragma once\n#include <cuda_fp16.h>\n"
    "__device__ inline float own(float x) { return __half2float(__float2half(x)) * 2; }\n"
)


@pytest.fixture
def compiled(tmp_path, knowledge, kit):
    """Compiles a repository of these files."""

    def run(files: dict[str, str], flags=(), kit=kit, **more):
        root = tmp_path / "repo"
        sources = [name for name in files if name.endswith((".cu", ".cpp"))]
        for name, text in {"setup.py": SETUP.format(sources=sources, flags=list(flags)), **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        scan = Opened(root, knowledge, work=tmp_path / "work").scan()
        listed, found = scan.inventory.extensions, scan.findings
        return compile_repository(Request(Tree.open(root), listed, TARGETS, knowledge, found, **more), kit)

    return run


def outcomes(report):
    return {item.unit.source: {side: result.outcome for side, result in item.sides.items()} for item in report.units}


def test_a_source_that_is_not_there_is_missing(compiled, tmp_path):
    report = compiled({"setup.py": SETUP.format(sources=["gone.cu"], flags=[])})

    assert (report.units, report.missing) == ((), ("gone.cu",))


def test_errors_stand_on_the_lines_of_the_original(compiled):
    bad = KERNEL.replace("twice<<<1, 64, 0, stream>>>(x, n)", "twice << <1, 64 >> > (x, n)")
    bad = bad.replace('#include "own.h"', '#include <device_launch_parameters.h>\n#include "own.h"')
    header = HEADER + "__device__ inline void stop() { __trap(); }\n"

    report = compiled({"csrc/k.cu": bad, "csrc/own.h": header})

    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"failed"}
    assert [(item.path, item.line, item.code) for item in unit.problems] == [
        ("csrc/k.cu", 2, "CU201"),
        ("csrc/k.cu", 8, "CU301"),
        ("csrc/own.h", 4, "CU302"),
    ]


def test_a_flag_of_nvcc_is_told_and_the_rest_is_compiled(compiled):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, ["--use_fast_math", "-O2"])

    assert [(item.path, item.line, item.code) for item in report.flags] == [("setup.py", 3, "BLD101")]
    assert outcomes(report) == {"k.cu": dict.fromkeys((*TARGETS, "host"), "compiled")}


def test_a_header_of_a_library_that_is_not_here_is_no_failure(compiled):
    report = compiled({"k.cu": "#include <Eigen/Dense>\n" + KERNEL, "own.h": HEADER})

    (unit,) = report.units
    assert {(side.outcome, side.lacks) for side in unit.sides.values()} == {("lacks", "Eigen/Dense")}


def test_a_compiler_that_takes_too_long_is_no_failure(compiled):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, seconds=0.05)

    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"timed_out"}


def test_a_kernel_becomes_code_for_both_wave_widths(compiled):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER, "plain.cpp": "int f() { return 1; }\n"})

    (unit,) = report.units
    assert unit.problems == ()
    assert report.hipify
    for gfx, wave in zip(TARGETS, (64, 32), strict=True):
        (kernel,) = unit.sides[gfx].kernels
        assert (kernel.name, kernel.wave_size, kernel.empty) == ("_Z5twicePfi", wave, False)
    assert unit.sides["gfx942"].own_headers == ("hip/hip_fp16.h",)


def test_what_has_not_changed_is_not_compiled_again(compiled, monkeypatch):
    files = {"k.cu": KERNEL, "own.h": HEADER}
    first = compiled(files)
    monkeypatch.setattr(session.Bench, "compile", lambda *_: pytest.fail("compiled again"))

    assert outcomes(compiled(files)) == outcomes(first)


def test_a_changed_header_is_compiled_again(compiled):
    compiled({"k.cu": KERNEL, "own.h": HEADER})

    report = compiled({"k.cu": KERNEL, "own.h": HEADER.replace("* 2", "* two")})

    assert {side.outcome for side in report.units[0].sides.values()} == {"failed"}
    assert report.units[0].problems[0].path == "own.h"


def test_the_other_generation_of_hipify(compiled, kits):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, kit=kits[2])

    assert report.hipify.startswith("2")
    assert outcomes(report) == {"k.cu": dict.fromkeys((*TARGETS, "host"), "compiled")}


def test_killed_at_any_time_it_leaves_nothing(tmp_path, kit):
    """Without the keeper a group of compilers, a temporary folder and a half-written cache would stay behind."""
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from rocm3d.workspace.process import run
        from rocm3d.workspace.scratch import kept_folder
        with kept_folder() as folder:
            (folder / "x.hip").write_text("#include <hip/hip_runtime.h>\\n")
            print(folder, flush=True)
            while True:
                run([*sys.argv[1:], "-c", str(folder / "x.hip"), "-o", str(folder / "x.o")])
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program, *kit.compiler.command], stdout=subprocess.PIPE, text=True)
    folder = Path(child.stdout.readline().strip())
    time.sleep(0.4)
    assert folder.is_dir()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (folder.exists() or running(folder)):
        time.sleep(0.1)
    assert not folder.exists()
    assert running(folder) == []


def running(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found
