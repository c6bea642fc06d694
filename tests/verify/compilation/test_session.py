"""Small extensions through the real compiler: translated, compiled for both wave widths, read back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import Program
from waiting import output_of, wait_for_exit, wait_for_line, wait_until

from rocm3d.model.verdict import CompileResult
from rocm3d.repository import Repository
from rocm3d.verify.compilation import session
from rocm3d.verify.compilation.compile_side import CacheableResult
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.workspace.sandbox import unavailable_reason
from rocm3d.workspace.tree import Tree

needs_sandbox = pytest.mark.skipif(bool(unavailable_reason()), reason=f"not run: no sandbox: {unavailable_reason()}")
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
    """Compiles a repository of these files, by default for one target."""

    def run(files: dict[str, str], flags=(), kit=kit, targets=TARGETS[:1], **more):
        root = tmp_path / "repo"
        sources = [name for name in files if name.endswith((".cu", ".cpp"))]
        for name, text in {"setup.py": SETUP.format(sources=sources, flags=list(flags)), **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        scan = Repository(root, knowledge, work=tmp_path / "work").scan()
        listed, matches = scan.inventory.extensions, scan.findings
        return compile_repository(CompileRequest(Tree.open(root), listed, targets, knowledge, matches, **more), kit)

    return run


@needs_sandbox
def test_the_sandbox_gives_the_same_result(compiled):
    files = {"k.cu": KERNEL, "own.h": HEADER, "sub/bad.cu": KERNEL.replace("own.h", "../own.h").replace("n) {", "n {")}

    outside, inside = compiled(files), compiled(files, sandboxed=True)

    assert inside == outside
    assert outcomes(inside)["sub/bad.cu"] == dict.fromkeys((TARGETS[0], "host"), "failed")


def test_a_header_outside_the_repository_gets_no_stub(compiled, tmp_path):
    """A stub is written where the include says, below our folder only; here it would replace a file of the user."""
    victim = tmp_path / "device_launch_parameters.h"
    climbing = "../" * 20 + str(victim).removeprefix("/")

    compiled({"k.cu": f'#include "{climbing}"\n' + KERNEL, "own.h": HEADER})

    assert not victim.exists()


def outcomes(report):
    return {item.unit.source: {side: result.outcome for side, result in item.sides.items()} for item in report.units}


def test_an_absent_source_is_missing(compiled, tmp_path):
    report = compiled({"setup.py": SETUP.format(sources=["gone.cu"], flags=[])})

    assert (report.units, report.missing) == ((), ("gone.cu",))


def test_errors_have_lines_of_the_original(compiled):
    bad = KERNEL.replace("twice<<<1, 64, 0, stream>>>(x, n)", "twice << <1, 64 >> > (x, n)")
    bad = bad.replace('#include "own.h"', '#include <device_launch_parameters.h>\n#include "own.h"')
    header = HEADER + "__device__ inline void stop() { __trap(); }\n"

    report = compiled({"csrc/k.cu": bad, "csrc/own.h": header}, targets=TARGETS)

    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"failed"}
    assert [(item.path, item.line, item.code) for item in unit.problems] == [
        ("csrc/k.cu", 2, "CU201"),
        ("csrc/k.cu", 8, "CU301"),
        ("csrc/own.h", 4, "CU302"),
    ]


def test_every_position_is_reported(compiled):
    """A compiler that is left alone stops after twenty errors, and says so at no place at all."""
    names = "".join(f"__device__ inline void f{number}() {{ __trap(); }}\n" for number in range(120))
    report = compiled({"a.cu": KERNEL + names, "own.h": HEADER})
    (unit,) = report.units

    first = KERNEL.count("\n") + 1
    assert {(problem.path, problem.line) for problem in unit.problems} == {("a.cu", first + n) for n in range(120)}


def test_a_rejected_flag_is_reported_and_the_unit_is_compiled(compiled):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, ["--use_fast_math", "-O2"])

    assert [(item.path, item.line, item.code) for item in report.flags] == [("setup.py", 3, "BLD101")]
    assert outcomes(report) == {"k.cu": dict.fromkeys((TARGETS[0], "host"), "compiled")}


def test_a_host_source_compiles_as_with_gcc(compiled):
    """torch takes the host compiler for it; a variable that narrows in braces is a warning of gcc."""
    narrowing = "#include <array>\n#include <cuda_runtime.h>\nstd::array<float, 1> f(double x) { return {x}; }\n"

    report = compiled({"k.cu": KERNEL, "own.h": HEADER, "a.cpp": narrowing, "b.cpp": narrowing.replace("{x}", "{x; }")})

    sides = outcomes(report)
    assert (sides["a.cpp"]["host"], sides["b.cpp"]["host"]) == ("compiled", "failed")


def test_a_missing_library_header_does_not_fail(compiled):
    report = compiled({"k.cu": "#include <Eigen/Dense>\n" + KERNEL, "own.h": HEADER})

    (unit,) = report.units
    assert {(side.outcome, side.lacks) for side in unit.sides.values()} == {("lacks", "Eigen/Dense")}


def test_a_header_that_hipify_does_not_copy_is_an_error_among_the_others(compiled):
    """torch's load puts the source into another folder, and its own header stays."""
    load = "from torch.utils.cpp_extension import load\nm = load(name='m', sources=['cuda/k.cu'])\n"
    bad = KERNEL + "__device__ void stop() { __trap(); }\n"
    plain = "__device__ inline float own(float x) { return x * 2; }\n"

    report = compiled({"setup.py": "", "backend.py": load, "cuda/k.cu": bad, "cuda/own.h": plain})

    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"failed"}
    assert [(item.path, item.line, item.code) for item in unit.problems] == [
        ("cuda/k.cu", 2, "CU506"),
        ("cuda/k.cu", 8, "CU302"),
    ]


