from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.compilation import diagnostics

LIBRARY = """In file included from src/a.hip:3:
In file included from src/b_hip.h:6:
/opt/lib/scan.hpp:255:23: error: no matching constructor for initialization of 'T' (aka 'Vec3f')
src/a.hip:643:47: note: in instantiation of function template specialization 'Sum<Vec3f>' requested here
src/dtypes.cuh:59:35: note: candidate constructor not viable: call to __device__ function from __host__ function
1 error generated when compiling for gfx942.
"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "src/a.hip:1:2: warning: unused variable",
        "1 error generated when compiling for host.",
        "note: something",
        "a sentence with error: in it",
    ],
)
def test_other_lines_are_not_errors(text):
    assert diagnostics.parse_errors(text) == ()


def test_an_error_in_a_library_has_its_include_and_instantiation_stack():
    (error,) = diagnostics.parse_errors(LIBRARY)

    assert (error.path, error.line, error.column) == ("/opt/lib/scan.hpp", 255, 23)
    assert [(item.path, item.line) for item in error.remarks] == [
        ("src/b_hip.h", 6),
        ("src/a.hip", 3),
        ("src/a.hip", 643),
        ("src/dtypes.cuh", 59),
    ]


def test_equal_errors_are_returned_once():
    assert len(diagnostics.parse_errors("a.cu:1:1: error: x\na.cu:1:1: error: x\na.cu:2:1: error: x\n")) == 2


def test_errors_of_nvcc_and_gcc():
    text = 'k.cu(12): error: identifier "y" is undefined\nb.cpp:3:10: fatal error: gone.h: No such file or directory\n'

    one, other = diagnostics.parse_errors(text)

    assert (one.path, one.line, one.message) == ("k.cu", 12, 'identifier "y" is undefined')
    assert diagnostics.missing_header(other) == "gone.h"


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a.cu:1:1: error: expected expression", None),
        ("a.cu:1:10: fatal error: 'glm/glm.hpp' file not found", "glm/glm.hpp"),
        ('k.cu(1): catastrophic error: cannot open source file "x.h"', "x.h"),
    ],
)
def test_missing_headers_are_recognised(text, header):
    (error,) = diagnostics.parse_errors(text)

    assert diagnostics.missing_header(error) == header


def test_unknown_flags_are_recognised():
    messages = (
        "zig: error: unknown argument: '--use_fast_math'\nclang: error: unknown argument '-arch=sm_94'; did you mean"
    )

    assert list(diagnostics.unknown_flags(messages)) == ["--use_fast_math", "-arch=sm_94"]


@given(st.text(max_size=300))
def test_any_text_is_accepted(text):
    for error in diagnostics.parse_errors(text):
        assert error.message is not None


@given(st.lists(st.tuples(st.integers(1, 999), st.integers(1, 99), st.from_regex(r"[a-z ]{1,20}", fullmatch=True))))
def test_every_error_has_its_position(rows):
    text = "".join(f"dir/a.cu:{line}:{column}: error: {message}\n" for line, column, message in rows)

    positions = [(error.line, error.column, error.message) for error in diagnostics.parse_errors(text)]

    assert positions == list(dict.fromkeys(rows))
