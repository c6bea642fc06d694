from __future__ import annotations

import pytest

RULE = "thrust_cuda"
TEXT = "void f() {\n  thrust::sort(thrust::cuda::par.on(stream), a, b);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("thrust::cuda::par.on(stream)", "thrust::device"),
        TEXT.replace("thrust::cuda::par", "thrust::hip::par"),
        TEXT.replace("thrust::cuda::par", "other::cuda::par"),
        "#include <thrust/sort.h>\n#include <thrust/system/omp/execution_policy.h>\n",
        "// thrust::cuda::par\n",
        'const char* s = "thrust::cuda::par";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#if !defined(USE_ROCM)\n{TEXT}#endif\n",
        f"#ifdef __HIP_PLATFORM_AMD__\n#else\n{TEXT}#endif\n",
        "thrust::",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 16)]),
        (TEXT.replace("par.on", "par_nosync.on"), [(2, 16)]),
        (TEXT.replace("thrust::cuda::par", "::thrust::cuda::par"), [(2, 16)]),
        (TEXT.replace("thrust::cuda::par", "thrust::system::cuda::par"), [(2, 16)]),
        (TEXT.replace("  thrust", "\tthrust"), [(2, 15)]),
        ("#pragma once\r\n#include <thrust/system/cuda/execution_policy.h>\r\n", [(2, 1)]),
        (TEXT + TEXT, [(2, 16), (5, 16)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 16)]


def test_message_names_the_policy(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU206", "error")
    assert finding.message == "thrust::cuda::par names Thrust's CUDA backend; rocThrust calls it thrust::hip"


def test_include_is_a_note_because_hipify_translates_it(findings):
    (finding,) = findings(RULE, "a.cu", "#include <thrust/system/cuda/execution_policy.h>\n")

    assert finding.severity == "note"
