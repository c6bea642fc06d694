from __future__ import annotations

import pytest

RULE = "clang_strictness"
AT = "inline __device__ float f() { return a.at(1); }\n"
TEXT = "#include <cuda_runtime.h>\n__device__ float f() { return FLT_MAX; }\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("FLT_MAX", "MY_MAX"),
        *(
            f"#include <{name}>\n{TEXT}"
            for name in ("cfloat", "float.h", "torch/extension.h", "ATen/ATen.h", "glm/glm.hpp")
        ),
        TEXT.replace("#include <cuda_runtime.h>\n", ""),
        TEXT.replace("return FLT_MAX;", "return 0; // FLT_MAX"),
        TEXT.replace("FLT_MAX", '"FLT_MAX"[0]'),
        TEXT.replace("__device__", "#if 0\n__device__") + "#endif\n",
        TEXT.replace("__device__", "#ifndef USE_ROCM\n__device__") + "#endif\n",
        "#include\nFLT_MAX",
        AT.replace("__device__ ", ""),  # host code may throw
        AT.replace(".at(1)", "[1]"),
        AT.replace("a.at(1)", "at(1)"),
        AT.replace("at(1)", "at()"),
        AT.replace("at(1)", "at(1, 2)"),
        AT.replace("at(1)", "cat(1)"),
        AT.replace("at(1)", "at(number<0>{})"),
        AT.replace("return", "// a.at(1)\nreturn 0; //"),
        f"#if 0\n{AT}#endif\n",
        f"#ifndef USE_ROCM\n{AT}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 31)]),
        (TEXT.replace("FLT_MAX", "DBL_MAX"), [(2, 31)]),
        (AT, [(1, 38)]),
        (AT.replace("a.at(1)", "s.a.at(1) + s.a.at(2)"), [(1, 38)]),
        (AT.replace("inline __device__ float", "__global__ void").replace("\n", "\r\n"), [(1, 30)]),
        (TEXT.replace("FLT_MAX", "-FLT_MAX + FLT_MAX").replace("\n", "\r\n"), [(2, 32)]),
        (TEXT.replace("__device__", "\t/* ü */ __device__"), [(2, 40)]),
    ],
)
def test_positions(positions, text, expected):
    """Only the first use of a file is reported, because one include fixes all."""
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 31)]


def test_message_names_the_include(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU311", "error")
    assert finding.message == "FLT_MAX: nvcc accepts it and clang does not (include <cfloat>)"
