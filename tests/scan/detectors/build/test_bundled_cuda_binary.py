from __future__ import annotations

import pytest

RULE = "bundled_cuda_binary"


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "wheels/foo-1.0-py3-none-any.whl",
        "wheels/torch-2.8.0+rocm6.4-cp310-cp310-linux_x86_64.whl",
        "wheels/foo-1.0-cp310-cp310-win_amd64.whl",
        "lib/foo.a",
        "bin/foo.dll",
        "docs/cubin",
        "a.so.txt",
    ],
)
def test_no_finding_in_unaffected_code(positions, path):
    assert positions(RULE, path, "x") == []


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("third_party/diso-0.1.4+cu121-cp310-cp310-linux_x86_64.whl", "error"),
        ("w/torch_scatter-2.1.2+pt21cu121-cp310-cp310-linux_x86_64.whl", "error"),
        ("w/spconv_cu120-2.3.6-cp310-cp310-manylinux2014_x86_64.whl", "error"),
        ("w/custom_rasterizer-0.1-cp310-cp310-linux_x86_64.whl", "warning"),
        ("k.cubin", "error"),
        ("k.fatbin", "error"),
        ("K.PTX", "error"),
        ("m.engine", "error"),
        ("libcudart.so", "error"),
        ("lib/libcudart.so.11.0", "error"),
        ("lib/libcudnn.so.8", "error"),
        ("pkg/_C.cpython-310-x86_64-linux-gnu.so", "note"),
    ],
)
def test_severity(findings, path, severity):
    (finding,) = findings(RULE, path, "x")

    assert (finding.path, finding.line, finding.column, finding.severity) == (path, 1, 1, severity)


def test_binary_content_is_not_parsed(findings):
    (finding,) = findings(RULE, "k.cubin", b"\x00\xff\xfe")

    assert finding.code == "BLD302"
    assert finding.message == "k.cubin is a CUDA binary: machine code for NVIDIA GPUs"
