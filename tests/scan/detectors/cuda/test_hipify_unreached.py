from __future__ import annotations

import pytest

RULE = "hipify_unreached"
DEVICE = "\n__device__ int lane() { return threadIdx.x; }\n"
CALL = "inline void f() {\n  cudaFree(p);\n}\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/a.cuh", CALL),
        ("src/a.h", CALL),
        ("src/a.cpp", CALL),
        ("src/cuda/a.inl", "inline int twice(int v) { return 2 * v; }\n"),
        ("src/a.inl", DEVICE),  # not renamed, and nothing to translate
        ("src/a.inl", f"// {CALL.splitlines()[1]}\n"),
        ("src/a.inl", f"/* {CALL} */\n"),
        ("src/a.inl", 'const char* s = "cudaFree(p)";\n'),
        ("src/a.inl", "void f() { barracudaRun(); my_cudaless(); }\n"),
        ("src/a.inl", f"#if 0\n{CALL}#endif\n"),
        ("src/a.inl", f"#ifndef USE_ROCM\n{CALL}#endif\n"),
    ],
)
def test_no_finding_in_unaffected_code(positions, path, text):
    assert positions(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("src/a.inl", CALL, [(2, 3)]),
        ("src/a.hh", CALL.replace("\n", "\r\n"), [(2, 3)]),
        ("src/a.inl", "/* é */ auto s = at::cuda::getCurrentCUDAStream();\n", [(1, 18)]),
        ("src/a.inl", "#include <cub/cub.cuh>\n", [(1, 1)]),
        ("src/cudaraster/a.inl", DEVICE, [(2, 1)]),
        ("src/cuda/a.inl", DEVICE + CALL, [(4, 3)]),
        ("src/a.inl", CALL + CALL, [(2, 3)]),
        ("src/a.inl", b"// \xff\n" + CALL.encode(), [(3, 3)]),
    ],
)
def test_position_is_the_first_translated_name(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_names_file_and_suffix(findings):
    (finding,) = findings(RULE, "src/a.inl", CALL)

    assert finding.code == "CU506"
    assert (
        finding.message
        == "src/a.inl contains CUDA code that torch's hipify does not translate (.inl: not read by hipify)"
    )
