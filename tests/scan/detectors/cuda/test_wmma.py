from __future__ import annotations

import pytest

RULE = "wmma"
SAMPLE = "#include <mma.h>\n"


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", SAMPLE) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_no_finding_in_code_of_one_backend(positions, guard):
    assert positions(RULE, "a.cu", f"{guard}\n{SAMPLE}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_no_finding_in_comments_and_strings(positions, text):
    assert positions(RULE, "a.cu", text.format(SAMPLE.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")


@pytest.mark.parametrize(
    "text",
    [
        '#include "mma.h"\n',
        "#include <my/mma.h>\n",
        "#include <rocwmma/rocwmma.hpp>\nrocwmma::fragment<A> a;\n",
        "namespace wmma = rocwmma;\nwmma::fragment<A> a;\n",
        "#ifdef USE_ROCM\nnamespace wmma = rocwmma;\n#else\nusing namespace nvcuda;\n#endif\nwmma::fragment<A> a;\n",
        "mine::wmma::fragment<A> a;\n",
    ],
)
def test_no_finding_for_other_matrix_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (SAMPLE, "mma.h", (1, 1)),
        ("\nusing namespace nvcuda;\n", "nvcuda", (2, 1)),
        ("namespace wmma = nvcuda::wmma;\n", "nvcuda", (1, 1)),
        ("void f() { nvcuda::wmma::mma_sync(c, a, b, c); }\n", "nvcuda::wmma::mma_sync", (1, 12)),
        ("void f() { wmma::fragment<wmma::matrix_a, 16> a; }\n", "nvcuda::wmma::fragment", (1, 12)),
    ],
)
def test_position_and_message(findings, text, name, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column) == expected
    assert finding.message == f"{name} is NVIDIA's matrix interface; HIP has no nvcuda namespace"


def test_one_finding_per_name(positions):
    text = "void f() {\n" + "  wmma::mma_sync(c, a, b, c);\n" * 2 + "  wmma::load_matrix_sync(a, p, 16);\n}\n"

    assert positions(RULE, "a.cu", text) == [(2, 3), (4, 3)]
