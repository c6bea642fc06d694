from __future__ import annotations

import pytest

RULE = "hipify_unreached"
DEVICE = "\n__device__ int lane() { return threadIdx.x; }\n"
CALL = "inline void f() {\n  cudaFree(p);\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("src/a.inl", CALL, [(2, 3)]),
        ("src/a.hh", CALL.replace("\n", "\r\n"), [(2, 3)]),
        ("src/a.inl", "/* é */ auto s = at::cuda::getCurrentCUDAStream();\n", [(1, 18)]),
        ("src/a.inl", "#include <cub/cub.cuh>\n", [(1, 1)]),
        ("src/cudaraster/a.inl", DEVICE, [(2, 1)]),
        ("src/cuda/a.inl", DEVICE + CALL, [(4, 3)]),
        ("src/a.inl", CALL + CALL, [(2, 3)]),
        ("src/a.inl", b"// \xff\n" + CALL.encode(), [(3, 3)]),
    ],
)
def test_position_is_the_first_translated_name(positions, path, text, expected):
    assert positions(RULE, path, text) == expected
