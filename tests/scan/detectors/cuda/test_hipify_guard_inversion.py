from __future__ import annotations

import pytest

RULE = "hipify_guard_inversion"
CHAIN = "#ifdef USE_CUDA\nint a;\n#elif defined(USE_ROCM)\nint b;\n#endif\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHAIN, [(1, 1)]),
        ("int x;\r\n" + CHAIN.replace("\n", "\r\n"), [(2, 1)]),
        (CHAIN.replace("USE_CUDA", "__CUDACC__").replace("USE_ROCM", "__HIPCC__"), [(1, 1)]),
        ("int x;\n#if !defined(USE_CUDA) && defined(USE_ROCM)\nint a;\n#endif\n", [(2, 1)]),
        ("#ifndef X_H\n" + CHAIN + "#endif\n", [(2, 1)]),
        (b"// \xff\n" + CHAIN.encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
