from __future__ import annotations

import pytest

RULE = "cuda_arch_guard"


def guard(condition: str, other_branches: str = "") -> str:
    return f"{condition}\nint a;\n{other_branches}#endif\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (guard("#ifdef __CUDA_ARCH__"), [(1, 1)]),
        (guard("#ifndef __CUDA_ARCH__"), [(1, 1)]),
        (guard("#if __CUDA_ARCH__ >= 600", "#else\nint b;\n"), [(1, 1)]),
        (guard("#if 600 <= __CUDA_ARCH__"), [(1, 1)]),
        (guard("#if __CUDA_ARCH__ < 700"), [(1, 1)]),
        (guard("#if FAST && __CUDA_ARCH__ >= 800"), [(1, 1)]),
        (guard("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 700 || OLD)", "#else\nint b;\n"), [(1, 1)]),
        (guard("#if A", "#elif __CUDA_ARCH__ >= 600\nint b;\n"), [(3, 1)]),
        ("int x;\r\n" + guard("#if __CUDA_ARCH__ >= 600").replace("\n", "\r\n"), [(2, 1)]),
        (guard("#if __CUDA_ARCH__ \\\n  >= 600"), [(1, 1)]),
        (guard("/* #é */ # if __CUDA_ARCH__ >= 600"), [(1, 10)]),
        (b"// \xff\n" + guard("#ifdef __CUDA_ARCH__").encode(), [(2, 1)]),
        ("class { = ;\n" + guard("#ifdef __CUDA_ARCH__"), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "#if __CUDA_ARCH__ > 1\n" + "#elif __CUDA_ARCH__ > 2\nint x;\n" * 5_000 + "#endif\n",
        "#if __CUDA_ARCH__ > 1\n" * 5_000 + "#endif\n" * 5_000,
        "#if __CUDA_ARCH__ > 1\nint x;\n#else\nint y;\n#endif\n" * 5_000,
    ],
    ids=["elif", "nested", "many"],
)
def test_runtime_is_linear_in_the_branches(scanned, text):
    """With quadratic runtime this test would time out."""
    assert len(scanned({"a.cu": text}, RULE).findings) >= 5_000
