from __future__ import annotations

import pytest

RULE = "compute_capability"
CHECK = "bool f() {\n  cudaDeviceProp prop;\n  return prop.major >= 9;\n}\n"


@pytest.mark.parametrize(
    ("text", "expected", "what"),
    [
        (CHECK, (3, 10), "prop.major >= 9"),
        (CHECK.replace("\n", "\r\n"), (3, 10), "prop.major >= 9"),
        (CHECK.replace("  return", "/* é */ return"), (3, 16), "prop.major >= 9"),
        (CHECK.replace("prop.major >= 9", "(prop.major >= 9) && ok"), (3, 11), "prop.major >= 9"),
        (CHECK.replace("prop.major >= 9", "prop.major * 10 + prop.minor"), (3, 10), "prop.major * 10 + prop.minor"),
        (
            "bool f() { return at::cuda::getCurrentDeviceProperties()->major < 8; }\n",
            (1, 19),
            "at::cuda::getCurrentDeviceProperties()->major < 8",
        ),
        (
            "void f() { cudaDeviceGetAttribute(&v, cudaDevAttrComputeCapabilityMajor, 0); }\n",
            (1, 39),
            "cudaDevAttrComputeCapabilityMajor",
        ),
        (b"// \xff\n" + CHECK.encode(), (4, 10), "prop.major >= 9"),
    ],
)
def test_position_and_message(findings, text, expected, what):
    (finding,) = findings(RULE, "a.cpp", text)

    assert (finding.line, finding.column, finding.code) == (*expected, "CU504")
    assert finding.message.startswith(f"{what} chooses code by compute capability;")