def test_a_folder_of_this_machine_is_not_translated(compiled, tmp_path):
    away = tmp_path / "away"
    away.mkdir()
    (away / "theirs.h").write_text("#include <cuda_fp16.h>\n")
    load = (
        "from torch.utils.cpp_extension import load\n"
        f"load(name='m', sources=['k.cu'], extra_include_paths=['{away}'])\n"
    )

    report = compiled({"setup.py": "", "backend.py": load, "k.cu": KERNEL, "own.h": HEADER})

    assert len(report.units) == 1
    assert [path.name for path in away.iterdir()] == ["theirs.h"]


def test_a_timeout_does_not_fail(compiled):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, seconds=0.05)

    (unit,) = report.units
    assert {side.outcome for side in unit.sides.values()} == {"timed_out"}


def test_a_kernel_becomes_code_for_both_wave_widths(compiled):
    files = {"k.cu": KERNEL, "own.h": HEADER, "plain.cpp": "int f() { return 1; }\n"}
    report = compiled(files, targets=TARGETS)

    (unit,) = report.units
    assert unit.problems == ()
    assert report.hipify
    for gfx, wave in zip(TARGETS, (64, 32), strict=True):
        (kernel,) = unit.sides[gfx].kernels
        assert (kernel.name, kernel.wave_size, kernel.empty) == ("_Z5twicePfi", wave, False)
    assert unit.sides["gfx942"].own_headers == ("hip/hip_fp16.h",)


def test_unchanged_units_are_cached(compiled, monkeypatch):
    files = {"k.cu": KERNEL, "own.h": HEADER}
    first = compiled(files)
    monkeypatch.setattr(session.HipUnitCompiler, "compile", lambda *_: pytest.fail("compiled again"))

    assert outcomes(compiled(files)) == outcomes(first)


