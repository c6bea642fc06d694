from __future__ import annotations

import pytest

from rocm3d.apply.lanes import first_host_read
from rocm3d.syntax.cuda import CudaUnit


def line(text: str) -> int | None:
    return first_host_read(CudaUnit("", text.encode()), "W")


@pytest.mark.parametrize(
    "text",
    [
        "#define W 32\n",
        "constexpr int W = 32;\n// W\n",
        "#ifndef W\n#define W 32\n#endif\n#undef W\n",
        "#define W 32\n__device__ int f(int t) { return t / W; }\n",
        "#define W 32\ntemplate <int N>\n__global__ void k(int* x) { __shared__ int s[W]; x[0] = s[W - 1]; }\n",
    ],
)
def test_device_code_and_definitions_are_not_host_reads(text):
    assert line(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define W 32\nint f(int t) { return t / W; }\n", 2),
        ("#define W 32\n__host__ __device__ int f(int t) { return t / W; }\n", 2),
        ("#define W 32\n__global__ void __launch_bounds__(W) k() {}\n", 2),
        ("constexpr int W = 32;\nconstexpr int V = W / 2;\n", 2),
        ("#define W 32\n#if W == 32\n#endif\n", 2),
        ("bool f() { return W == 32; }\n", 1),
    ],
)
def test_other_reads_are_host_reads(text, expected):
    assert line(text) == expected
