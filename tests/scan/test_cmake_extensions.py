from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.cmake import read
from rocm3d.scan.cmake_extensions import cmake_extensions


def found(text: str):
    return list(cmake_extensions(read("lib/CMakeLists.txt", text.encode())))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add_library(a STATIC a.cpp)\n",
        "# add_library(a k.cu)\n",
        "add_library(a ${UNKNOWN})\n",
        "add_library()\n",
        "message(k.cu)\n",
    ],
)
def test_is_none_without_a_device_source(text):
    assert found(text) == []


def test_a_target_with_all_that_is_said_about_it():
    (item,) = found(
        "set(SOURCES k.cu ${CMAKE_CURRENT_SOURCE_DIR}/m.cpp)\ninclude_directories(${PROJECT_SOURCE_DIR})\n"
        "  add_library(grid STATIC ${SOURCES} notes.md)\n"
        "target_include_directories(grid PUBLIC include PRIVATE ${ELSEWHERE}/x)\n"
        "target_include_directories(other PUBLIC no)\n"
        "target_compile_definitions(grid PRIVATE -DA=1 B)\ntarget_sources(grid PRIVATE late.cu)\n"
    )

    assert (item.name, item.how) == ("grid", "cmake")
    assert item.sources == ("k.cu", "m.cpp", "late.cu")
    assert item.include_dirs == ("include", ".")
    assert item.macros == ("A=1", "B")
    assert str(item.location) == "lib/CMakeLists.txt:3:3"


def test_a_variable_of_itself_ends():
    assert found("set(A ${A} k.cu)\nadd_library(x ${A})\n")[0].sources == ("k.cu",)


@given(st.text(max_size=200))
def test_any_text_is_survived(text):
    for item in found(f"add_library(x {text})\n"):
        assert item.sources
