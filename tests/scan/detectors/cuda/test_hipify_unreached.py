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
def test_is_not_found_where_nothing_is_to_be_done(places, path, text):
    assert places(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
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
def test_place_is_the_first_name_that_would_be_translated(places, path, text, where):
    assert places(RULE, path, text) == where


def test_message_names_file_and_ending(findings):
    (found,) = findings(RULE, "src/a.inl", CALL)

    assert found.code == "CU506"
    assert (
        found.message
        == "src/a.inl contains CUDA code that torch's hipify does not translate (.inl: not read by hipify)"
    )
