from __future__ import annotations

import pytest

RULE = "uncast_func_attribute"
TEXT = "void f() {\n  cudaFuncSetAttribute(kernel<3>, cudaFuncAttributeMaxDynamicSharedMemorySize, n);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("kernel<3>", "(const void*)kernel<3>"),
        TEXT.replace("kernel<3>", "(void*)&kernel"),
        TEXT.replace("kernel<3>", "reinterpret_cast<const void*>(kernel<3>)"),
        TEXT.replace("cudaFuncSetAttribute", "cudaFuncGetAttributes"),
        TEXT.replace("cudaFuncSetAttribute", "my::cudaFuncSetAttribute"),
        "void f(const void* func) {\n  cudaFuncSetAttribute(func, attribute, n);\n}\n",
        "void f() {\n  const void* func = (const void*)k;\n  cudaFuncSetAttribute(func, attribute, n);\n}\n",
        "// cudaFuncSetAttribute(kernel, a, n);\n",
        'const char* s = "cudaFuncSetAttribute(kernel, a, n)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "void f() { cudaFuncSetAttribute(); cudaFuncSetAttribute(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 24)]),
        (TEXT.replace("kernel<3>", "kernel"), [(2, 24)]),
        (TEXT.replace("kernel<3>", "&kernel"), [(2, 24)]),
        (TEXT.replace("kernel<3>", "/* it */ ns::kernel<float, A>"), [(2, 33)]),
        (TEXT.replace("  cuda", "  if (cuda").replace("n);", "n) != cudaSuccess) g();"), [(2, 28)]),
        (TEXT.replace("(kernel<3>", "(\r\n      kernel<3>"), [(3, 7)]),
    ],
)
def test_positions(positions, text, expected):
    """The position is that of the kernel argument, not of the call."""
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 24)]


def test_message_names_the_kernel(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU303", "error")
    assert finding.message.startswith("cudaFuncSetAttribute gets the kernel kernel<3> itself;")
    assert finding.hint.startswith("cast it: (const void*)kernel<3>;")
