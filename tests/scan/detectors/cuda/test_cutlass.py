from __future__ import annotations

import pytest

RULE = "cutlass"
SAMPLE = "#include <cutlass/gemm/device/gemm.h>\n"


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
        "#include <cutlass_like/gemm.h>\n",
        '#include "my/cutlass/gemm.h"\n',
        "namespace mine { struct cute {}; }\nmine::cute c;\n",
        "int executed = 1; int wgmmas = 2;\n",
        'asm("mov.u32 %0, %%laneid;" : "=r"(r));\n',
    ],
)
def test_no_finding_for_similar_names(positions, text):
    assert positions(RULE, "a.cu", text) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (SAMPLE, "cutlass/gemm/device/gemm.h", (1, 1)),
        ('\n#include "cute/tensor.hpp"\n', "cute/tensor.hpp", (2, 1)),
        ("using Gemm = cutlass::gemm::device::Gemm<float>;\n", "cutlass::gemm::device::Gemm", (1, 14)),
        ("using namespace cute;\n", "cute", (1, 1)),
        ("CUtensorMap map;\n", "CUtensorMap", (1, 1)),
        ('__device__ void f() { asm("mma.sync.aligned.m16n8k8 {%0}, {%1};" :: "r"(a)); }\n', "mma.sync", (1, 23)),
    ],
)
def test_position_and_message(findings, text, name, expected):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.line, finding.column) == expected
    assert finding.message == f"{name} comes from CUTLASS or CuTe, which support NVIDIA GPUs only"


def test_one_finding_per_library_and_file(positions):
    text = SAMPLE + "#include <cutlass/array.h>\nusing Gemm = cutlass::gemm::Gemm<float>;\n"

    assert positions(RULE, "a.cu", text) == [(1, 1)]
