from __future__ import annotations

import pytest

RULE = "hard_wave64"
DEFINE = "#define WARP_SIZE 64\n"


@pytest.mark.parametrize(
    ("text", "expected", "what"),
    [
        (DEFINE, (1, 1), "WARP_SIZE = 64"),
        ("#define WARP_SIZE (64)  // CDNA\n", (1, 1), "WARP_SIZE = 64"),
        (f"#ifdef USE_ROCM\r\n{DEFINE}#else\r\n#define WARP_SIZE 32\r\n#endif\r\n", (2, 1), "WARP_SIZE = 64"),
        ("constexpr int kWarpSize = 64;\n", (1, 15), "kWarpSize = 64"),
        ("/* é */ const int wavefront_size = 64u;\n", (1, 19), "wavefront_size = 64"),
        ("template <int LOGICAL_WARP_SIZE = 64> void f();\n", (1, 11), "LOGICAL_WARP_SIZE = 64"),
        ("int f(int v) { return __shfl_xor(v, 32, 64); }\n", (1, 23), "__shfl_xor of width 64"),
        ("int f(int v) { return __shfl_down_sync(m, v, 32, 64); }\n", (1, 23), "__shfl_down_sync of width 64"),
        (b"// \xff\n" + DEFINE.encode(), (2, 1), "WARP_SIZE = 64"),
    ],
)
def test_position_and_message(findings, text, expected, what):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column) == expected
    assert finding.message == f"{what} assumes 64 lanes for every wave on ROCm"
    assert finding.code == "CU105"
