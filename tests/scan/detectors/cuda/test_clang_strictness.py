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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
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
def test_place(places, text, where):
    """Only the first use of a file is reported, because one include fixes all."""
    assert places(RULE, "a.cu", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 31)]


def test_message_names_the_include(findings):
    (found,) = findings(RULE, "a.cu", TEXT)

    assert (found.code, found.severity) == ("CU311", "error")
    assert found.message == "FLT_MAX: nvcc accepts it and clang does not (include <cfloat>)"
