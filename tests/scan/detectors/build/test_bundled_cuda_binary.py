from __future__ import annotations

RULE = "bundled_cuda_binary"


def test_binary_content_is_not_parsed(findings):
    (finding,) = findings(RULE, "k.cubin", b"\x00\xff\xfe")

    assert finding.code == "BLD302"
    assert finding.message == "k.cubin is a CUDA binary: machine code for NVIDIA GPUs"
