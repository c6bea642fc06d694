from __future__ import annotations

import pytest

RULE = "cuda_version_check"
VERSION = "#ifdef WITH_CUDA\n#include <cuda.h>\n#endif\nint version() {\n  return CUDA_VERSION;\n}\n"


def guard(condition: str, other_branches: str = "") -> str:
    return f"{condition}\nint a;\n{other_branches}#endif\n"


@pytest.mark.parametrize(
    "text",
    [
        guard("#if defined(USE_ROCM) || CUDA_VERSION >= 11000"),
        guard("#ifdef USE_ROCM", "#elif CUDART_VERSION >= 11000\nint b;\n"),
        guard("#if CUDART_VERSION >= 11000", "#elif defined(__HIPCC__)\nint b;\n"),
        guard("#ifdef CUDA_VERSION"),
        guard("#if MY_CUDA_VERSION >= 2"),
        guard("#if TORCH_VERSION_MAJOR >= 2"),
        guard("#if defined(CUDART_VERSION) && CUDART_VERSION < 9000"),
        guard("#if __CUDA_ARCH__ >= 600 && CUDA_VERSION >= 10000"),  # told by cuda_arch_guard
        "#include <cuda.h>\n",
        "// return CUDA_VERSION;\n",
        "/* CUDA_VERSION */\n",
        'const char* s = "CUDA_VERSION";\n',
        f"#if 0\n{VERSION}#endif\n",
        f"#ifndef USE_ROCM\n{VERSION}#endif\n",
        "#ifdef USE_ROCM\nint v = HIP_VERSION;\n#else\nint v = CUDA_VERSION;\n#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cpp", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", VERSION) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (guard("#if CUDART_VERSION >= 11000"), [(1, 1)]),
        (guard("#if CUDA_VERSION < 9000"), [(1, 1)]),
        (guard("#if defined(CUB_VERSION) && CUB_VERSION >= 200000"), [(1, 1)]),
        (guard("#ifdef CUDART_VERSION"), [(1, 1)]),
        (guard("#if A", "#elif CUDA_VERSION > 11000\nint b;\n"), [(3, 1)]),
        ("int x;\r\n" + guard("#if CUDA_VERSION >= 11000\r"), [(2, 1)]),
        (VERSION, [(2, 1), (5, 10)]),
        ("/* é */ int v = CUDART_VERSION;\n", [(1, 17)]),
        (b"// \xff\nint v = CUDA_VERSION;\n", [(2, 9)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cpp", text) == expected


def test_header_with_other_api_calls_is_not_reported(positions):
    assert positions(RULE, "a.cpp", VERSION + "void f() { cudaFree(0); }\n") == [(5, 10)]


def test_message_shows_the_condition_or_the_name(findings):
    (check,) = findings(RULE, "a.cpp", guard("#if CUDART_VERSION >= 11000"))
    header, use = findings(RULE, "a.cpp", VERSION)

    assert check.code == "CU503"
    assert check.message.startswith("CUDART_VERSION >= 11000 depends on a CUDA version number;")
    assert header.message.startswith("#include <cuda.h> depends on")
    assert use.message.startswith("CUDA_VERSION depends on")