@pytest.mark.parametrize("what", ["program", "search"])
def test_the_cache_depends_on_rocm3d_and_the_include_path(compiled, kit, monkeypatch, what):
    files = {"k.cu": KERNEL, "own.h": HEADER}
    compiled(files)
    if what == "program":
        monkeypatch.setattr(session, "program_digest", lambda: "another")
    else:
        monkeypatch.setattr(type(kit), "search", property(lambda _: ("-I/another",)))
    monkeypatch.setattr(
        session.HipUnitCompiler,
        "compile",
        lambda *_: CacheableResult(CompileResult(side="s", outcome="failed"), (), is_final=False),
    )

    assert {side for sides in outcomes(compiled(files)).values() for side in sides.values()} == {"failed"}


def test_a_changed_header_is_compiled_again(compiled):
    compiled({"k.cu": KERNEL, "own.h": HEADER})

    report = compiled({"k.cu": KERNEL, "own.h": HEADER.replace("* 2", "* two")})

    assert {side.outcome for side in report.units[0].sides.values()} == {"failed"}
    assert report.units[0].problems[0].path == "own.h"


def test_the_other_generation_of_hipify(compiled, kits):
    report = compiled({"k.cu": KERNEL, "own.h": HEADER}, kit=kits[2])

    assert report.hipify.startswith("2")
    assert outcomes(report) == {"k.cu": dict.fromkeys((TARGETS[0], "host"), "compiled")}


COMPILES = """
import os
import sys
from pathlib import Path
from rocm3d.knowledge.load import load
from rocm3d.model.verdict import CompileResult
from rocm3d.repository import Repository
from rocm3d.verify.compilation.kit import find_kit
from rocm3d.verify.compilation.compile_side import CacheableResult
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.workspace.tree import Tree

root, work, cache = map(Path, sys.argv[1:])
knowledge = load()
kit = find_kit(knowledge.toolchains, 1, None, None)
os.environ["ROCM3D_CACHE"] = str(cache)
scan = Repository(root, knowledge, work=work).scan()
print("begins", flush=True)
request = CompileRequest(
    Tree.open(root), scan.inventory.extensions, ("gfx942",), knowledge, sandboxed=bool(os.environ["SANDBOXED"])
)
report = compile_repository(request, kit)
print(*(side.outcome for unit in report.units for side in unit.sides.values()))
"""


@pytest.fixture(params=["", pytest.param("sandboxed", marks=needs_sandbox)])
def start_compile(tmp_path, kit, request):
    """Starts a compile of three files in a separate process; all its temporary files are in one folder."""
    root, temporary_folder = tmp_path / "repo", tmp_path / "tmp"
    for folder in (root, temporary_folder):
        folder.mkdir()
    names = [f"k{number}.cu" for number in range(3)]
    (root / "setup.py").write_text(SETUP.format(sources=names, flags=[]))
    (root / "own.h").write_text(HEADER)
    for name in names:
        (root / name).write_text(KERNEL)
    settings = {
        "SANDBOXED": request.param,
        "TMPDIR": str(temporary_folder),
        "ROCM3D_CACHE": str(kit.roots[0].parents[1]),
    }

    def start():
        command = [sys.executable, "-c", COMPILES, root, tmp_path / "work", tmp_path / "cache"]
        return Program(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **settings}
        )

    return start, temporary_folder


def test_a_killed_compile_leaves_no_files_and_a_usable_cache(start_compile):
    start, temporary_folder = start_compile
    for number, seconds in ((signal.SIGKILL, 0.0), (signal.SIGTERM, 0.5), (signal.SIGINT, 1.0), (signal.SIGKILL, 2.0)):
        with start() as child:
            wait_for_line(child, "begins")
            time.sleep(seconds)
            child.send_signal(number)
            wait_for_exit(child)
            wait_until(
                lambda: not list(temporary_folder.iterdir()) and not running(temporary_folder),
                f"nothing that is left in {temporary_folder}",
            )

    with start() as child:
        output, _ = output_of(child)
    assert output.split() == ["begins", *["compiled"] * 6]
    assert list(temporary_folder.iterdir()) == []


def running(folder: Path) -> list[int]:
    """Processes with a path in this folder in their command line or environment."""
    matches = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            process_text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in process_text:
            matches.append(int(entry.name))
    return matches
