from __future__ import annotations

import pytest

from rocm3d.apply.host_reads import read_on_host
from rocm3d.syntax.cuda import CudaUnit


def line(text: str) -> int | None:
    return read_on_host(CudaUnit("", text.encode()), "W")


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
def test_device_code_and_its_own_definition(text):
    assert line(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("#define W 32\nint f(int t) { return t / W; }\n", 2),
        ("#define W 32\n__host__ __device__ int f(int t) { return t / W; }\n", 2),
        ("#define W 32\n__global__ void __launch_bounds__(W) k() {}\n", 2),
        ("constexpr int W = 32;\nconstexpr int V = W / 2;\n", 2),
        ("#define W 32\n#if W == 32\n#endif\n", 2),
        ("bool f() { return W == 32; }\n", 1),
    ],
)
def test_anything_else_is_the_hosts(text, wanted):
    assert line(text) == wanted
