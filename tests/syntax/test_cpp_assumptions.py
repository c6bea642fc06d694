from __future__ import annotations

import pytest

from rocm3d.syntax.cpp_assumptions import content_problems, macros_in_conditions, text_problem


@pytest.mark.parametrize(
    "text",
    [
        b"a\0b\n",
        b"a\rb\n",
        b"#define A \\ \n b\n",
        b"// x??/\n",
        b"??=if A\n",
        b"/* */ %:if A\n",
        b"#if '\xff'\n",
    ],
)
def test_text_that_compilers_read_differently(text):
    assert text_problem(text)


@pytest.mark.parametrize(
    "text", [b"", b"a\r\nb\r\n", b"#define A \\\r\n b\n", b'"%:if"\n', b"x % :: y\n", b"// \xff\n", b"a ?? b\n",
             b"#ifdef A\n#elifdef B\n#endif\n"],
)  # fmt: skip
def test_other_text(text):
    assert text_problem(text) is None


@pytest.mark.parametrize(
    "line",
    ["#if __LINE__ > 3", "int a[__LINE__];", "f<__LINE__>();", "case __LINE__:", "x = 2 * __LINE__;",
     "return __LINE__;",
     "if (__LINE__ == 3) f();"],
)  # fmt: skip
def test_values_of_line_numbers(line):
    assert any("C6" in problem for problem in content_problems(f"{line}\n".encode()))


@pytest.mark.parametrize(
    "line",
    ["f(__FILE__, __LINE__);", "s << __LINE__ << x;", "g(static_cast<int>(__LINE__));", "#define ID JOIN(a, __LINE__)",
     '"__LINE__ > 3"', "// a[__LINE__]", "int n = __LINE__;"],
)  # fmt: skip
def test_line_numbers_of_messages(line):
    assert list(content_problems(f"{line}\n".encode())) == []


def test_macros_in_conditions():
    text = b"#if defined(USE_ROCM) || A\n#elif __HIP_X > 1\n#endif\nUSE_HIP __HIP_Y\n#ifndef __HIPCC__\n#endif\n"
    assert macros_in_conditions(text) == {"USE_ROCM", "__HIP_X", "__HIPCC__"}
