from __future__ import annotations

RULE = "cuda_graph"
SAMPLE = "void f() { cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }\n"


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")
