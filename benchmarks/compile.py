"""Time to compile an extension, number of compilers at once, and time of a second run with the cache.

    python benchmarks/compile.py [--files 20] [--target gfx942]

A generated extension with that many device sources is compiled twice. The compilers' total seconds divided by the wall
time of the first run is the number that ran at once, also on a busy machine. Processor time divided by wall time is the
number of cores that they got. The second run as a share of the first shows the effect of the cache. All results are
ratios, because machines differ in speed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

from rocm3d.knowledge.load import load
from rocm3d.model.errors import MachineError
from rocm3d.repository import Repository
from rocm3d.verify.compilation import session
from rocm3d.verify.compilation.compile_side import CacheableResult, HipUnitCompiler
from rocm3d.verify.compilation.content_cache import cores
from rocm3d.verify.compilation.kit import find_kit
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.workspace.tree import Tree

MAX_CACHED_RATIO = 0.1
MIN_PARALLEL_SHARE = 0.8  # of the cores; the rest is reading the tree, running its scripts and hipify
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("made_up._C", {sources})])
"""
SOURCE = """#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
#include "shared.cuh"
__global__ void kernel_{n}(const float* in, float* out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = shared_value(in[i]) * {n}.0f;
}}
void go_{n}(void* t, size_t& bytes, const float* in, float* out, int n, cudaStream_t stream) {{
  kernel_{n}<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);
  cub::DeviceReduce::Sum(t, bytes, out, out, n, stream);
}}
"""
HEADER = """#pragma once
__device__ inline float shared_value(float x) { return __half2float(__float2half(x)) + 1.0f; }
"""


def processor_seconds() -> float:
    """Processor seconds of this process and of everything it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class TimedCompiler(HipUnitCompiler):
    compile_seconds: ClassVar[list[float]] = []

    def compile(self, unit: TranslationUnit, side: str) -> CacheableResult:
        begun = time.monotonic()
        done = super().compile(unit, side)
        self.compile_seconds.append(time.monotonic() - begun)
        return done


def main() -> int:
    """Print the ratios; 1 if a core idles or the second run is too slow."""
    session.HipUnitCompiler = TimedCompiler  # type: ignore[misc]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--target", action="append", default=[])
    options = parser.parse_args()
    knowledge = load()
    try:
        kit = find_kit(knowledge.toolchains, None, None, None)
    except MachineError as error:
        sys.exit(error.message)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "made-up"
        root.mkdir()
        names = [f"part_{n}.cu" for n in range(options.files)]
        (root / "setup.py").write_text(SETUP.format(sources=names), encoding="utf-8")
        # A unique text, so that the first run finds nothing in the cache.
        (root / "shared.cuh").write_text(f"{HEADER}// {time.time_ns()}\n", encoding="utf-8")
        for n, name in enumerate(names):
            (root / name).write_text(SOURCE.format(n=n), encoding="utf-8")
        scan = Repository(root, knowledge, work=Path(scratch) / "work").scan()
        targets = tuple(options.target or ["gfx942"])
        request = CompileRequest(Tree.open(root), scan.inventory.extensions, targets, knowledge)
        walls, used = [], []
        for _ in range(2):
            begun, before = time.monotonic(), processor_seconds()
            report = compile_repository(request, kit)
            walls.append(time.monotonic() - begun)
            used.append(processor_seconds() - before)
            assert all(side.outcome == "compiled" for unit in report.units for side in unit.sides.values())
    ratio, parallel_compilers = walls[1] / walls[0], sum(TimedCompiler.compile_seconds) / walls[0]
    print(f"{options.files} files, {', '.join(targets)} and host: {walls[0]:.1f} s, then {walls[1]:.1f} s")
    print(f"{parallel_compilers:.2f} compilers at once; they used {used[0] / walls[0]:.2f} of {cores()} cores")
    print(f"second run: {ratio:.3f} of the first (limit {MAX_CACHED_RATIO})")
    return 1 if ratio > MAX_CACHED_RATIO or parallel_compilers < MIN_PARALLEL_SHARE * cores() else 0


if __name__ == "__main__":
    sys.exit(main())
