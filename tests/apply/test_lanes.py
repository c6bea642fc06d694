from __future__ import annotations

import pytest

from rocm3d.apply.lanes import lanes_in_range, lanes_of_function
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit


def lanes(body: str, above: str = "") -> str:
    data = f"{above}__device__ void f(int t) {{\n  {body}\n}}\n".encode()
    unit = CudaUnit("", data)
    return lanes_of_function(unit, list(unit.nodes("compound_statement"))[-1])


@pytest.mark.parametrize(
    ("body", "above"),
    [
        ("int l = t % warpSize; int w = t / 32;", ""),
        ("int l = t % WARP_SIZE;", ""),
        ("int l = t % WARP_SIZE;", "#define WARP_SIZE lanes()\n"),
        ("int l = t % C10_WARP_SIZE;", ""),
        ("int l = t % warpSize; int m = t & (kWarpSize - 1);", "constexpr int kWarpSize = 32;\n"),
    ],
)
def test_ambiguous_lanes_are_refused(body, above):
    with pytest.raises(RewriteRefusedError):
        lanes(body, above)


@pytest.mark.parametrize(
    ("body", "above", "expected"),
    [
        ("f(t);", "", "group"),
        ("int l = t & 31; // warpSize", "", "group"),
        ("int l = t % WARP_SIZE;", "#define WARP_SIZE 32\n", "group"),
        ("int l = t & (kWarpSize - 1);", "constexpr int kWarpSize = 32;\n", "group"),
        ("v = __shfl_sync(m, v, 0, warpSize);", "", "group"),
        ("int l = t % warpSize;", "", "wave"),
        ("int l = t % WARP_SIZE;", "#define WARP_SIZE warpSize\n", "wave"),
        ("int l = t % WARP_SIZE;", "#if X\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif\n", "wave"),
        ("f(t);", "__device__ int g(int t) { return t % warpSize; }\n", "group"),
    ],
)
def test_lanes_of_a_function(body, above, expected):
    assert lanes(body, above) == expected


def test_lanes_in_a_range():
    unit = CudaUnit("", b"#define LANE (threadIdx.x & 31)\n")

    assert lanes_in_range(unit, 0, 30) == "group"
