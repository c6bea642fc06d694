from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.guarded_lines import guard_lines
from rocm3d.apply.rewrites.drop_lane_mask import _overloads
from rocm3d.syntax.cuda import CudaUnit

CALLS = ("__shfl_sync", "__shfl_down_sync")
TYPES = ("at::Half", "c10::BFloat16")
DOWN = "__device__ inline at::Half __shfl_down_sync(unsigned m, at::Half v, unsigned d) {"


def add_overloads(data: bytes, _: object) -> bytes:
    return guard_lines(data, _overloads(CudaUnit("", data), CALLS, TYPES), {})


def edited(text: str) -> str:
    return proven_edit(add_overloads, text.encode(), {}, "x.cuh").decode()


@pytest.mark.parametrize(
    "text",
    [
        f"{DOWN}\n  v = v + v;\n  return __shfl_down_sync(m, v, d);\n}}\n",
        f"{DOWN}\n  return __shfl_down_sync(0xffffffff, v, d);\n}}\n",
        f"{DOWN}\n  return __shfl_down_sync(m, v, d + 1);\n}}\n",
        f"{DOWN}\n  return __shfl_sync(m, v, d);\n}}\n",
        f"{DOWN}\n  return v;\n}}\n",
        f"{DOWN}\n}}\n",
        "float __shfl_down_sync(unsigned m, Own v, unsigned d) {\n  return __shfl_down_sync(m, v.x, d);\n}\n",
        "at::Half other_sync(unsigned m, at::Half v, unsigned d) {\n  return other_sync(m, v, d);\n}\n",
        "at::Half __shfl_down_sync(at::Half v) {\n  return __shfl_down_sync(v);\n}\n",
        "at::Half __shfl_down_sync(unsigned, at::Half v, unsigned d) {\n  return __shfl_down_sync(1, v, d);\n}\n",
        f"at::Half __shfl_down(at::Half v, int d);\n{DOWN}\n  return __shfl_down_sync(m, v, d);\n}}\n",
        f"#ifdef USE_ROCM\n{DOWN}\n  return __shfl_down_sync(m, v, d);\n}}\n#endif\n",
        f"// {DOWN}\n",
    ],
)
def test_other_functions_stay_unchanged(text):
    assert edited(text) == text


def test_the_bits_are_shuffled():
    after = edited(f"{DOWN}\n  return __shfl_down_sync(m, v.operator __half(), d);\n}}\n")

    assert "__device__ inline at::Half __shfl_down(at::Half v, unsigned d, const int width = warpSize) {" in after
    assert "at::Half(static_cast<unsigned short>(__shfl_down(static_cast<int>(v.x), d, width))" in after


def test_own_width_is_preserved():
    after = edited(
        "__device__ c10::BFloat16\n__shfl_sync(const unsigned m, const c10::BFloat16 v, int s, int w = 16) {\n"
        "  // as they are\n  return __shfl_sync(m, v, s, w);\n}\n"
    )

    assert "__device__ c10::BFloat16 __shfl(const c10::BFloat16 v, int s, int w = 16) {" in after
    assert "__shfl(static_cast<int>(v.x), s, w)" in after
