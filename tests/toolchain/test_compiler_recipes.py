"""Recipe examples compile to machine code for wave sizes 64 and 32, after torch's hipify."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from rocm3d.apply import guarded_lines
from rocm3d.knowledge.load import load
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.toolchain import prepared
from rocm3d.toolchain.hipify import Hipify

KNOWLEDGE = load()
RECIPES = sorted(
    recipe.id
    for recipe in KNOWLEDGE.recipes.values()
    if recipe.status == "active" and PurePosixPath(KNOWLEDGE.examples[recipe.id].name).suffix in CUDA_SUFFIXES
)
DECLARED = Path(prepared.__file__).parent / "headers" / "declared"


@pytest.fixture(scope="module")
def root(toolchain):
    return Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])


@pytest.fixture(scope="module")
def sources(root, tmp_path_factory):
    project = tmp_path_factory.mktemp("recipes") / "project"
    project.mkdir()
    paths = {name: project / f"{name}.cu" for name in RECIPES}
    for name, path in paths.items():
        path.write_bytes(KNOWLEDGE.examples[name].after)
    hipified = Hipify(root / "torch").translate_sources(project, list(paths.values()))
    return {name: hipified.files[path] for name, path in paths.items()}


@pytest.mark.full
@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", RECIPES)
def test_the_edited_example_compiles(name, gfx, sources, toolchain, root, tmp_path):
    headers = [DECLARED, root / "torch" / "hip_include", root / "torch" / "include"]
    search = [word for folder in headers for word in ("-isystem", str(folder))]
    flags = ["-std=c++17", "-O1", "-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1", "-include", "hip/hip_runtime.h", *search]

    compiler_run = toolchain.compile_device(sources[name], gfx, tmp_path / "made.o", flags)

    assert compiler_run.output is not None, compiler_run.messages[-4000:]


EVERY_TEXT = """
namespace cg = cooperative_groups;
template <typename T>
__device__ double lanes_of(T v, int i) {
  T moved = rocm3d_shfl(~0u, v, 3) + rocm3d_shfl_up(~0u, v, 1u) + rocm3d_shfl_down(~0u, v, 2u, 16);
  moved += rocm3d_shfl_xor(rocm3d_activemask(), v, 1) + T(rocm3d_any(~0u, i)) + T(rocm3d_all(~0u, i));
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  auto group = rocm3d_labeled_partition(tile, v);
  moved += rocm3d_reduce(tile, v, rocm3d_plus()) + rocm3d_reduce(tile, v, rocm3d_less());
  moved += rocm3d_reduce(tile, v, rocm3d_greater()) + T(group.size() + group.num_threads() + group.thread_rank());
  return double(moved) + rocm3d_match_any(~0u, v) + __popcll(rocm3d_wave_peers(v));
}
__global__ void every(double* out, int i) {
  unsigned bits = rocm3d_ballot(~0u, i) + rocm3d_bfe_u32(i, 1, 2) + rocm3d_bfe_s32(i, 3, 4) + rocm3d_prmt(i, 5, 6);
  bits += rocm3d_reduce(cg::tiled_partition<32>(cg::this_thread_block()), bits, rocm3d_bit_and());
  bits ^= rocm3d_bit_or()(bits, 1u) + rocm3d_bit_xor()(bits, 2u);
  out[i] = bits + lanes_of(i, i) + lanes_of(float(i), i) + lanes_of(double(i), i) + lanes_of((long long)i, i);
}
"""


@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
def test_every_device_text_compiles(gfx, toolchain, tmp_path):
    names = sorted(path.stem for path in Path(guarded_lines.__file__).with_name("device").glob("*.h"))
    head = "#include <hip/hip_runtime.h>\n#include <hip/hip_cooperative_groups.h>\n"
    called = [name for name in names if name != "syncwarp"]
    (tmp_path / "every.hip").write_text(f"{head}{guarded_lines.helper_sources(called)}{EVERY_TEXT}")

    compiler_run = toolchain.compile_device(tmp_path / "every.hip", gfx, tmp_path / "every.o", ["-std=c++17", "-O1"])

    assert compiler_run.output is not None, compiler_run.messages[-4000:]
    assert all(f"rocm3d_{name}(" in EVERY_TEXT for name in called)
