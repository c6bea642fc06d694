from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.toolchain.code_object import CodeObjectError, read_code_object

SOURCE = """#include <hip/hip_runtime.h>
extern "C" __global__ void doubled(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2.0f * x[i];
}
extern "C" __global__ void shared_sum(const float* x, float* out) {
  __shared__ float part[256];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + b"\0" * 60, b"PK\x03\x04", b"x" * 4096])
def test_other_bytes_are_refused(data):
    with pytest.raises(CodeObjectError):
        read_code_object(data)


def test_a_program_of_this_machine_is_refused():
    with pytest.raises(CodeObjectError, match="machine is EM_"):
        read_code_object(Path(sys.executable).resolve().read_bytes())


@given(st.binary(max_size=300))
def test_any_bytes_raise_the_right_error(data):
    with pytest.raises(CodeObjectError):
        read_code_object(b"\x7fELF\x02\x01\x01\x40" + data)


@pytest.fixture(scope="module")
def code_objects(toolchain, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    source = folder / "k.hip"
    source.write_text(SOURCE)
    objects = {}
    for gfx in ("gfx942", "gfx1100"):
        ended = toolchain.compile_device(source, gfx, folder / f"{gfx}.hsaco", ["-O2"])
        assert ended.output is not None, ended.messages
        objects[gfx] = ended.output.read_bytes()
    return objects


@pytest.mark.parametrize(("gfx", "wave"), [("gfx942", 64), ("gfx1100", 32)])
def test_target_wave_size_and_kernels_are_read(code_objects, knowledge, gfx, wave):
    code = read_code_object(code_objects[gfx])

    assert code.gfx == gfx
    assert [kernel.name for kernel in code.kernels] == ["doubled", "shared_sum"]
    assert {kernel.wave_size for kernel in code.kernels} == {wave} == {knowledge.targets[gfx].wave_size}
    doubled, shared = code.kernels
    assert (doubled.lds_bytes, shared.lds_bytes) == (0, 1024)
    assert all(not kernel.empty and kernel.vgprs > 0 and kernel.spills == 0 for kernel in code.kernels)


def test_every_truncation_is_refused_or_read(code_objects):
    data = code_objects["gfx942"]
    for length in range(0, len(data), 97):
        try:
            read_code_object(data[:length])
        except CodeObjectError:
            continue
        pytest.fail(f"the first {length} of {len(data)} bytes pass for a code object")


@given(st.data())
def test_flipped_bytes_raise_only_the_right_error(code_objects, data):
    broken = bytearray(code_objects["gfx942"])
    for _ in range(8):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CodeObjectError):
        assert len(read_code_object(bytes(broken)).kernels) <= 2
