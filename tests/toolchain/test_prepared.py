from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Program
from waiting import wait_for_line

from rocm3d.model.errors import MachineError
from rocm3d.toolchain import prepared
from rocm3d.toolchain.code_object import read_code_object

KERNEL = """#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_complex.h>
#include <vector>
#include <cmath>
extern "C" __global__ void half_sum(const __half* x, float* out, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __half2float(x[i]);
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (threadIdx.x == 0) out[blockIdx.x] = sqrtf(sum);
}
void launch(const __half* x, float* out, int n) { half_sum<<<1, 64>>>(x, out, n); }
"""


def test_without_the_extra_the_install_command_is_named(recipe):
    other_recipe = recipe.model_copy(update={"compiler_module": "nobody_has_this"})

    assert "pip install 'rocm3d[compile]'" in prepared.find(other_recipe).lacks
    with pytest.raises(MachineError, match="nobody_has_this not installed"):
        prepared.prepare(other_recipe, print)


def test_before_it_is_prepared_the_download_size_is_named(recipe):
    toolchain_state = prepared.find(recipe)

    assert "rocm3d toolchain prepare" in toolchain_state.lacks
    assert f"{prepared.download_megabytes(recipe)} MB" in toolchain_state.lacks


def test_a_patch_that_does_not_apply_is_an_error(recipe, monkeypatch):
    patch = recipe.patches[0].model_copy(update={"old": "nobody wrote this"})
    monkeypatch.setattr(prepared, "fetch", lambda part, folder: folder / part.distribution)

    def unpack(wheel, takes, root):
        for item in recipe.patches:
            (root / item.path).parent.mkdir(parents=True, exist_ok=True)
            (root / item.path).write_text("text")

    monkeypatch.setattr(prepared, "unpack", unpack)
    monkeypatch.setattr(Path, "unlink", lambda self: None)

    with pytest.raises(MachineError, match="cannot patch"):
        prepared.prepare(recipe.model_copy(update={"patches": (patch,)}), lambda _: None)
    assert not prepared.toolchain_folder(recipe).exists()


def test_an_unreadable_stamp_is_an_error(recipe):
    folder = prepared.toolchain_folder(recipe)
    folder.mkdir(parents=True)
    (folder / prepared.STAMP).write_text("{")

    with pytest.raises(MachineError, match="cannot read"):
        prepared.find(recipe)


def test_another_recipe_is_another_folder(recipe):
    other = recipe.model_copy(update={"hip": "9.9.9"})

    assert prepared.toolchain_folder(recipe) != prepared.toolchain_folder(other)


def test_a_kernel_compiles_for_every_target(toolchain, recipe, knowledge, tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(KERNEL)
    assert {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"} <= set(toolchain.about.targets)

    for gfx in recipe.targets:
        ended = toolchain.compile_device(source, gfx, tmp_path / f"{gfx}.hsaco", ["-O2"])
        assert ended.output is not None, ended.messages
        code = read_code_object(ended.output.read_bytes())
        assert code.gfx == gfx
        (kernel,) = code.kernels
        assert (kernel.name, kernel.wave_size) == ("half_sum", knowledge.targets[gfx].wave_size)


def test_the_host_side_compiles(toolchain, tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(KERNEL)

    ended = toolchain.compile_host(source, tmp_path / "k.o")

    assert ended.output is not None, ended.messages
    assert ended.output.read_bytes().startswith(b"\x7fELF")


def test_standard_headers_of_the_wheel_are_used_if_the_machine_has_none(toolchain, recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(prepared, "_machine_has_headers", lambda zig, resource: False)
    root = Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])
    bare = prepared.compiler(recipe, root, toolchain.about)
    assert "-nostdinc++" in bare.command
    source = tmp_path / "k.hip"
    source.write_text(KERNEL)

    ended = bare.compile_device(source, "gfx942", tmp_path / "k.hsaco", ["-O2"])

    assert ended.output is not None, ended.messages
    assert read_code_object(ended.output.read_bytes()).gfx == "gfx942"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('asm("mov.u32 %0, %laneid;" : "=r"(n));', "error"),
        ("n = __shfl_sync(0xffffffff, n, 0);", "64-bit"),
        ("n = nobody(n);", "undeclared identifier"),
    ],
)
def test_unsupported_code_is_an_error(toolchain, tmp_path, text, message):
    source = tmp_path / "k.hip"
    source.write_text(f"#include <hip/hip_runtime.h>\n__global__ void k(int* x) {{ int n = x[0]; {text} x[0] = n; }}\n")

    ended = toolchain.compile_device(source, "gfx942", tmp_path / "k.hsaco")

    assert ended.output is None
    assert message in ended.messages


def test_a_killed_preparation_leaves_no_stamp_and_the_next_one_cleans_up(recipe, tmp_path):
    """Killed during the download: no stamp and no child are left, and the next run removes the incomplete folder."""
    cache = tmp_path / "cache"
    program = (
        "import time\n"
        "from rocm3d.knowledge.load import load\n"
        "from rocm3d.toolchain import prepared\n"
        "from rocm3d.toolchain.finder import newest_recipe\n"
        "def fetch(part, folder):\n"
        "    folder.mkdir(parents=True); (folder / 'half').write_text('x')\n"
        "    print('fetching', flush=True); time.sleep(3600)\n"
        "prepared.fetch = fetch\n"
        "prepared.prepare(newest_recipe(load().toolchains), lambda _: None)\n"
    )
    env = {**os.environ, "ROCM3D_CACHE": str(cache)}
    with Program([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True) as child:
        wait_for_line(child, "fetching")
        child.kill()
    folder = cache / "toolchain"
    assert list(folder.glob("*.making-*"))
    assert not list(folder.rglob(prepared.STAMP))

    again = subprocess.run(
        [sys.executable, "-c", program.replace("time.sleep(3600)", "raise prepared.MachineError('stop')")],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "stop" in again.stderr
    assert not list(folder.glob("*.making-*"))
