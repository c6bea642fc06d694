from __future__ import annotations

import pytest

RULE = "removed_torch_header"
TEXT = "#include <THC/THCAtomics.cuh>\n"


@pytest.mark.parametrize(
    "text",
    [
        "#include <ATen/cuda/Atomic.cuh>\n",
        "#include <myTHC/THC.h>\n",
        "void f() { TORCH_CHECK(x); AT_CHECKED(x); }\n",
        "#define AT_CHECK TORCH_CHECK\nvoid f() { AT_CHECK(x); }\n",
        f"// {TEXT}",
        'const char* s = "THCudaCheck";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "#include\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(1, 1)]),
        ('#include "THC/THC.h"\r\n', [(1, 1)]),
        ("#include <THC/THCGeneral.h>\n", [(1, 1)]),
        ("extern THCState *state;\n", [(1, 8)]),
        ("void f() {\n  THCudaCheck(cudaGetLastError());\n  AT_CHECK(x, y);\n}\n", [(2, 3), (3, 3)]),
        ("void f() {\n  THCudaBlas_Sgemm(state);\n}\n", [(2, 3)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.h", b"// \xff\n" + TEXT.encode()) == [(2, 1)]


def test_message_names_the_counterpart(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU208", "error")
    assert finding.message == "THC/THCAtomics.cuh was removed from torch: ATen/cuda/Atomic.cuh, with gpuAtomicAdd"
