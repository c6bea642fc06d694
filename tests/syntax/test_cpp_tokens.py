from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cpp_tokens import TokenComparisonError, token_stream


def tokens(text: str, original: str = "") -> list[str]:
    return token_stream(text.encode(), original.encode())


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("#define ROCM3D_A x\n#define ROCM3D_A y\n", ""),
        ("#define ROCM3D_A x\n", "int ROCM3D_A;\n"),
        ("#define ROCM3D_A x\n#undef ROCM3D_A\n", ""),
        ("#define ROCM3D_A(x) #x\n", ""),
        ("#define ROCM3D_A(x) a##x\n", ""),
        ("#define ROCM3D_A(...) f(__VA_ARGS__)\n", ""),
        ("#define ROCM3D_A x\n#define ROCM3D_B ROCM3D_A\n", ""),
        ("#define ROCM3D_A(x) x\nint y = ROCM3D_A;\n", ""),
        ("#define ROCM3D_A(x) x\nint y = ROCM3D_A(1, 2);\n", ""),
        ("#define ROCM3D_A(x) x\nint y = ROCM3D_A(1;\n", ""),
    ],
)
def test_streams_that_cannot_be_compared(text, original):
    with pytest.raises(TokenComparisonError):
        tokens(text, original)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a >> b", "a > > b"),
        ("a+++b", "a + ++b"),
        ('f("a b")', 'f("a  b")'),
        ("#if defined(X)\n#endif\n", "#if !defined(X)\n#endif\n"),
        ("#ifdef X\n#endif\n", "#ifndef X\n#endif\n"),
        ("#define A b\n", "#define A c\n"),
        ("#include <a>\n#include <b>\n", "#include <b>\n#include <a>\n"),
        ("#define X\nY", "#define X Y"),
        ("1.0f", "1.0 f"),
        ("'a'", "'b'"),
    ],
)
def test_different_streams(left, right):
    assert tokens(left) != tokens(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int a ; // x\n", "int a;"),
        ("a /* b */ c", "a c"),
        ("#ifdef X\n#endif\n", "#if defined(X)\n#endif\n"),
        ("#if defined X && Y\n#endif\n", "#if defined( X )&&Y\n#endif\n"),
        ("#ifndef X\n#endif\n", "#if !defined(X)\n#endif\n"),
        ("a \\\n b", "a b"),
    ],
)
def test_same_streams(left, right):
    assert tokens(left) == tokens(right)


def test_aliases_are_expanded():
    text = (
        "#define ROCM3D_WIDTH 32\n"
        "#define ROCM3D_BALLOT(mask, vote) __ballot_sync(mask, vote)\n"
        "unsigned m = ROCM3D_BALLOT(FULL(a, b), (x < ROCM3D_WIDTH, y));\n"
        "#define USER(v) ROCM3D_BALLOT(0xffffffff, v)\n"
    )

    assert tokens(text) == tokens(
        "unsigned m = __ballot_sync(FULL(a, b), (x < 32, y));\n#define USER(v) __ballot_sync(0xffffffff, v)\n"
    )


def test_parentheses_after_a_space_belong_to_the_body():
    assert tokens("#define ROCM3D_ONE (1)\nROCM3D_ONE") == tokens("(1)")


def test_no_arguments():
    assert tokens("#define ROCM3D_SYNC() __syncwarp()\nROCM3D_SYNC();") == tokens("__syncwarp();")


@given(st.text(alphabet="ab(),;<>#\"'/*\\\n 0.x", max_size=60))
def test_token_stream_of_any_text_is_deterministic(text):
    assert tokens(text) == tokens(text)
