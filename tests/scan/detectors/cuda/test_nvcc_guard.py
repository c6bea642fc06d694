from __future__ import annotations

import pytest

RULE = "nvcc_guard"


def guard(condition: str, body: str = "int a;\n") -> str:
    return f"{condition}\n{body}#endif\n"


@pytest.mark.parametrize(
    "text",
    [
        guard("#ifdef __CUDACC__"),  # hipify rewrites it here
        guard("#if defined(__CUDACC__) || defined(__NVCC__)"),
        guard("#if defined(__NVCC__) || defined(__HIPCC__)"),
        guard("#ifdef __NVCC__", "int a;\n#elif defined(__HIPCC__)\nint b;\n"),
        guard("#ifdef __NVCC__", "#pragma nv_diag_suppress 20012\n# pragma warning(push)\n"),
        guard("#ifdef MY__NVCC__"),
        "// #ifdef __NVCC__\n",
        "/*\n#ifdef __NVCC__\n#endif\n*/\n",
        'const char* s = "\\\n#ifdef __NVCC__";\n',
        f"#if 0\n{guard('#ifdef __NVCC__')}#endif\n",
        f"#ifndef USE_ROCM\n{guard('#ifdef __NVCC__')}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.h", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", guard("#ifdef __NVCC__")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (guard("#ifdef __NVCC__"), [(1, 1)]),
        (guard("#ifndef __NVCC__", "#define __device__\n"), [(1, 1)]),
        (guard("#if defined(__NVCC__) && defined(__CUDACC__)"), [(1, 1)]),
        (guard("#if __CUDACC_VER_MAJOR__ >= 11"), [(1, 1)]),
        (guard("#if A", "int a;\n#elif defined(__NVCC__)\nint b;\n"), [(3, 1)]),
        (guard("#ifdef __NVCC__", "#pragma once\nint a;\n"), [(1, 1)]),
        (guard("\r\n  #ifdef __NVCC__"), [(2, 3)]),
        (b"// \xff\n" + guard("#ifdef __NVCC__").encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.h", text) == expected


def test_translated_name_in_a_file_that_hipify_ignores(positions):
    assert positions(RULE, "a.inl", guard("#ifdef __CUDACC__")) == [(1, 1)]


def test_message_shows_the_condition(findings):
    (finding,) = findings(RULE, "a.h", guard("#ifdef __NVCC__"))

    assert finding.code == "CU502"
    assert finding.message.startswith("defined(__NVCC__) tests for nvcc;")
