from __future__ import annotations

RULE = "dynamic_parallelism"
SAMPLE = "__global__ void parent(int n) { child<<<n, 64>>>(n); }\n"


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")
