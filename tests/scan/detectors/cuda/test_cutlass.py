from __future__ import annotations

import pytest

RULE = "cutlass"
FOUND = "#include <cutlass/gemm/device/gemm.h>\n"


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
        "#include <cutlass_like/gemm.h>\n",
        '#include "my/cutlass/gemm.h"\n',
        "namespace mine { struct cute {}; }\nmine::cute c;\n",
        "int executed = 1; int wgmmas = 2;\n",
        'asm("mov.u32 %0, %%laneid;" : "=r"(r));\n',
    ],
)
def test_look_alikes_are_not_found(places, text):
    assert places(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        (FOUND, "cutlass/gemm/device/gemm.h", (1, 1)),
        ('\n#include "cute/tensor.hpp"\n', "cute/tensor.hpp", (2, 1)),
        ("using Gemm = cutlass::gemm::device::Gemm<float>;\n", "cutlass::gemm::device::Gemm", (1, 14)),
        ("using namespace cute;\n", "cute", (1, 1)),
        ("CUtensorMap map;\n", "CUtensorMap", (1, 1)),
        ('__device__ void f() { asm("mma.sync.aligned.m16n8k8 {%0}, {%1};" :: "r"(a)); }\n', "mma.sync", (1, 23)),
    ],
)
def test_found(findings, text, name, where):
    (found,) = findings(RULE, "a.cu", text)

    assert (found.line, found.column) == where
    assert found.message == f"{name} comes from CUTLASS or CuTe, which support NVIDIA GPUs only"


def test_a_library_is_reported_once_in_a_file(places):
    text = FOUND + "#include <cutlass/array.h>\nusing Gemm = cutlass::gemm::Gemm<float>;\n"

    assert places(RULE, "a.cu", text) == [(1, 1)]
