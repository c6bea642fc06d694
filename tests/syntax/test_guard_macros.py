from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.guard_macros import (
    AS_SWITCHED,
    alias_definitions,
    included_names,
    source_definitions,
    string_definitions,
)


def definitions(text: bytes) -> list[str]:
    return [str(item) for item in source_definitions("a.h", text)]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"#undef USE_ROCM\n",
        b"#define USE_ROCMX 1\n",
        b"// #define USE_ROCM\n",
        b"#if 0\n#define USE_ROCM\n#endif\n",
        b"#ifdef USE_ROCM\n#define __HIP_X 1\n#endif\n",
        b'"#define USE_ROCM"\n',
        b"#pragma GCC poison printf\n",
    ],
)
def test_what_defines_nothing_for_nvidia(text):
    assert definitions(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\n#define USE_ROCM 0\n", "a.h:2 defines USE_ROCM"),
        (b"# define __HIP_PLATFORM_AMD__(x) x\n", "a.h:1 defines __HIP_PLATFORM_AMD__"),
        (b"%:define USE_ROCM\n", "a.h:1 defines USE_ROCM"),
        (b"??=define USE_ROCM\n", "a.h:1 defines USE_ROCM"),
        (b"#cmakedefine01 USE_ROCM\n", "a.h:1 defines USE_ROCM"),
        (b"#mesondefine USE_ROCM\n", "a.h:1 defines USE_ROCM"),
        (b"#def\\\nine USE_ROCM\n", "a.h:1 defines USE_ROCM"),
        (b"#ifdef A\n#define USE_ROCM\n#endif\n", "a.h:2 defines USE_ROCM"),
        (b"#ifdef USE_ROCM\n#else\n#define USE_ROCM 0\n#endif\n", "a.h:3 defines USE_ROCM"),
        (b'#pragma pop_macro("USE_ROCM")\n', "a.h:1 saves or restores USE_ROCM"),
        (b"#pragma GCC poison a USE_ROCM\n", "a.h:1 forbids USE_ROCM"),
    ],
)
def test_a_definition_is_listed_with_its_line(text, expected):
    assert definitions(text) == [expected]


def test_cmakedefine_defines_what_the_switch_says():
    assert definitions(b"#cmakedefine USE_ROCM\n") == [f"a.h:1 {AS_SWITCHED} USE_ROCM"]


def test_source_in_a_string():
    listed = string_definitions("a.py", 3, "#define USE_ROCM 0\n#undef __HIP_X\n")
    assert [str(item) for item in listed] == ["a.py:3 defines USE_ROCM"]


def test_included_text_without_the_suffix_of_a_source():
    data = b'#include "a.h"\n#include <x/flags.txt>\n#include "vector"\n'
    assert list(included_names(data)) == ["flags.txt"]


def test_aliases_as_nvidia_builds_define_them():
    data = b"#ifdef USE_ROCM\n#define ROCM3D_A(x) 1\n#else\n#define ROCM3D_A(x)  x\n#endif\n"
    assert list(alias_definitions(data)) == [("ROCM3D_A", "ROCM3D_A(x) x")]


@given(st.lists(st.sampled_from([b"#define USE_ROCM", b"\\", b"\n", b"#if A", b"#endif", b"/*", b"*/", b"\xff", b'"'])))
def test_any_bytes_are_read(parts):
    data = b"".join(parts)
    assert all(item.line <= data.count(b"\n") + 1 for item in source_definitions("a.h", data))
