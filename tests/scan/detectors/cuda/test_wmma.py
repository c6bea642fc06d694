from __future__ import annotations

import pytest

RULE = "wmma"
FOUND = "#include <mma.h>\n"


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", FOUND) == []


@pytest.mark.parametrize(
    "guard", ["#if 0", "#ifdef USE_ROCM", "#if !defined(__HIP_PLATFORM_AMD__)", "#ifndef USE_ROCM"]
)
def test_is_not_found_where_one_backend_compiles(places, guard):
    assert places(RULE, "a.cu", f"{guard}\n{FOUND}#endif\n") == []


@pytest.mark.parametrize("text", ["// {}", "/* {} */", 'const char* s = R"({})";'])
def test_is_not_found_in_comments_and_strings(places, text):
    assert places(RULE, "a.cu", text.format(FOUND.replace("\n", " ").replace("/*", ""))) == []


def test_broken_code_and_odd_bytes_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\xfe\n" + FOUND.encode() + b"}}} (((\n")


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
def test_other_matrix_code_is_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        (FOUND, "mma.h", (1, 1)),
        ("\nusing namespace nvcuda;\n", "nvcuda", (2, 1)),
        ("namespace wmma = nvcuda::wmma;\n", "nvcuda", (1, 1)),
        ("void f() { nvcuda::wmma::mma_sync(c, a, b, c); }\n", "nvcuda::wmma::mma_sync", (1, 12)),
        ("void f() { wmma::fragment<wmma::matrix_a, 16> a; }\n", "nvcuda::wmma::fragment", (1, 12)),
    ],
)
def test_found(findings, text, name, where):
    (found,) = findings(RULE, "a.cu", text)

    assert (found.line, found.column) == where
    assert found.message == f"{name} is NVIDIA's matrix interface; HIP has no nvcuda namespace"


def test_each_name_is_reported_once(places):
    text = "void f() {\n" + "  wmma::mma_sync(c, a, b, c);\n" * 2 + "  wmma::load_matrix_sync(a, p, 16);\n}\n"

    assert places(RULE, "a.cu", text) == [(2, 3), (4, 3)]
