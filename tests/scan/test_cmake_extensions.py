from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.cmake import read
from rocm3d.scan.cmake_extensions import cmake_extensions


def find_extensions(text: str):
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
def test_no_extension_without_device_source(text):
    assert find_extensions(text) == []


def test_target_with_sources_folders_and_macros():
    (entry,) = find_extensions(
        "set(SOURCES k.cu ${CMAKE_CURRENT_SOURCE_DIR}/m.cpp)\ninclude_directories(${PROJECT_SOURCE_DIR})\n"
        "  add_library(grid STATIC ${SOURCES} notes.md)\n"
        "target_include_directories(grid PUBLIC include PRIVATE ${ELSEWHERE}/x)\n"
        "target_include_directories(other PUBLIC no)\n"
        "target_compile_definitions(grid PRIVATE -DA=1 B)\ntarget_sources(grid PRIVATE late.cu)\n"
    )

    assert (entry.name, entry.how) == ("grid", "cmake")
    assert entry.sources == ("k.cu", "m.cpp", "late.cu")
    assert entry.include_dirs == ("include", ".")
    assert entry.macros == ("A=1", "B")
    assert str(entry.location) == "lib/CMakeLists.txt:3:3"


def test_recursive_variable_ends():
    assert find_extensions("set(A ${A} k.cu)\nadd_library(x ${A})\n")[0].sources == ("k.cu",)


@given(st.text(max_size=200))
def test_any_text_does_not_raise(text):
    for entry in find_extensions(f"add_library(x {text})\n"):
        assert entry.sources
