from __future__ import annotations

import pytest

RULE = "nvcc_guard"


def guard(condition: str, body: str = "int a;\n") -> str:
    return f"{condition}\n{body}#endif\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (guard("#ifdef __NVCC__"), [(1, 1)]),
        (guard("#ifndef __NVCC__", "#define __device__\n"), [(1, 1)]),
        (guard("#if defined(__NVCC__) && defined(__CUDACC__)"), [(1, 1)]),
        (guard("#if __CUDACC_VER_MAJOR__ >= 11"), [(1, 1)]),
        (guard("#if A", "int a;\n#elif defined(__NVCC__)\nint b;\n"), [(3, 1)]),
        (guard("#ifdef __NVCC__", "#pragma once\nint a;\n"), [(1, 1)]),
        (guard("\r\n  #ifdef __NVCC__"), [(2, 3)]),
        (b"// \xff\n" + guard("#ifdef __NVCC__").encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.h", text) == expected
