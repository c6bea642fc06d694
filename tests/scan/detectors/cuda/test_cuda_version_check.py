from __future__ import annotations

import pytest

RULE = "cuda_version_check"
VERSION = "#ifdef WITH_CUDA\n#include <cuda.h>\n#endif\nint version() {\n  return CUDA_VERSION;\n}\n"


def guard(condition: str, other_branches: str = "") -> str:
    return f"{condition}\nint a;\n{other_branches}#endif\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (guard("#if CUDART_VERSION >= 11000"), [(1, 1)]),
        (guard("#if CUDA_VERSION < 9000"), [(1, 1)]),
        (guard("#if defined(CUB_VERSION) && CUB_VERSION >= 200000"), [(1, 1)]),
        (guard("#ifdef CUDART_VERSION"), [(1, 1)]),
        (guard("#if A", "#elif CUDA_VERSION > 11000\nint b;\n"), [(3, 1)]),
        ("int x;\r\n" + guard("#if CUDA_VERSION >= 11000\r"), [(2, 1)]),
        (VERSION, [(2, 1), (5, 10)]),
        ("/* é */ int v = CUDART_VERSION;\n", [(1, 17)]),
        (b"// \xff\nint v = CUDA_VERSION;\n", [(2, 9)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cpp", text) == expected
